//! Random statements.

use super::expression::{Expression, Place};
use super::function::{Array, Extent, Form, Role};
use super::generate::{DEEPEST_NEST, Generator, Local};
use super::statement::{Block, Statement};

/// Blocks in blocks, at most.
const DEEPEST_BLOCK: usize = 6;

impl Generator<'_> {
    pub(super) fn body(&mut self) -> Block {
        let mut body = Vec::new();
        if self.random.percent(30) {
            self.push(&mut body, Self::scatter);
            self.end(&mut body);
            return body;
        }
        for _ in 0..=self.random.below(2) {
            if self.random.percent(10) {
                self.local_array(&mut body);
            }
            if self.random.percent(50) {
                self.push(&mut body, Self::declaration);
            }
            match self.random.below(100) {
                0..8 => self.compaction(&mut body),
                8..20 => self.push(&mut body, |generator| generator.walk(0)),
                20..25 => self.extremum(&mut body),
                _ => self.push(&mut body, |generator| generator.counted(0)),
            }
        }
        self.end(&mut body);
        body
    }

    /// Something to write to, a few statements, and the value.
    pub(super) fn helper_body(&mut self) -> Block {
        let mut body = Vec::new();
        self.local_array(&mut body);
        for _ in 0..=self.random.below(2) {
            self.push(&mut body, |generator| {
                generator.statement(DEEPEST_BLOCK - 1)
            });
        }
        self.end(&mut body);
        body
    }

    fn end(&mut self, body: &mut Block) {
        if self.result.is_some() {
            self.push(body, Self::returned);
        }
    }

    fn returned(&mut self) -> Statement {
        if let Some(structure) = self.result_record.clone() {
            let value = self.record_value(&structure);
            return Statement::Return(Some(value));
        }
        Statement::Return(self.result.map(|ty| self.value_for(ty, 3)))
    }

    /// A call that may write to the arrays it is given, so that nothing else may stand beside it.
    fn call(&mut self) -> Statement {
        let helpers = self.helpers;
        let writing = helpers
            .iter()
            .filter(|it| it.arrays.iter().any(|it| it.is_written));
        let writing: Vec<_> = writing.collect();
        let call = match writing.is_empty() {
            true => None,
            false => {
                let helper = *self.random.pick(&writing);
                self.call_of(helper)
            }
        };
        call.map_or_else(|| self.update(), Statement::Effect)
    }

    /// A loop that gathers in arrays and reads none of them: one that can be tiled.
    fn scatter(&mut self) -> Statement {
        self.may_read_written = false;
        let scatter = self.counted_with(|generator| {
            let mut block = Vec::new();
            for _ in 0..=generator.random.below(2) {
                if generator.random.percent(40) {
                    generator.push(&mut block, Self::declaration);
                }
                match generator.random.percent(25) {
                    true => generator.push(&mut block, Self::extremum_pair),
                    false => generator.push(&mut block, Self::update),
                }
            }
            block
        });
        self.may_read_written = true;
        scatter
    }

    pub(super) fn block(&mut self, depth: usize) -> Block {
        self.scoped(|generator| {
            let mut block = Vec::new();
            for _ in 0..=generator.random.below(3) {
                match generator.random.below(100) {
                    0..4 => generator.local_array(&mut block),
                    4..7 => generator.cursor(&mut block),
                    7..12 => generator.record(&mut block),
                    _ => {}
                }
                generator.push(&mut block, |generator| generator.statement(depth));
            }
            block
        })
    }

    fn statement(&mut self, depth: usize) -> Statement {
        let is_shallow = depth < DEEPEST_BLOCK;
        match self.random.below(100) {
            0..18 => self.declaration(),
            18..31 => self.assignment(),
            31..41 => self.store(),
            41..43 => Statement::Effect(self.effect()),
            43..45 => self.call(),
            45..59 => self.update(),
            59..62 => self.extremum_pair(),
            62..74 if is_shallow => self.decision(depth),
            74..86 if is_shallow && self.loops < DEEPEST_NEST => self.counted(depth),
            86..87 if is_shallow && self.loops < DEEPEST_NEST => self.walk(depth),
            87..92 if is_shallow && self.loops < DEEPEST_NEST => self.repeated(depth),
            92..95 if is_shallow => self.switch(depth),
            95..97 => self.leave(),
            97.. if is_shallow => Statement::Block(self.block(depth + 1)),
            _ => self.update(),
        }
    }

    pub(super) fn declaration(&mut self) -> Statement {
        let ty = self.random.ty();
        let value = self.value_for(ty, 3);
        let name = self.declared_name(&value);
        self.declare(Local::new(&name, ty, true));
        Statement::Declare(self.random.spelling(ty).to_owned(), name, value)
    }

    /// A new name, or now and then one of a block around this one, unless `value` speaks of it.
    fn declared_name(&mut self, value: &Expression) -> String {
        let hidden = self.scopes.iter().rev().skip(1).flatten();
        let hidden: Vec<_> = hidden.map(|it| it.name.clone()).collect();
        if hidden.is_empty() {
            return self.name('v');
        }
        let name = self.random.pick(&hidden).clone();
        let is_new = |name: &str| {
            let here = self.scopes.iter().rev().take(1).flatten();
            !here.into_iter().any(|it| it.name == name)
        };
        // Sizes and iterators stay what the shapes and subscripts take them for.
        if name.starts_with('v')
            && self.scopes.len() > 2
            && is_new(&name)
            && !value.to_string().contains(&name)
            && self.random.percent(20)
        {
            name
        } else {
            self.name('v')
        }
    }

    fn assignment(&mut self) -> Statement {
        let targets = self.visible().into_iter().filter(|it| it.is_assignable);
        let targets: Vec<_> = targets.collect();
        if targets.is_empty() {
            return self.declaration();
        }
        let target = self.random.pick(&targets).clone();
        let place = Place::variable(target.name, target.ty);
        if self.random.percent(50) {
            let value = self.value_for(place.ty, 4);
            Statement::Assign(place, "", value)
        } else {
            self.reduction(place)
        }
    }

    fn store(&mut self) -> Statement {
        match self.random.below(100) {
            0..10 => {
                if let Some(chain) = self.chain() {
                    return chain;
                }
            }
            10..20 => {
                if let Some(copy) = self.copy() {
                    return copy;
                }
            }
            _ => {}
        }
        let place = self.written();
        let value = self.value_for(place.ty, 4);
        Statement::Assign(place, "", value)
    }

    fn chain(&mut self) -> Option<Statement> {
        let first = self.unchanging(Self::written);
        let second = self.unchanging(Self::written);
        // Where both are the same array, the order of the stores would be open; so would what a
        // subscript reads of the other. A cursor, whose name begins with a `c`, is into any array.
        let (one, other) = (first.to_string(), second.to_string());
        let is_apart = first.name != second.name
            && !one[1..].contains(&second.name)
            && !other[1..].contains(&first.name)
            && !format!("({one}({other}").contains("(c")
            && !format!("{one}{other}").contains("(*c");
        let fits = first.ty.is_float() || !second.ty.is_float();
        (is_apart && fits).then(|| {
            let value = self.value_for(second.ty, 2);
            Statement::Chain(first, second, value)
        })
    }

    pub(super) fn update(&mut self) -> Statement {
        let place = self.unchanging(Self::written);
        self.reduction(place)
    }

    pub(super) fn written(&mut self) -> Place {
        let array = self.written_array();
        self.element(&array, 2)
    }

    pub(super) fn written_array(&mut self) -> Array {
        let is_free = |it: &&Array| it.is_written && it.role == Role::Values;
        let arrays: Vec<_> = self.arrays.iter().filter(is_free).collect();
        (*self.random.pick(&arrays)).clone()
    }

    fn decision(&mut self, depth: usize) -> Statement {
        let condition = self.expression(3);
        let yes = self.block(depth + 1);
        let no = self.random.percent(40).then(|| self.block(depth + 1));
        Statement::If(condition, yes, no)
    }

    fn switch(&mut self, depth: usize) -> Statement {
        let value = self.integer(2);
        let mut labels: Vec<_> = (-1..5).map(Some).chain([None]).collect();
        let mut cases = Vec::new();
        self.left_by_break += 1;
        for _ in 0..=self.random.below(3) {
            let own = 1 + self.random.below(2);
            let own = (0..own).map(|_| {
                let position = self.random.below(labels.len() as i32);
                labels.swap_remove(position as usize)
            });
            let own = own.collect();
            let mut body = self.block(depth + 1);
            if self.random.percent(60) {
                body.push(Statement::Leave("break"));
            }
            cases.push((own, body));
        }
        self.left_by_break -= 1;
        Statement::Switch(value, cases)
    }

    /// Leaves something on a condition.
    fn leave(&mut self) -> Statement {
        let condition = self.expression(2);
        let left = match self.random.below(10) {
            0..5 if self.left_by_break > 0 => Statement::Leave("break"),
            5..9 if self.can_continue => Statement::Leave("continue"),
            _ => self.returned(),
        };
        Statement::If(condition, vec![left], None)
    }

    /// An array of its own for the rest of the block, with its first values.
    fn local_array(&mut self, block: &mut Block) {
        let extents = match self.random.below(8) {
            0 | 1 => vec![Extent::N],
            2 => vec![Extent::M, Extent::Constant(5)],
            3 | 4 => vec![Extent::Constant(5), Extent::Constant(8)],
            _ => vec![Extent::Constant(8)],
        };
        let ty = self.random.ty();
        let is_constant = matches!(extents[0], Extent::Constant(_));
        let array = Array {
            spelling: self.random.spelling(ty),
            ty,
            name: self.name('a'),
            form: Form::Shaped,
            is_written: true,
            role: Role::Values,
            extents,
        };
        self.push(block, |generator| {
            let count = if is_constant {
                1 + generator.random.below(4)
            } else {
                0
            };
            let value = |_| generator.value_for(ty, 1);
            Statement::Array(array.clone(), (0..count).map(value).collect())
        });
        self.arrays.push(array);
    }
}
