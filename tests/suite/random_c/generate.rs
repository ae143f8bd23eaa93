//! Random functions.

use super::tree::{Array, Block, Expression, Extent, Function, Place, Role, Statement};
use super::types::spellings;
use crate::random::Random;
use std::mem::take;
use strew::ir::Type;

/// Loops in loops, at most.
const DEEPEST_NEST: usize = 4;
/// Blocks in blocks, at most.
const DEEPEST_BLOCK: usize = 6;

const INTEGERS: [Type; 8] = [
    Type::I8,
    Type::I16,
    Type::I32,
    Type::I64,
    Type::U8,
    Type::U16,
    Type::U32,
    Type::U64,
];

const EXTENTS: [Extent; 5] = [
    Extent::N,
    Extent::M,
    Extent::Both,
    Extent::Constant(5),
    Extent::Constant(8),
];

/// A scalar that can be read.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) is_assignable: bool,
    /// It is at least 0 and below each of these.
    pub(super) below: Vec<Extent>,
}

/// Makes one function; what is declared in a block is forgotten at its end.
pub(super) struct Generator<'r> {
    pub(super) random: &'r mut Random,
    pub(super) sizes: [Type; 2],
    /// The type of its value.
    result: Option<Type>,
    pub(super) helpers: &'r [Function],
    pub(super) arrays: Vec<Array>,
    pub(super) scopes: Vec<Vec<Local>>,
    /// What must stand before the statement that is being made.
    pub(super) before: Block,
    /// What that declares and only later statements may speak of.
    pub(super) late: Vec<Local>,
    /// Whether the expression that is being made stands only once in the text, so that it may change variables.
    pub(super) may_change: bool,
    /// Whether it may read arrays that are written.
    pub(super) may_read_written: bool,
    names: usize,
    /// Loops around.
    pub(super) loops: usize,
    /// Loops and switches around.
    pub(super) left_by_break: usize,
    /// Whether any loop is around.
    pub(super) can_continue: bool,
}

impl Random {
    pub(super) fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len() as i32) as usize]
    }

    /// True this often in a hundred times.
    pub(super) fn percent(&mut self, often: i32) -> bool {
        self.below(100) < often
    }

    /// An element type; integers of 32 and 64 bits and floats are frequent, as they are in programs.
    pub(super) fn ty(&mut self) -> Type {
        if self.percent(40) {
            *self.pick(&[
                Type::I32,
                Type::I64,
                Type::U32,
                Type::F32,
                Type::F64,
                Type::F64,
            ])
        } else {
            *self.pick(&Type::ELEMENTS)
        }
    }

    pub(super) fn integer_type(&mut self) -> Type {
        *self.pick(&INTEGERS)
    }

    pub(super) fn spelling(&mut self, ty: Type) -> &'static str {
        self.pick::<&'static str>(spellings(ty))
    }
}

/// The function `name`, the same for the same numbers.
pub(crate) fn function(random: &mut Random, name: String) -> Function {
    let sizes = [random.integer_type(), random.integer_type()];
    let arrays = arrays(random);
    let mut helpers: Vec<Function> = Vec::new();
    for number in 0..random.below(3) {
        let name = format!("{name}_helper{number}");
        // One array of the caller, or none; what may be read where it is passed may not be written.
        let one = random.below(2) as usize;
        let first = random.below(arrays.len() as i32) as usize;
        let passed = arrays[first..first + one].iter().map(|it| Array {
            is_written: it.is_written && random.percent(50),
            ..it.clone()
        });
        let passed = passed.collect();
        let result = Some(random.ty());
        let loops = DEEPEST_NEST - 1;
        helpers.push(made(random, name, sizes, result, passed, &helpers, loops));
    }
    let result = random.percent(30).then(|| random.ty());
    let mut function = made(random, name, sizes, result, arrays, &helpers, 0);
    function.helpers = helpers;
    function
}

/// A function that may call `helpers`, as if it stood in this many loops.
fn made(
    random: &mut Random,
    name: String,
    sizes: [Type; 2],
    result: Option<Type>,
    arrays: Vec<Array>,
    helpers: &[Function],
    loops: usize,
) -> Function {
    let local = |name: &str, ty, is_assignable| Local {
        name: name.to_owned(),
        ty,
        is_assignable,
        below: Vec::new(),
    };
    let mut parameters = vec![local("n", sizes[0], false), local("m", sizes[1], false)];
    let mut scalars = Vec::new();
    for number in 0..random.below(4) {
        let (ty, name) = (random.ty(), format!("p{number}"));
        parameters.push(local(&name, ty, random.percent(20)));
        scalars.push((random.spelling(ty), ty, name));
    }
    let result = result.map(|ty| (random.spelling(ty), ty));
    let mut generator = Generator {
        random,
        sizes,
        arrays: arrays.clone(),
        result: result.map(|it| it.1),
        helpers,
        scopes: vec![parameters],
        before: Vec::new(),
        late: Vec::new(),
        may_change: true,
        may_read_written: true,
        names: 0,
        loops,
        left_by_break: 0,
        can_continue: false,
    };
    let body = match loops {
        0 => generator.body(),
        _ => generator.helper_body(),
    };
    Function {
        name,
        result,
        sizes,
        scalars,
        arrays,
        body,
        helpers: Vec::new(),
    }
}

fn arrays(random: &mut Random) -> Vec<Array> {
    let count = 3 + random.below(4);
    let mut array = |number: i32| {
        let role = match number {
            0 => Role::Values,
            1 => Role::Keys(*random.pick(&EXTENTS)),
            _ if random.percent(15) => Role::Keys(*random.pick(&EXTENTS)),
            _ if random.percent(15) => Role::Rows,
            _ => Role::Values,
        };
        let ty = match role {
            Role::Values => random.ty(),
            Role::Keys(_) | Role::Rows => random.integer_type(),
        };
        let dimensions = if random.percent(25) { 2 } else { 1 };
        Array {
            spelling: random.spelling(ty),
            ty,
            name: format!("{}{number}", if role == Role::Values { "x" } else { "k" }),
            extents: match role {
                Role::Rows => vec![Extent::N],
                _ => (0..dimensions).map(|_| *random.pick(&EXTENTS)).collect(),
            },
            role,
            is_written: role == Role::Values && (number == 0 || random.percent(50)),
        }
    };
    (0..count).map(&mut array).collect()
}

impl Generator<'_> {
    fn body(&mut self) -> Block {
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
            self.push(&mut body, |generator| generator.counted(0));
        }
        self.end(&mut body);
        body
    }

    /// Something to write to, a few statements, and the value.
    fn helper_body(&mut self) -> Block {
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
                generator.push(&mut block, Self::update);
            }
            block
        });
        self.may_read_written = true;
        scatter
    }

    pub(super) fn name(&mut self, kind: char) -> String {
        self.names += 1;
        format!("{kind}{}", self.names)
    }

    /// Makes a statement and puts it into `block`, behind what it needs.
    fn push(&mut self, block: &mut Block, make: impl FnOnce(&mut Self) -> Statement) {
        let outer = (take(&mut self.before), take(&mut self.late));
        let statement = make(self);
        block.append(&mut self.before);
        block.push(statement);
        let late = take(&mut self.late);
        self.scopes.last_mut().expect("a scope").extend(late);
        (self.before, self.late) = outer;
    }

    pub(super) fn block(&mut self, depth: usize) -> Block {
        self.scopes.push(Vec::new());
        let arrays = self.arrays.len();
        let mut block = Vec::new();
        for _ in 0..=self.random.below(3) {
            if self.random.percent(4) {
                self.local_array(&mut block);
            }
            self.push(&mut block, |generator| generator.statement(depth));
        }
        self.scopes.pop();
        self.arrays.truncate(arrays);
        block
    }

    fn statement(&mut self, depth: usize) -> Statement {
        let is_shallow = depth < DEEPEST_BLOCK;
        match self.random.below(100) {
            0..18 => self.declaration(),
            18..32 => self.assignment(),
            32..42 => self.store(),
            42..44 => Statement::Effect(self.effect()),
            44..46 => self.call(),
            46..61 => self.update(),
            61..74 if is_shallow => self.decision(depth),
            74..87 if is_shallow && self.loops < DEEPEST_NEST => self.counted(depth),
            87..92 if is_shallow && self.loops < DEEPEST_NEST => self.repeated(depth),
            92..95 if is_shallow => self.switch(depth),
            95..97 => self.leave(),
            97.. if is_shallow => Statement::Block(self.block(depth + 1)),
            _ => self.update(),
        }
    }

    fn declaration(&mut self) -> Statement {
        let ty = self.random.ty();
        let value = self.value_for(ty, 3);
        let name = self.declared_name(&value);
        self.declare(name.clone(), ty, true, Vec::new());
        Statement::Declare(self.random.spelling(ty), name, value)
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

    pub(super) fn declare(
        &mut self,
        name: String,
        ty: Type,
        is_assignable: bool,
        below: Vec<Extent>,
    ) {
        let local = Local {
            name,
            ty,
            is_assignable,
            below,
        };
        self.scopes.last_mut().expect("a scope").push(local);
    }

    /// The scalars that can be seen from here.
    pub(super) fn visible(&self) -> Vec<Local> {
        let mut seen: Vec<Local> = Vec::new();
        for local in self.scopes.iter().rev().flat_map(|it| it.iter().rev()) {
            if seen.iter().all(|it| it.name != local.name) {
                seen.push(local.clone());
            }
        }
        seen
    }

    fn assignment(&mut self) -> Statement {
        let targets = self.visible().into_iter().filter(|it| it.is_assignable);
        let targets: Vec<_> = targets.collect();
        if targets.is_empty() {
            return self.declaration();
        }
        let target = self.random.pick(&targets).clone();
        let place = Place {
            name: target.name,
            ty: target.ty,
            subscripts: Vec::new(),
        };
        if self.random.percent(50) {
            let value = self.value_for(place.ty, 4);
            Statement::Assign(place, "", value)
        } else {
            self.reduction(place)
        }
    }

    fn store(&mut self) -> Statement {
        if self.random.percent(10)
            && let Some(chain) = self.chain()
        {
            return chain;
        }
        let place = self.written();
        let value = self.value_for(place.ty, 4);
        Statement::Assign(place, "", value)
    }

    fn chain(&mut self) -> Option<Statement> {
        let first = self.unchanging(Self::written);
        let second = self.unchanging(Self::written);
        // Where both are the same array, the order of the stores would be open; so would what a subscript reads of the other.
        let reads = |place: &Place, name: &str| place.to_string()[1..].contains(name);
        let is_apart = first.name != second.name
            && !reads(&first, &second.name)
            && !reads(&second, &first.name);
        let fits = first.ty.is_float() || !second.ty.is_float();
        (is_apart && fits).then(|| {
            let value = self.value_for(second.ty, 2);
            Statement::Chain(first, second, value)
        })
    }

    fn update(&mut self) -> Statement {
        let place = self.unchanging(Self::written);
        self.reduction(place)
    }

    /// What `make` makes does the same however often it stands in the text.
    pub(super) fn unchanging<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.may_change, false);
        let made = make(self);
        self.may_change = outer;
        made
    }

    fn written(&mut self) -> Place {
        let arrays: Vec<_> = self.arrays.iter().filter(|it| it.is_written).collect();
        let array = (*self.random.pick(&arrays)).clone();
        self.element(&array, 2)
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

    /// An array of its own for the rest of the block, with its first values: C gives it none.
    fn local_array(&mut self, block: &mut Block) {
        let extents = match self.random.below(4) {
            0 => vec![Extent::N],
            1 => vec![Extent::Constant(5), Extent::Constant(8)],
            _ => vec![Extent::Constant(8)],
        };
        let ty = self.random.ty();
        let array = Array {
            spelling: self.random.spelling(ty),
            ty,
            name: self.name('a'),
            is_written: true,
            role: Role::Values,
            extents,
        };
        self.push(block, |generator| {
            let is_constant = array.extents != [Extent::N];
            let count = if is_constant {
                1 + generator.random.below(4)
            } else {
                0
            };
            let value = |_| generator.value_for(ty, 1);
            Statement::Array(array.clone(), (0..count).map(value).collect())
        });
        if array.extents == [Extent::N] {
            block.push(filled(&array, self.name('i')));
        }
        self.arrays.push(array);
    }

    /// The iterators around that are subscripts of something.
    pub(super) fn iterators(&self) -> Vec<Local> {
        let locals = self.visible().into_iter();
        locals.filter(|it| !it.below.is_empty()).collect()
    }
}

/// The loop that gives every element of a local array of `n` its first value.
fn filled(array: &Array, iterator: String) -> Statement {
    let variable = Expression::Variable(iterator.clone(), Type::I32);
    let place = Place {
        name: array.name.clone(),
        ty: array.ty,
        subscripts: vec![variable.clone()],
    };
    Statement::For {
        ty: "int",
        from: Expression::Literal("0".to_owned(), Type::I32),
        condition: format!("{iterator} < n"),
        step: format!("{iterator}++"),
        iterator,
        body: vec![Statement::Assign(place, "", variable)],
    }
}
