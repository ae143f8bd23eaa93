//! Random functions.

use super::expression::Expression;
use super::function::{Array, Extent, Function, Structure};
use super::statement::{Block, Statement};
use super::types::spellings;
use crate::random::Random;
use std::mem::take;
use strew::ir::Type;

/// Loops in loops, at most.
pub(super) const DEEPEST_NEST: usize = 4;

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

/// A scalar that can be read.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) is_assignable: bool,
    /// It is at least 0 and below each of these.
    pub(super) below: Vec<Extent>,
}

impl Local {
    pub(super) fn new(name: &str, ty: Type, is_assignable: bool) -> Self {
        Self {
            name: name.to_owned(),
            ty,
            is_assignable,
            below: Vec::new(),
        }
    }

    pub(super) fn expression(&self) -> Expression {
        Expression::Variable(self.name.clone(), self.ty)
    }
}

/// What the whole text has, for all its functions.
struct Surroundings {
    structures: Vec<Structure>,
    tables: Vec<Array>,
    sizes: [Type; 2],
}

/// Makes one function; what is declared in a block is forgotten at its end.
pub(super) struct Generator<'r> {
    pub(super) random: &'r mut Random,
    pub(super) sizes: [Type; 2],
    /// The type of its value.
    pub(super) result: Option<Type>,
    /// Its value, where that is a structure.
    pub(super) result_record: Option<Structure>,
    pub(super) structures: &'r [Structure],
    pub(super) helpers: &'r [Function],
    pub(super) arrays: Vec<Array>,
    /// The structures that can be seen: names and types.
    pub(super) records: Vec<(String, Structure)>,
    pub(super) scopes: Vec<Vec<Local>>,
    /// What must stand before the statement that is being made.
    pub(super) before: Block,
    /// What that declares and only later statements may speak of.
    pub(super) late: Vec<Local>,
    /// Whether the expression that is being made stands only once in the text, so that it may
    /// change variables.
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

    /// An element type; integers of 32 and 64 bits and floats are frequent, as they are in
    /// programs.
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
    let structures = structures(random, &name);
    let arrays = random.arrays(&structures);
    let count = if random.percent(15) { 1 } else { 0 };
    let tables = (0..count).map(|it| random.table(format!("{name}_t{it}")));
    let tables: Vec<_> = tables.collect();
    let around = Surroundings {
        structures,
        tables: tables.iter().map(|it| it.0.clone()).collect(),
        sizes,
    };
    let mut helpers: Vec<Function> = Vec::new();
    for number in 0..random.below(3) {
        let name = format!("{name}_helper{number}");
        let passed = passed(random, &arrays);
        let result = Some(random.ty());
        let loops = DEEPEST_NEST - 1;
        helpers.push(made(random, name, &around, result, passed, &helpers, loops));
    }
    let result = random.percent(30).then(|| random.ty());
    let function = made(random, name, &around, result, arrays, &helpers, 0);
    Function {
        structures: around.structures,
        tables,
        helpers,
        ..function
    }
}

/// Mostly none, else one, or one and another that has the first as a member.
fn structures(random: &mut Random, name: &str) -> Vec<Structure> {
    if random.percent(65) {
        return Vec::new();
    }
    let first = random.structure(&format!("{name}_s0"), None);
    if random.percent(70) {
        return vec![first];
    }
    let second = random.structure(&format!("{name}_s1"), Some(&first));
    vec![first, second]
}

/// One array of the caller for a helper, or none. What may be read where it is passed may not be
/// written.
fn passed(random: &mut Random, arrays: &[Array]) -> Vec<Array> {
    if random.percent(50) {
        return Vec::new();
    }
    let name = random.pick(arrays).name.clone();
    let may_write = random.percent(50);
    let members = arrays.iter().filter(|it| it.name == name);
    let members = members.map(|it| Array {
        is_written: it.is_written && may_write,
        ..it.clone()
    });
    members.collect()
}

/// A function that may call `helpers`, as if it stood in this many loops.
fn made(
    random: &mut Random,
    name: String,
    around: &Surroundings,
    result: Option<Type>,
    arrays: Vec<Array>,
    helpers: &[Function],
    loops: usize,
) -> Function {
    let sizes = around.sizes;
    let mut parameters = vec![
        Local::new("n", sizes[0], false),
        Local::new("m", sizes[1], false),
    ];
    let mut scalars = Vec::new();
    for number in 0..random.below(4) {
        let (ty, name) = (random.ty(), format!("p{number}"));
        parameters.push(Local::new(&name, ty, random.percent(20)));
        scalars.push((random.spelling(ty), ty, name));
    }
    let (mut records, mut result_record) = (Vec::new(), None);
    if loops > 0 && !around.structures.is_empty() {
        for number in 0..random.below(3) {
            let structure = random.pick(&around.structures).clone();
            records.push((structure, format!("q{number}")));
        }
        if random.percent(40) {
            result_record = Some(random.pick(&around.structures).clone());
        }
    }
    let result = result.map(|ty| (random.spelling(ty), ty));
    let mut generator = Generator {
        random,
        sizes,
        arrays: [arrays.clone(), around.tables.clone()].concat(),
        result: result.map(|it| it.1),
        result_record: result_record.clone(),
        structures: &around.structures,
        helpers,
        records: Vec::new(),
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
    for (structure, name) in &records {
        generator.declare_record(name, structure);
    }
    let body = match loops {
        0 => generator.body(),
        _ => generator.helper_body(),
    };
    Function {
        name,
        result,
        result_record,
        sizes,
        scalars,
        records,
        arrays,
        body,
        structures: Vec::new(),
        tables: Vec::new(),
        helpers: Vec::new(),
    }
}

impl Generator<'_> {
    pub(super) fn name(&mut self, kind: char) -> String {
        self.names += 1;
        format!("{kind}{}", self.names)
    }

    /// Makes a statement and puts it into `block`, behind what it needs.
    pub(super) fn push(&mut self, block: &mut Block, make: impl FnOnce(&mut Self) -> Statement) {
        let outer = (take(&mut self.before), take(&mut self.late));
        let statement = make(self);
        block.append(&mut self.before);
        block.push(statement);
        let late = take(&mut self.late);
        self.scopes.last_mut().expect("a scope").extend(late);
        (self.before, self.late) = outer;
    }

    /// Makes something in which what is declared is forgotten afterwards.
    pub(super) fn scoped<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(Vec::new());
        let (arrays, records) = (self.arrays.len(), self.records.len());
        let made = make(self);
        self.scopes.pop();
        self.arrays.truncate(arrays);
        self.records.truncate(records);
        made
    }

    pub(super) fn declare(&mut self, local: Local) {
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

    /// The iterators around that are subscripts of something.
    pub(super) fn iterators(&self) -> Vec<Local> {
        let locals = self.visible().into_iter();
        locals.filter(|it| !it.below.is_empty()).collect()
    }

    /// What `make` makes does the same however often it stands in the text.
    pub(super) fn unchanging<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.may_change, false);
        let made = make(self);
        self.may_change = outer;
        made
    }
}
