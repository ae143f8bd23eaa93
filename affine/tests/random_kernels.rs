//! Random kernels: each verifies, prints as text that reads back to itself, and means the same in
//! every order of its foralls.

use proptest::prelude::*;
use strew_affine::interpret::{Argument, ForallOrder, interpret};
use strew_affine::verify::{Verified, verify};
use strew_affine::{
    Access, AffineExpr, AffineFor, Array, ArrayId, BinaryOp, Bound, Combiner, CompareOp, Condition,
    Expr, Field, Forall, Function, Iter, IterId, Kernel, Local, LocalId, Node, Overflow, Parameter,
    Place, Private, Record, Relation, Scalar, ScalarId, ScfFor, Span, StdMath, Subscript, Type,
    UnaryOp, Value, text,
};

const SIZE: i64 = 7;

/// Draws a kernel; the ids are given in the order of the text, as the parser gives them, unless
/// `shuffled`.
struct Generator {
    seed: u64,
    kernel: Kernel,
    shuffled: bool,
    spare_iters: Vec<IterId>,
    names: usize,
    iters: Vec<IterId>,
    locals: Vec<LocalId>,
    arrays: Vec<ArrayId>,
    integers: Vec<ScalarId>,
    /// How many of `locals` must not be set: they were declared outside of a forall.
    outside: usize,
}

impl Generator {
    fn new(seed: u64, shuffled: bool) -> Self {
        Self {
            seed: seed | 1,
            kernel: Kernel::new("random", Span::default()),
            shuffled,
            spare_iters: Vec::new(),
            names: 0,
            iters: Vec::new(),
            locals: Vec::new(),
            arrays: Vec::new(),
            integers: Vec::new(),
            outside: 0,
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        // xorshift64: any source will do, and this one needs no crate.
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 11) as usize % bound.max(1)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        let position = self.below(items.len());
        items.get(position).copied()
    }

    fn name(&mut self) -> String {
        self.names += 1;
        let reserved = ["in", "step", "f32", "kernel", "merge", "nan", "mod", "let"];
        match reserved.get(self.names) {
            Some(word) => (*word).to_owned(),
            None => format!("v{}", self.names),
        }
    }

    fn element(&mut self) -> Type {
        self.pick(&Type::ELEMENTS).unwrap_or(Type::I64)
    }

    fn build(mut self) -> Result<Kernel, Overflow> {
        for _ in 0..3 {
            let integers = [Type::I64, Type::I32, Type::U8, Type::U64];
            let ty = self.pick(&integers).unwrap_or(Type::I64);
            self.scalar(ty);
        }
        for _ in 0..4 {
            self.array_param()?;
        }
        if self.shuffled {
            for _ in 0..40 {
                let iter = self.fresh_iter();
                self.spare_iters.push(iter);
            }
        }
        self.kernel.body = self.block(3)?.into();
        if self.chance(50) {
            let ty = self.element();
            self.kernel.result = Some(self.value(ty, 3)?);
        }
        Ok(self.kernel)
    }

    fn scalar(&mut self, ty: Type) {
        let name = self.name();
        let span = Span::default();
        let id = self.kernel.scalars.alloc(Scalar {
            name,
            ty,
            inferred: false,
            span,
        });
        self.kernel.params.push(Parameter::Scalar(id));
        if ty.is_integer() {
            self.integers.push(id);
        }
    }

    fn array_param(&mut self) -> Result<(), Overflow> {
        if self.chance(30) {
            return self.record();
        }
        let id = self.array()?;
        self.kernel.params.push(Parameter::Array(id));
        Ok(())
    }

    fn record(&mut self) -> Result<(), Overflow> {
        let (name, first) = (self.name(), self.array()?);
        let extents = self.kernel.arrays[first].extents.clone();
        let mut fields = vec![first];
        for _ in 0..self.below(3) {
            let field = self.array()?;
            self.kernel.arrays[field].extents.clone_from(&extents);
            fields.push(field);
        }
        let record = self.kernel.records.alloc(Record {
            name: name.clone(),
            bytes: 0,
            fields: fields.clone(),
            span: Span::default(),
        });
        let mut offset = 0;
        for field in fields {
            let length = 1 + self.below(3);
            let array = &mut self.kernel.arrays[field];
            array.name = format!("{name}.{}", array.name);
            if length > 1 {
                array.extents.push((length as i64).into());
            }
            array.field = Some(Field {
                record,
                offset,
                own_dimensions: usize::from(length > 1),
            });
            offset += 8 * length as u32;
        }
        self.kernel.records[record].bytes = offset;
        self.kernel.params.push(Parameter::Record(record));
        Ok(())
    }

    fn alloc(&mut self) -> Result<Node, Overflow> {
        Ok(Node::Alloc {
            array: self.array()?,
        })
    }

    fn array(&mut self) -> Result<ArrayId, Overflow> {
        let rank = 1 + self.below(2);
        let mut extents = Vec::new();
        for _ in 0..rank {
            let mut extent = AffineExpr::from(1 + self.below(5) as i64);
            if let Some(param) = self.pick(&self.integers.clone()) {
                extent = extent.plus(&param.into())?;
            }
            extents.push(extent);
        }
        let array = Array {
            name: self.name(),
            element: self.element(),
            extents,
            length: None,
            field: None,
            span: Span::default(),
        };
        let id = self.kernel.arrays.alloc(array);
        self.arrays.push(id);
        Ok(id)
    }

    fn fresh_iter(&mut self) -> IterId {
        let name = self.name();
        let span = Span::default();
        self.kernel.iters.alloc(Iter {
            name,
            labels: Vec::new(),
            span,
        })
    }

    fn iter(&mut self) -> IterId {
        self.spare_iters.pop().unwrap_or_else(|| self.fresh_iter())
    }

    fn block(&mut self, depth: usize) -> Result<Vec<Node>, Overflow> {
        let (locals, arrays) = (self.locals.len(), self.arrays.len());
        let mut nodes = Vec::new();
        for _ in 0..1 + self.below(3) {
            nodes.push(self.node(depth)?);
        }
        self.locals.truncate(locals);
        self.arrays.truncate(arrays);
        Ok(nodes)
    }

    fn node(&mut self, depth: usize) -> Result<Node, Overflow> {
        match self.below(if depth == 0 { 3 } else { 9 }) {
            0 if self.chance(30) => self.alloc(),
            0 => self.declaration(),
            1 | 2 => self.update(),
            3 | 4 => self.affine_for(depth),
            5 => {
                let (left, right) = (self.affine(2)?, self.affine(2)?);
                let relations = [Relation::Less, Relation::LessOrEqual, Relation::Equal];
                let relation = self.pick(&relations).unwrap_or(Relation::Less);
                Ok(Node::AffineIf {
                    conditions: vec![Condition {
                        left,
                        relation,
                        right,
                    }],
                    then: self.block(depth - 1)?.into(),
                    otherwise: self.otherwise(depth)?.into(),
                })
            }
            6 => Ok(Node::ScfIf {
                condition: self.value(Type::Bool, 3)?,
                then: self.block(depth - 1)?.into(),
                otherwise: self.otherwise(depth)?.into(),
                span: Span::default(),
            }),
            7 => {
                let (lower, upper) = (Expr::i64(-1), self.small_bound()?);
                let iter = self.iter();
                self.iters.push(iter);
                let body = self.block(depth - 1);
                self.iters.pop();
                Ok(Node::ScfFor(ScfFor {
                    iter,
                    lower,
                    upper,
                    step: 1 + self.below(2) as i64,
                    lanes: 1,
                    body: body?.into(),
                }))
            }
            _ => self.forall(depth),
        }
    }

    fn otherwise(&mut self, depth: usize) -> Result<Vec<Node>, Overflow> {
        if self.chance(50) {
            self.block(depth - 1)
        } else {
            Ok(vec![])
        }
    }

    /// `expr % 5` as an `i64`.
    fn small_bound(&mut self) -> Result<Expr, Overflow> {
        let value = self.value(Type::I64, 2)?;
        Ok(binary(BinaryOp::Rem, value, Expr::i64(5)))
    }

    fn declaration(&mut self) -> Result<Node, Overflow> {
        let ty = if self.chance(20) {
            Type::Bool
        } else {
            self.element()
        };
        let value = self.value(ty, 3)?;
        let local = Local {
            name: self.name(),
            ty,
            mutable: self.chance(50),
            is_element: false,
            span: Span::default(),
        };
        let local = self.kernel.locals.alloc(local);
        self.locals.push(local);
        Ok(Node::Declare { local, value })
    }

    fn update(&mut self) -> Result<Node, Overflow> {
        let own: Vec<_> = self.locals.iter().skip(self.outside).copied().collect();
        let settable = own.into_iter().filter(|it| self.kernel.locals[*it].mutable);
        let settable: Vec<_> = settable.collect();
        let local = if self.chance(40) {
            self.pick(&settable)
        } else {
            None
        };
        let (place, ty) = match local {
            Some(local) => (Place::Local(local), self.kernel.locals[local].ty),
            None => {
                let access = self.access(2)?;
                let ty = self.kernel.arrays[access.array].element;
                (Place::Element(access), ty)
            }
        };
        let value = self.value(ty, 3)?;
        let span = Span::default();
        let combiners = Combiner::built_in();
        let position = self.below(combiners.len());
        match combiners.get(position) {
            Some(combiner) if combiner.identity(&[ty]).is_some() && self.chance(50) => {
                Ok(Node::Reduce {
                    places: vec![place],
                    combiner: combiner.clone(),
                    values: vec![value],
                    span,
                })
            }
            _ => Ok(Node::Assign { place, value, span }),
        }
    }

    fn affine_for(&mut self, depth: usize) -> Result<Node, Overflow> {
        let mut lower = vec![self.affine(1)?];
        let mut upper = vec![SIZE.into()];
        if self.chance(40) {
            lower.push(0.into());
            upper.push(self.affine(2)?);
        }
        let iter = self.iter();
        self.iters.push(iter);
        let body = self.block(depth - 1);
        self.iters.pop();
        Ok(Node::AffineFor(AffineFor {
            iter,
            lower: Bound(lower),
            upper: Bound(upper),
            step: 1 + self.below(3) as i64,
            lanes: 1,
            body: body?.into(),
        }))
    }

    /// Without private writes of its own the body writes nothing: its iterations would race.
    fn forall(&mut self, depth: usize) -> Result<Node, Overflow> {
        let arrays = std::mem::take(&mut self.arrays);
        let mut privates = Vec::new();
        for target in &arrays {
            let element = self.kernel.arrays[*target].element;
            let extents = self.kernel.arrays[*target].extents.clone();
            let names: &[_] = match element {
                Type::Bool => &["and", "or", "xor"],
                _ => &["add", "min", "max", "mul"],
            };
            let combiner = self.pick(names).and_then(Combiner::from_name);
            let Some(combiner) = combiner else { continue };
            let name = self.name();
            let buffer = self.kernel.arrays.alloc(Array {
                name,
                element,
                extents,
                length: None,
                field: None,
                span: Span::default(),
            });
            self.arrays.push(buffer);
            privates.push(Private {
                buffers: vec![buffer],
                targets: vec![*target],
                combiner,
            });
        }
        let outside = std::mem::replace(&mut self.outside, self.locals.len());
        let iter = self.iter();
        self.iters.push(iter);
        let body = self.block(depth - 1);
        self.iters.pop();
        self.outside = outside;
        self.arrays = arrays;
        Ok(Node::Forall(Forall {
            iter,
            count: (self.below(4) as i64).into(),
            privates,
            disjoint: Vec::new(),
            strategy: if self.chance(50) { "auto" } else { "dense" }.to_owned(),
            body: body?.into(),
        }))
    }

    fn affine(&mut self, depth: usize) -> Result<AffineExpr, Overflow> {
        if depth == 0 {
            let iters = self.iters.clone();
            let params = self.integers.clone();
            let number = self.below(9) as i64 - 3;
            return Ok(match self.below(3) {
                0 => self.pick(&iters).map_or(number.into(), AffineExpr::from),
                1 => self.pick(&params).map_or(number.into(), AffineExpr::from),
                _ => number.into(),
            });
        }
        let (left, right) = (self.affine(depth - 1)?, self.affine(depth - 1)?);
        let divisor = AffineExpr::from(1 + self.below(5) as i64);
        match self.below(7) {
            0 => left.times(&right),
            1 => left.minus(&right),
            2 => left.plus(&right)?.floordiv(&divisor),
            3 => left.minus(&right)?.modulo(&divisor),
            4 => left.ceildiv(&divisor)?.minus(&right),
            5 => left.scaled(-1)?.times(&right.floordiv(&divisor)?),
            _ => left.plus(&right),
        }
    }

    fn access(&mut self, depth: usize) -> Result<Access, Overflow> {
        let arrays = self.arrays.clone();
        let array = self.pick(&arrays).expect("there are always arrays");
        let mut subscripts = Vec::new();
        for _ in 0..self.kernel.arrays[array].extents.len() {
            subscripts.push(self.subscript(depth)?);
        }
        Ok(Access {
            array,
            subscripts,
            span: Span::default(),
        })
    }

    fn subscript(&mut self, depth: usize) -> Result<Subscript, Overflow> {
        let integers = [Type::I64, Type::I32, Type::U8];
        let ty = self.pick(&integers).unwrap_or(Type::I64);
        Ok(match self.below(4) {
            0 => Subscript::Affine(self.affine(2)?),
            1 => Subscript::Computed(self.value(ty, depth)?),
            // In range always, so that some kernels run to their end.
            2 => Subscript::Affine(self.affine(1)?.modulo(&1.into())?),
            _ => {
                let value = self.value(ty, depth)?;
                let three = Expr::Constant(Value::integer(ty, 1));
                Subscript::Computed(binary(BinaryOp::BitAnd, value, three))
            }
        })
    }

    fn leaf(&mut self, ty: Type) -> Result<Expr, Overflow> {
        let locals = self.locals.clone();
        let local = self.pick(&locals);
        if let Some(local) = local.filter(|it| self.kernel.locals[*it].ty == ty) {
            return Ok(Expr::Local(local));
        }
        let integers = self.integers.clone();
        let param = self.pick(&integers);
        if let Some(param) = param.filter(|it| self.kernel.scalars[*it].ty == ty) {
            return Ok(Expr::Param(param));
        }
        let iters = self.iters.clone();
        if let Some(iter) = self.pick(&iters).filter(|_| ty == Type::I64) {
            return Ok(Expr::Iter(iter));
        }
        Ok(Expr::Constant(self.constant(ty)))
    }

    fn constant(&mut self, ty: Type) -> Value {
        let bits = self.below(usize::MAX) as u64;
        let floats = [
            0.0,
            -0.0,
            0.5,
            -3.0,
            1e20,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            0.1,
        ];
        if ty.is_float() {
            Value::float(ty, self.pick(&floats).unwrap_or_default())
        } else if self.chance(80) && ty != Type::Bool {
            Value::integer(ty, i128::from(bits % 7) - 2)
        } else {
            Value::from_bits(ty, bits)
        }
    }

    fn value(&mut self, ty: Type, depth: usize) -> Result<Expr, Overflow> {
        if depth == 0 {
            return self.leaf(ty);
        }
        let deeper = depth - 1;
        match self.below(6) {
            0 => self.leaf(ty),
            1 => {
                let access = self.access(deeper)?;
                let element = self.kernel.arrays[access.array].element;
                let load = Expr::Load(access);
                Ok(if element == ty && self.chance(80) {
                    load
                } else {
                    Expr::Cast(ty, Box::new(load))
                })
            }
            2 => {
                let from = self.element();
                Ok(Expr::Cast(ty, Box::new(self.value(from, deeper)?)))
            }
            3 => {
                let condition = self.value(Type::Bool, deeper)?;
                let (then, otherwise) = (self.value(ty, deeper)?, self.value(ty, deeper)?);
                Ok(Expr::select(condition, then, otherwise))
            }
            _ if ty == Type::Bool => self.truth(deeper),
            4 if ty.is_float() && self.chance(50) => {
                let function = self.pick(Function::ALL).unwrap_or(Function::Sqrt);
                let count = 0..function.operand_count();
                let operands: Result<_, _> = count.map(|_| self.value(ty, deeper)).collect();
                Ok(Expr::Call(function, operands?))
            }
            4 => {
                let operand = self.value(ty, deeper)?;
                let is_bits = ty.is_integer() && self.chance(50);
                let on_bits = [&UnaryOp::COUNTING[..], &[UnaryOp::BitNot]].concat();
                let of_bits = is_bits.then(|| self.pick(&on_bits)).flatten();
                Ok(Expr::unary(of_bits.unwrap_or(UnaryOp::Neg), operand))
            }
            _ => {
                let all = BinaryOp::ALL;
                let usable = if ty.is_float() { &all[..4] } else { &all[..] };
                let op = self.pick(usable).unwrap_or(BinaryOp::Add);
                let (left, right) = (self.value(ty, deeper)?, self.value(ty, deeper)?);
                Ok(binary(op, left, right))
            }
        }
    }

    fn truth(&mut self, depth: usize) -> Result<Expr, Overflow> {
        let (left, right) = (
            self.value(Type::Bool, depth)?,
            self.value(Type::Bool, depth)?,
        );
        match self.below(4) {
            0 => Ok(Expr::And(Box::new(left), Box::new(right))),
            1 => Ok(Expr::Or(Box::new(left), Box::new(right))),
            2 => Ok(Expr::unary(UnaryOp::Not, left)),
            _ => {
                let ty = self.element();
                let ops = [CompareOp::Lt, CompareOp::Eq, CompareOp::Ne, CompareOp::Ge];
                let op = self.pick(&ops).unwrap_or(CompareOp::Lt);
                let (left, right) = (self.value(ty, depth)?, self.value(ty, depth)?);
                Ok(Expr::compare(op, left, right))
            }
        }
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, left, right, Span::default())
}

/// The kernel's debug form without its spans.
fn without_spans(kernel: &Kernel) -> String {
    let form = format!("{kernel:?}");
    let mut pieces = form.split("Span { start: ");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |sum, piece| {
        sum + piece.split_once(" }").map_or("", |(_, rest)| rest)
    })
}

fn arguments(kernel: &Kernel) -> Vec<Argument> {
    let size = |extent: &AffineExpr| extent.evaluate(&|_| SIZE).unwrap_or(0) as usize;
    let cells = |array: ArrayId| -> Vec<Value> {
        let array = &kernel.arrays[array];
        let elements: usize = array.extents.iter().map(size).product();
        let cell = |position: usize| Value::integer(Type::I64, position as i128 % 5);
        let cast = |value| strew_affine::evaluate::convert(array.element, value);
        (0..elements).map(cell).map(cast).collect()
    };
    let params = kernel.params.iter().map(|param| match param {
        Parameter::Scalar(scalar) => {
            let ty = kernel.scalars[*scalar].ty;
            Argument::Scalar(Value::integer(ty, SIZE.into()))
        }
        Parameter::Array(array) => Argument::Array(cells(*array)),
        Parameter::Record(record) => {
            let fields = kernel.records[*record].fields.iter();
            Argument::Record(fields.map(|field| cells(*field)).collect())
        }
    });
    params.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_printed_kernel_reads_back_as_itself(seed in any::<u64>(), shuffled in any::<bool>()) {
        let Ok(kernel) = Generator::new(seed, shuffled).build() else { return Ok(()) };
        let printed = kernel.to_string();
        let kernel = match verify(kernel) {
            Ok(verified) => verified.into_kernel(),
            Err(violations) => return Err(TestCaseError::fail(format!("{violations:?}\n{printed}"))),
        };
        let read = match text::parse(&printed) {
            Ok(read) => read,
            Err(errors) => return Err(TestCaseError::fail(format!("{errors:?}\n{printed}"))),
        };
        prop_assert_eq!(read.len(), 1);
        prop_assert_eq!(read[0].to_string(), printed.clone());
        if !shuffled {
            prop_assert_eq!(without_spans(&read[0]), without_spans(&kernel), "{}", printed);
        }
    }

    #[test]
    fn reading_back_and_the_order_of_foralls_change_nothing(seed in any::<u64>()) {
        let Ok(kernel) = Generator::new(seed, true).build() else { return Ok(()) };
        let read = text::parse(&kernel.to_string()).ok().and_then(|mut it| it.pop());
        let (Ok(kernel), Some(Ok(read))) = (verify(kernel), read.map(verify)) else {
            return Err(TestCaseError::fail("the kernel does not verify"));
        };
        let run = |kernel: &Verified, order| {
            let mut cells = arguments(kernel);
            let result = interpret(kernel, &mut cells, 20_000, order, &StdMath);
            (result.map_err(|it| it.to_string()), cells)
        };
        let forward = run(&kernel, ForallOrder::Forward);
        if forward.0.is_err() {
            prop_assert_eq!(&forward.1, &arguments(&kernel), "a stop changed an argument");
        }
        prop_assert_eq!(&run(&read, ForallOrder::Forward), &forward);
        let out_of_fuel = |it: &Result<Option<Value>, String>| it.as_ref().is_err_and(|it| it.contains("longer"));
        let backward = run(&kernel, ForallOrder::Backward);
        // An iteration that only the backward order reaches may use up the fuel.
        if !out_of_fuel(&backward.0) && !out_of_fuel(&forward.0) {
            prop_assert_eq!(backward, forward);
        }
    }
}

/// The properties above say nothing if the generator draws nothing.
#[test]
fn many_kernels_are_drawn_and_many_of_them_run_to_their_end() {
    let (mut built, mut finished, mut faulted) = (0, 0, 0);
    for seed in 0..500_u64 {
        let kernel = Generator::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15), false).build();
        let Some(Ok(kernel)) = kernel.ok().map(verify) else {
            continue;
        };
        built += 1;
        let mut cells = arguments(&kernel);
        match interpret(&kernel, &mut cells, 20_000, ForallOrder::Forward, &StdMath) {
            Ok(_) => finished += 1,
            Err(_) => faulted += 1,
        }
    }
    assert!(
        built > 400 && finished > 100 && faulted > 100,
        "{built} {finished} {faulted}"
    );
}
