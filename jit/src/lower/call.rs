//! Calls of math functions: an instruction where it computes the same bits, else the platform's own
//! function.

use super::combine::combined;
use super::convert::clif_type;
use super::function::stack;
use super::operation::{choose, splat};
use crate::{CompileError, host, math};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use cranelift_jit::JITBuilder;
use cranelift_module::{FuncId, Linkage, Module};
use strew_affine::{Function, HostAddress, Type};

/// The functions that one kernel calls: of the math library, and the one by which it calls
/// functions of the host.
#[derive(Default)]
pub(crate) struct MathFunctions {
    declared: Vec<((Function, Type), FuncId)>,
    combine: Option<FuncId>,
    /// Why a function could not be declared; lowering then fails as a whole.
    failure: Option<CompileError>,
}

/// Tells `builder` where to find the functions that are called.
pub(crate) fn define_symbols(builder: &mut JITBuilder) {
    builder.symbol_lookup_fn(Box::new(address));
}

fn address(symbol: &str) -> Option<*const u8> {
    let code = |name: &str| math::code(Function::from_name(name)?);
    match code(symbol) {
        Some(code) => Some(code.double.address()),
        None => Some(code(symbol.strip_suffix('f')?)?.single.address()),
    }
}

/// C's own name, which is also the one that the code generator uses for what it has no instruction
/// for.
fn symbol(function: Function, ty: Type) -> String {
    match ty {
        Type::F32 => format!("{function}f"),
        _ => function.name().to_owned(),
    }
}

impl MathFunctions {
    /// The first failure, if there was one.
    pub(super) fn into_failure(self) -> Option<CompileError> {
        self.failure
    }

    fn declare(&mut self, module: &mut dyn Module, function: Function, ty: Type) -> Option<FuncId> {
        let key = (function, ty);
        if let Some((_, id)) = self.declared.iter().find(|(known, _)| *known == key) {
            return Some(*id);
        }
        let mut signature = module.make_signature();
        signature.params = vec![AbiParam::new(clif_type(ty)); function.operand_count()];
        signature.returns.push(AbiParam::new(clif_type(ty)));
        match module.declare_function(&symbol(function, ty), Linkage::Import, &signature) {
            Ok(id) => {
                self.declared.push((key, id));
                Some(id)
            }
            Err(error) => {
                self.failure.get_or_insert(error.into());
                None
            }
        }
    }
}

impl MathFunctions {
    fn declare_combine(&mut self, module: &mut dyn Module) -> Option<FuncId> {
        if self.combine.is_none() {
            let mut signature = module.make_signature();
            signature.params = vec![AbiParam::new(types::I64); 4];
            signature.returns.push(AbiParam::new(types::I32));
            match module.declare_function(host::COMBINE, Linkage::Import, &signature) {
                Ok(id) => self.combine = Some(id),
                Err(error) => {
                    self.failure.get_or_insert(error.into());
                }
            }
        }
        self.combine
    }
}

/// What emitting a call needs beside the function under construction.
pub(super) struct Calls<'p> {
    pub(super) module: &'p mut dyn Module,
    pub(super) math: &'p mut MathFunctions,
    /// Whether products may be rounded once with the sums that they go into.
    pub(super) contracts: bool,
}

impl Calls<'_> {
    /// `function` on scalars of the float type `ty`, or on vectors of them if no call is needed.
    pub(super) fn emit(
        &mut self,
        builder: &mut FunctionBuilder<'_>,
        function: Function,
        operands: &[Value],
        ty: Type,
    ) -> Value {
        if let Some(value) = instruction(builder, function, operands) {
            return value;
        }
        if let (Some(by), &[first, second]) = (function.extremum(), operands) {
            return combined(builder, self, (&by, ty), [first, second]);
        }
        let Some(id) = self.math.declare(self.module, function, ty) else {
            return builder.ins().iconst(types::I64, 0);
        };
        let callee = self.module.declare_func_in_func(id, builder.func);
        let call = builder.ins().call(callee, operands);
        builder.inst_results(call)[0]
    }
}

impl Calls<'_> {
    /// What the function of the host at `address` makes of `held` and `incoming`, both of type
    /// `ty`; and whether it panicked.
    pub(super) fn combine(
        &mut self,
        builder: &mut FunctionBuilder<'_>,
        address: HostAddress,
        [held, incoming]: [Value; 2],
        ty: Type,
    ) -> (Value, Value) {
        let Some(id) = self.math.declare_combine(self.module) else {
            return (held, builder.ins().iconst(types::I32, 0));
        };
        let callee = self.module.declare_func_in_func(id, builder.func);
        let address = builder.ins().iconst(types::I64, address.bits() as i64);
        let [held, incoming] = [held, incoming].map(|it| wide_bits(builder, it, ty));
        let place = stack(builder, size_of::<u64>(), align_of::<u64>());
        let call = builder
            .ins()
            .call(callee, &[address, held, incoming, place]);
        let panicked = builder.inst_results(call)[0];
        let bits = builder
            .ins()
            .load(types::I64, MemFlagsData::trusted(), place, 0);
        (from_wide_bits(builder, bits, ty), panicked)
    }
}

/// The bits of a value of type `ty`, zero-extended to 64.
pub(super) fn wide_bits(builder: &mut FunctionBuilder<'_>, value: Value, ty: Type) -> Value {
    let bits = match ty {
        Type::F32 => bitcast(builder, types::I32, value),
        Type::F64 => return bitcast(builder, types::I64, value),
        _ if ty.bytes() == 8 => return value,
        _ => value,
    };
    builder.ins().uextend(types::I64, bits)
}

pub(super) fn from_wide_bits(builder: &mut FunctionBuilder<'_>, bits: Value, ty: Type) -> Value {
    match ty {
        Type::F64 => bitcast(builder, types::F64, bits),
        Type::F32 => {
            let bits = builder.ins().ireduce(types::I32, bits);
            bitcast(builder, types::F32, bits)
        }
        _ if ty.bytes() == 8 => bits,
        _ => builder.ins().ireduce(clif_type(ty), bits),
    }
}

fn bitcast(
    builder: &mut FunctionBuilder<'_>,
    to: cranelift_codegen::ir::Type,
    value: Value,
) -> Value {
    builder.ins().bitcast(to, MemFlagsData::new(), value)
}

/// The integer that is nearest to each of `x`, the one farther from zero of two: what is cut off is
/// exact, and twice as much is, which has a one in front of the point if it is a half or more. No
/// choice between floats comes from that, which would be a jump.
fn rounded(builder: &mut FunctionBuilder<'_>, x: Value) -> Value {
    let ty = builder.func.dfg.value_type(x);
    let [one, sign] = [1.0, -0.0].map(|number: f64| {
        let scalar = match ty.lane_type() {
            types::F32 => builder.ins().f32const(number as f32),
            _ => builder.ins().f64const(number),
        };
        splat(builder, ty, scalar)
    });
    let whole = builder.ins().trunc(x);
    let rest = builder.ins().fsub(x, whole);
    let rest = builder.ins().fabs(rest);
    let twice = builder.ins().fadd(rest, rest);
    let more = builder.ins().trunc(twice);
    // What is infinite has no rest, and stays so with one more. This is one instruction.
    let is_less = builder.ins().fcmp(FloatCC::LessThan, more, one);
    let more = choose(builder, is_less, more, one);
    let sign = builder.ins().band(x, sign);
    let more = builder.ins().bor(more, sign);
    builder.ins().fadd(whole, more)
}

/// The functions whose result is exact or correctly rounded by IEEE 754, so that every right way to
/// compute it gives the same bits.
fn instruction(
    builder: &mut FunctionBuilder<'_>,
    function: Function,
    operands: &[Value],
) -> Option<Value> {
    match (function, operands) {
        (Function::Sqrt, &[x]) => Some(builder.ins().sqrt(x)),
        (Function::Fabs, &[x]) => Some(builder.ins().fabs(x)),
        (Function::Floor, &[x]) => Some(builder.ins().floor(x)),
        (Function::Ceil, &[x]) => Some(builder.ins().ceil(x)),
        (Function::Trunc, &[x]) => Some(builder.ins().trunc(x)),
        (Function::Rint | Function::Nearbyint, &[x]) => Some(builder.ins().nearest(x)),
        (Function::Round, &[x]) => Some(rounded(builder, x)),
        (Function::Copysign, &[x, y]) => Some(builder.ins().fcopysign(x, y)),
        (Function::Fma, &[x, y, z]) => Some(builder.ins().fma(x, y, z)),
        _ => None,
    }
}
