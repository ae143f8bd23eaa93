//! Random loops.

use super::expression::{Expression, Place};
use super::function::{Extent, Role};
use super::generate::{Generator, Local};
use super::statement::{Block, LoopForm, LoopHeader, Statement};
use super::types::promoted;
use super::values::number;
use strew::ir::Type;

/// The numbers that a loop counts through.
struct Range {
    ty: Type,
    from: Expression,
    others: String,
    condition: String,
    step: String,
    /// What is at least 0 and below each of `below`: most often the iterator.
    within: Vec<String>,
    below: Vec<Extent>,
    /// Whether one step more in the body does no harm.
    may_skip: bool,
}

impl Generator<'_> {
    pub(super) fn repeated(&mut self, depth: usize) -> Statement {
        let turns = self.integer(2);
        let condition = self.expression(3);
        let counter = self.name('w');
        let body = self.in_loop(|generator| generator.block(depth + 1));
        Statement::Repeat {
            counter,
            turns,
            condition,
            asks_first: self.random.percent(60),
            body,
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
        let range = self.range(&iterator);
        let body = self.scoped(|generator| {
            generator.declare(Local::new(&iterator, range.ty, false));
            for name in &range.within {
                generator.declare(Local {
                    below: range.below.clone(),
                    ..Local::new(name, range.ty, false)
                });
            }
            let mut body = generator.in_loop(make);
            if range.may_skip && generator.random.percent(4) {
                generator.push(&mut body, |generator| {
                    let condition = generator.expression(2);
                    let iterator = Place::variable(iterator.clone(), range.ty);
                    let step = Statement::Step(iterator, "++", false);
                    Statement::If(condition, vec![step], None)
                });
            }
            body
        });
        let header = LoopHeader {
            form: self.form(&body),
            ty: self.random.spelling(range.ty),
            iterator,
            from: range.from,
            others: range.others,
            condition: range.condition,
            step: range.step,
        };
        Statement::For(header, body)
    }

    fn form(&mut self, body: &Block) -> LoopForm {
        let is_continued = || body.iter().any(|it| it.to_string().contains("continue"));
        match self.random.below(100) {
            0..4 => LoopForm::Endless,
            4..10 if !is_continued() => LoopForm::While,
            _ => LoopForm::For,
        }
    }

    fn range(&mut self, iterator: &str) -> Range {
        let ty = self.random.integer_type();
        let outer = self.iterators();
        let (size, extent) = self.size();
        let mut range = Range {
            ty,
            from: *number(0),
            others: String::new(),
            condition: format!("{iterator} < {size}"),
            step: self.step_up(iterator),
            within: vec![iterator.to_owned()],
            below: vec![extent],
            may_skip: false,
        };
        match self.random.below(100) {
            0..20 => range.may_skip = true,
            20..30 => self.stepped(iterator, &mut range),
            30..40 => self.asked(iterator, &size, &mut range),
            40..57 => self.downward(iterator, &size, &mut range),
            57..60 => {
                range.condition = format!("{iterator} < 5");
                range.below = vec![Extent::Constant(5), Extent::Constant(8)];
            }
            60..66 => {
                let most = self.integer(2);
                range.condition = format!("{iterator} < (({most}) & 7)");
                range.below = vec![Extent::Constant(8)];
            }
            66..74 if !outer.is_empty() => {
                let outer = self.random.pick(&outer).clone();
                let relation = if self.random.percent(50) { "<" } else { "<=" };
                range.condition = format!("{iterator} {relation} {}", outer.name);
                range.below = outer.below;
            }
            74..82 if !outer.is_empty() => {
                let outer = self.random.pick(&outer).clone();
                range.from = outer.expression();
            }
            82..86 => {
                let (other, relation) = (self.name('j'), *self.random.pick(&["<", "<="]));
                range.others = format!(", {other} = {size} - 1");
                range.condition = format!("{iterator} {relation} {other}");
                range.step = format!("{iterator}++, {other}--");
                // An unsigned one would pass zero.
                if relation == "<=" && !ty.is_signed() {
                    range.condition = format!("{iterator} < {other}");
                }
                range.within.push(other);
            }
            86..90 => self.shifted(iterator, &size, &mut range),
            90.. => self.row(iterator, &mut range),
            _ => {}
        }
        range
    }

    fn step_up(&mut self, iterator: &str) -> String {
        match self.random.below(10) {
            0 | 1 => format!("++{iterator}"),
            2 => format!("{iterator} += 1"),
            3 => format!("{iterator} = {iterator} + 1"),
            4 => format!("{iterator} = 1 + {iterator}"),
            _ => format!("{iterator}++"),
        }
    }

    /// From some beginning in steps of some length.
    fn stepped(&mut self, iterator: &str, range: &mut Range) {
        range.from = *number(self.random.below(4));
        let step = 1 + self.random.below(3);
        range.step = match self.random.below(10) {
            0..5 => format!("{iterator} += {step}"),
            5 => format!("{iterator} = {iterator} + {step}"),
            6 => format!("{iterator} -= -{step}"),
            // Sizes may be zero.
            7 | 8 => {
                let (size, _) = self.size();
                format!("{iterator} += {size} + {step}")
            }
            _ => {
                range.from = *number(step);
                format!("{iterator} {}", self.random.pick(&["*= 2", "<<= 1"]))
            }
        };
    }

    /// Every element in turn, but the question is another one.
    fn asked(&mut self, iterator: &str, size: &str, range: &mut Range) {
        range.condition = match self.random.below(8) {
            0..3 => format!("{iterator} != {size}"),
            3 => format!("{size} > {iterator}"),
            4 => format!("{iterator} <= {size} - 1"),
            5 => format!("{iterator} + 1 < {size} + 1"),
            6 => format!("{iterator} * 2 < {size}"),
            _ => {
                let condition = self.unchanging(|generator| generator.expression(1));
                format!("{iterator} < {size} && ({condition})")
            }
        };
    }

    fn downward(&mut self, iterator: &str, size: &str, range: &mut Range) {
        let text = |text: String| Expression::Variable(text, Type::I64);
        match self.random.below(10) {
            0..4 if range.ty.is_signed() => {
                range.from = text(format!("{size} - 1"));
                range.condition = format!("{iterator} >= 0");
                let step = 1 + self.random.below(3);
                range.step = match self.random.percent(60) {
                    true => format!("{iterator}--"),
                    false => format!("{iterator} -= {step}"),
                };
            }
            4..7 => {
                range.from = text(size.to_owned());
                range.condition = format!("{iterator}-- > 0");
                range.step.clear();
            }
            _ => {
                range.from = text(size.to_owned());
                range.condition = format!("{iterator} > 0");
                range.step = format!("--{iterator}");
                range.below.clear();
            }
        }
    }

    /// From one parameter on, as many times as another says: where the sum wraps, not at all.
    fn shifted(&mut self, iterator: &str, size: &str, range: &mut Range) {
        let parameters = self.visible().into_iter();
        // One that changes could keep the loop from ending.
        let parameters = parameters
            .filter(|it| it.name.starts_with('p') && !it.ty.is_float() && !it.is_assignable);
        let parameters: Vec<_> = parameters.collect();
        if parameters.is_empty() {
            return;
        }
        let first = self.random.pick(&parameters).clone();
        range.ty = promoted(first.ty);
        range.from = first.expression();
        range.condition = format!(
            "{iterator} < {first} + {size} && {iterator} - {first} < 64",
            first = first.name
        );
        range.within = vec![format!("({iterator} - {})", first.name)];
    }

    /// The loop over a row, where there are rows and a loop over them.
    fn row(&mut self, iterator: &str, range: &mut Range) {
        let outer = self.iterators().into_iter();
        let outer: Vec<_> = outer.filter(|it| it.below.contains(&Extent::N)).collect();
        let rows = self.arrays.iter().find(|it| it.role == Role::Rows);
        if let (Some(rows), false) = (rows.map(|it| it.name.clone()), outer.is_empty()) {
            let row = self.random.pick(&outer).name.clone();
            range.from = Expression::Variable(format!("{rows}[{row}]"), Type::I64);
            range.condition = format!("{iterator} < {rows}[{row} + 1]");
            range.below = vec![Extent::M];
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
