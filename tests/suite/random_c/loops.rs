//! Random loops.

use super::generate::Generator;
use super::tree::{Block, Expression, Extent, Role, Statement};
use strew::ir::Type;

impl Generator<'_> {
    pub(super) fn repeated(&mut self, depth: usize) -> Statement {
        let turns = self.integer(2);
        let condition = self.expression(3);
        let counter = self.name('w');
        let body = self.in_loop(|generator| generator.block(depth + 1));
        if self.random.percent(60) {
            Statement::While {
                counter,
                turns,
                condition,
                body,
            }
        } else {
            Statement::Do {
                counter,
                turns,
                condition,
                body,
            }
        }
    }

    fn in_loop(&mut self, make: impl FnOnce(&mut Self) -> Block) -> Block {
        let outer = (self.left_by_break, self.can_continue);
        (self.left_by_break, self.can_continue) = (outer.0 + 1, true);
        self.loops += 1;
        let body = make(self);
        self.loops -= 1;
        (self.left_by_break, self.can_continue) = outer;
        body
    }

    pub(super) fn counted(&mut self, depth: usize) -> Statement {
        self.counted_with(|generator| generator.block(depth + 1))
    }

    pub(super) fn counted_with(&mut self, make: impl FnOnce(&mut Self) -> Block) -> Statement {
        let iterator = self.name('i');
        let header = self.header(&iterator);
        self.scopes.push(Vec::new());
        self.declare(iterator.clone(), header.ty, false, header.below);
        let body = self.in_loop(make);
        self.scopes.pop();
        Statement::For {
            ty: self.random.spelling(header.ty),
            iterator,
            from: header.from,
            condition: header.condition,
            step: header.step,
            body,
        }
    }

    fn header(&mut self, iterator: &str) -> Header {
        let ty = self.random.integer_type();
        let number = |it: i32| Expression::Literal(it.to_string(), Type::I32);
        let outer = self.iterators();
        let (size, extent) = self.size();
        let mut header = Header {
            ty,
            from: number(0),
            condition: format!("{iterator} < {size}"),
            step: format!("{iterator}++"),
            below: vec![extent],
        };
        match self.random.below(100) {
            0..25 => {}
            25..35 => {
                header.from = number(self.random.below(4));
                let step = 1 + self.random.below(3);
                header.step = format!("{iterator} += {step}");
            }
            35..42 => header.condition = format!("{iterator} != {size}"),
            42..50 if ty.is_signed() => {
                header.from = Expression::Variable(format!("{size} - 1"), Type::I64);
                header.condition = format!("{iterator} >= 0");
                header.step = format!("{iterator}--");
            }
            50..57 => {
                header.from = Expression::Variable(size, Type::I64);
                header.condition = format!("{iterator} > 0");
                header.step = format!("--{iterator}");
                header.below.clear();
            }
            57..62 => {
                header.condition = format!("{iterator} < 5");
                header.below = vec![Extent::Constant(5), Extent::Constant(8)];
            }
            62..70 => {
                let most = self.integer(2);
                header.condition = format!("{iterator} < (({most}) & 7)");
                header.below = vec![Extent::Constant(8)];
            }
            70..80 if !outer.is_empty() => {
                let outer = self.random.pick(&outer).clone();
                let relation = if self.random.percent(50) { "<" } else { "<=" };
                header.condition = format!("{iterator} {relation} {}", outer.name);
                header.below = outer.below;
            }
            80..88 if !outer.is_empty() => {
                let outer = self.random.pick(&outer).clone();
                header.from = Expression::Variable(outer.name, outer.ty);
            }
            88.. => self.row(iterator, &mut header),
            _ => {}
        }
        header
    }

    /// The loop over a row, where there are rows and a loop over them.
    fn row(&mut self, iterator: &str, header: &mut Header) {
        let outer = self.iterators().into_iter();
        let outer: Vec<_> = outer.filter(|it| it.below.contains(&Extent::N)).collect();
        let rows = self.arrays.iter().find(|it| it.role == Role::Rows);
        if let (Some(rows), false) = (rows.map(|it| it.name.clone()), outer.is_empty()) {
            let row = self.random.pick(&outer).name.clone();
            header.from = Expression::Variable(format!("{rows}[{row}]"), Type::I64);
            header.condition = format!("{iterator} < {rows}[{row} + 1]");
            header.below = vec![Extent::M];
        }
    }

    fn size(&mut self) -> (String, Extent) {
        if self.random.percent(60) {
            ("n".to_owned(), Extent::N)
        } else {
            ("m".to_owned(), Extent::M)
        }
    }
}

struct Header {
    ty: Type,
    from: Expression,
    condition: String,
    step: String,
    below: Vec<Extent>,
}
