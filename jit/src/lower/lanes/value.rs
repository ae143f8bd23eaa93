//! Values of several iterations at once.

use super::super::convert::clif_type;
use super::super::operation;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self, Immediate, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::FunctionBuilder;
use strew_affine::lanes::VECTOR_BYTES;
use strew_affine::{Type, Value as Constant};

/// The values of an expression in all lanes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum InLanes {
    /// The same in all of them: a scalar.
    Same(Value),
    /// One each, as many vectors as it takes, the first lanes first.
    Each(Vec<Value>),
    /// Of a `bool`, all bits of a lane as wide as what was compared.
    Mask(Vec<Value>),
}

/// How many lanes of `ty` a vector has.
pub(super) fn per_vector(ty: Type) -> u32 {
    VECTOR_BYTES / ty.bytes()
}

/// A vector of lanes of `ty` with these values.
pub(super) fn vector(
    builder: &mut FunctionBuilder<'_>,
    ty: Type,
    lanes: &[Value],
) -> Option<Value> {
    let (first, others) = lanes.split_first()?;
    let of = operation::vector_of(ty);
    // Narrow lanes have no vectors of one value alone.
    let vector = match ty.bytes() {
        1 | 2 => builder.ins().splat(of, *first),
        _ => builder.ins().scalar_to_vector(of, *first),
    };
    let others = others.iter().zip(1_u8..);
    Some(others.fold(vector, |vector, (lane, number)| {
        builder.ins().insertlane(vector, *lane, number)
    }))
}

/// `value` in all lanes of a vector.
pub(super) fn in_all_lanes(builder: &mut FunctionBuilder<'_>, value: Constant) -> Value {
    let lane = operation::constant(builder, value);
    builder.ins().splat(operation::vector_of(value.ty()), lane)
}

/// The vectors two by two.
fn in_pairs(vectors: &[Value]) -> impl Iterator<Item = [Value; 2]> {
    let pairs = vectors.chunks_exact(2);
    pairs.filter_map(|pair| pair.try_into().ok())
}

/// The vector of integers of so many bytes.
pub(super) fn integers(bytes: u32) -> ir::Type {
    match bytes {
        1 => types::I8X16,
        2 => types::I16X8,
        4 => types::I32X4,
        _ => types::I64X2,
    }
}

/// The bytes of a lane of `vector`.
fn lane_bytes(builder: &FunctionBuilder<'_>, vector: Value) -> u32 {
    builder.func.dfg.value_type(vector).lane_type().bytes()
}

/// The same bits as lanes of `ty`.
pub(super) fn bits_as(builder: &mut FunctionBuilder<'_>, ty: ir::Type, vector: Value) -> Value {
    if builder.func.dfg.value_type(vector) == ty {
        return vector;
    }
    let little = MemFlagsData::new().with_endianness(ir::Endianness::Little);
    builder.ins().bitcast(ty, little, vector)
}

/// The bytes of `first` and `second`, one behind the other, that have these numbers.
pub(super) fn shuffled(
    builder: &mut FunctionBuilder<'_>,
    first: Value,
    second: Value,
    numbers: [u8; 16],
) -> Value {
    let of = builder.func.dfg.value_type(first);
    let [first, second] = [first, second].map(|it| bits_as(builder, types::I8X16, it));
    let numbers = immediate(builder, numbers);
    let shuffled = builder.ins().shuffle(first, second, numbers);
    bits_as(builder, of, shuffled)
}

/// One immediate for all that have these bytes: instructions are the same only if their immediates
/// are.
fn immediate(builder: &mut FunctionBuilder<'_>, bytes: [u8; 16]) -> Immediate {
    let known = &mut builder.func.dfg.immediates;
    let same = known.iter().find(|(_, it)| it.as_slice() == bytes);
    match same {
        Some((immediate, _)) => immediate,
        None => known.push(bytes.to_vec().into()),
    }
}

/// The same bits as lanes of integers as wide.
pub(super) fn as_integers(builder: &mut FunctionBuilder<'_>, vector: Value) -> Value {
    let of = integers(lane_bytes(builder, vector));
    bits_as(builder, of, vector)
}

/// What the first lane of `vector` is, in all lanes.
pub(super) fn first_lane_in_all(builder: &mut FunctionBuilder<'_>, vector: Value) -> Value {
    let bytes = lane_bytes(builder, vector) as usize;
    // Of narrow lanes, some processors cannot put one anywhere else.
    if bytes <= 2 {
        let of = builder.func.dfg.value_type(vector);
        let first = builder.ins().extractlane(vector, 0);
        return builder.ins().splat(of, first);
    }
    let numbers = std::array::from_fn(|it| (it % bytes) as u8);
    shuffled(builder, vector, vector, numbers)
}

/// What lies `bytes` bytes further on in `vector`, in place of its beginning.
pub(super) fn rotated(builder: &mut FunctionBuilder<'_>, vector: Value, bytes: u32) -> Value {
    let numbers = std::array::from_fn(|it| ((it as u32 + bytes) % VECTOR_BYTES) as u8);
    shuffled(builder, vector, vector, numbers)
}

/// The first halves of two vectors.
pub(super) fn lower_halves(
    builder: &mut FunctionBuilder<'_>,
    first: Value,
    second: Value,
) -> Value {
    let numbers = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
    shuffled(builder, first, second, numbers)
}

/// The first halves of the lanes of two vectors of 64-bit lanes.
fn lower_lanes(builder: &mut FunctionBuilder<'_>, first: Value, second: Value) -> Value {
    parts_of_lanes(builder, first, second, 0)
}

/// The second halves of them.
pub(super) fn upper_lanes(builder: &mut FunctionBuilder<'_>, first: Value, second: Value) -> Value {
    parts_of_lanes(builder, first, second, 4)
}

/// The four bytes of each of these lanes from byte `start` on.
fn parts_of_lanes(
    builder: &mut FunctionBuilder<'_>,
    first: Value,
    second: Value,
    start: u8,
) -> Value {
    let numbers = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
    let lanes = shuffled(builder, first, second, numbers.map(|it| start + it));
    bits_as(builder, types::I32X4, lanes)
}

/// Integer lanes, sign- or zero-extended to twice the width.
fn widened(builder: &mut FunctionBuilder<'_>, vectors: &[Value], is_signed: bool) -> Vec<Value> {
    let halves = vectors.iter();
    let halves = halves.flat_map(|vector| widened_halves(builder, *vector, is_signed));
    halves.collect()
}

/// The same for the first half of the lanes of one vector, and for the second.
pub(super) fn widened_halves(
    builder: &mut FunctionBuilder<'_>,
    vector: Value,
    is_signed: bool,
) -> [Value; 2] {
    [false, true].map(|is_high| match (is_signed, is_high) {
        (true, false) => builder.ins().swiden_low(vector),
        (true, true) => builder.ins().swiden_high(vector),
        (false, false) => builder.ins().uwiden_low(vector),
        (false, true) => builder.ins().uwiden_high(vector),
    })
}

/// Integer lanes, of which the lower halves are left.
fn narrowed(builder: &mut FunctionBuilder<'_>, vectors: &[Value]) -> Vec<Value> {
    in_pairs(vectors)
        .map(|pair| {
            let bytes = lane_bytes(builder, pair[0]);
            if bytes == 8 {
                return lower_lanes(builder, pair[0], pair[1]);
            }
            // What is saturated fits.
            let fits = builder.ins().iconst(int_of(bytes), (1 << (4 * bytes)) - 1);
            let fits = builder.ins().splat(integers(bytes), fits);
            let [first, second] = pair.map(|it| builder.ins().band(it, fits));
            builder.ins().unarrow(first, second)
        })
        .collect()
}

fn int_of(bytes: u32) -> ir::Type {
    integers(bytes).lane_type()
}

/// Integer lanes of any width as lanes of `bytes` bytes.
pub(super) fn resized(
    builder: &mut FunctionBuilder<'_>,
    vectors: Vec<Value>,
    bytes: u32,
    is_signed: bool,
) -> Vec<Value> {
    let mut vectors = vectors;
    while let Some(first) = vectors.first() {
        let now = lane_bytes(builder, *first);
        match now.cmp(&bytes) {
            std::cmp::Ordering::Equal => break,
            std::cmp::Ordering::Less => vectors = widened(builder, &vectors, is_signed),
            std::cmp::Ordering::Greater => vectors = narrowed(builder, &vectors),
        }
    }
    vectors
}

/// `bool` lanes as wide as `bytes` bytes: all ones or all zeros stay that.
pub(super) fn mask_of_width(
    builder: &mut FunctionBuilder<'_>,
    mask: Vec<Value>,
    bytes: u32,
) -> Vec<Value> {
    resized(builder, mask, bytes, true)
}

/// Lanes of type `from`, converted to type `to`; neither is `bool`.
pub(super) fn convert(
    builder: &mut FunctionBuilder<'_>,
    vectors: Vec<Value>,
    from: Type,
    to: Type,
) -> Vec<Value> {
    match (from, to) {
        _ if from == to => vectors,
        (Type::F32, Type::F64) => halves(builder, &vectors, |builder, half| {
            builder.ins().fvpromote_low(half)
        }),
        (Type::F64, Type::F32) => demoted(builder, &vectors),
        (Type::F32 | Type::F64, _) => {
            let whole = truncated(builder, vectors, from);
            saturated(builder, whole, to)
        }
        (Type::U32, Type::F32) => {
            each(vectors, |it| builder.ins().fcvt_from_uint(types::F32X4, it))
        }
        (_, Type::F32) => {
            let wide = resized(builder, vectors, 4, from.is_signed());
            each(wide, |it| builder.ins().fcvt_from_sint(types::F32X4, it))
        }
        (_, Type::F64) => {
            let wide = resized(builder, vectors, 4, from.is_signed());
            halves(builder, &wide, |builder, half| {
                let wide = builder.ins().swiden_low(half);
                builder.ins().fcvt_from_sint(types::F64X2, wide)
            })
        }
        _ => resized(builder, vectors, to.bytes(), from.is_signed()),
    }
}

/// Floats as 32-bit integers, which saturate.
fn truncated(builder: &mut FunctionBuilder<'_>, vectors: Vec<Value>, from: Type) -> Vec<Value> {
    if from == Type::F32 {
        return each(vectors, |it| truncated_single(builder, it, Beyond::Nearest));
    }
    let zero = builder.func.dfg.constants.insert([0; 16].to_vec().into());
    let zero = builder.ins().vconst(types::I64X2, zero);
    // The code generator knows the two together, with this constant.
    let lower = each(vectors, |it| {
        let whole = builder.ins().fcvt_to_sint_sat(types::I64X2, it);
        builder.ins().snarrow(whole, zero)
    });
    let pairs = in_pairs(&lower);
    pairs
        .map(|[first, second]| lower_halves(builder, first, second))
        .collect()
}

/// What numbers beyond 32 bits become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beyond {
    /// The nearest integer.
    Nearest,
    /// The least one, or the nearest: whichever takes less.
    Least,
}

/// Floats of 32 bits as integers; those that are no numbers are zeros.
pub(super) fn truncated_single(
    builder: &mut FunctionBuilder<'_>,
    vector: Value,
    beyond: Beyond,
) -> Value {
    if !cfg!(target_arch = "x86_64") {
        return builder.ins().fcvt_to_sint_sat(types::I32X4, vector);
    }
    let is_number = builder.ins().fcmp(FloatCC::Equal, vector, vector);
    let is_number = bits_as(builder, types::F32X4, is_number);
    let numbers = builder.ins().band(vector, is_number);
    let whole = builder.ins().x86_cvtt2dq(types::I32X4, numbers);
    if beyond == Beyond::Least {
        return whole;
    }
    // The instruction makes the least number of what is too large, of which all bits are turned
    // then: two instructions fewer than the code generator takes to find that out from the result.
    let too_large = Constant::float(Type::F32, -f64::from(i32::MIN));
    let too_large = in_all_lanes(builder, too_large);
    let is_beyond = FloatCC::GreaterThanOrEqual;
    let is_too_large = builder.ins().fcmp(is_beyond, numbers, too_large);
    builder.ins().bxor(whole, is_too_large)
}

/// 32-bit integers as narrower ones, which saturate.
fn saturated(builder: &mut FunctionBuilder<'_>, vectors: Vec<Value>, to: Type) -> Vec<Value> {
    let mut vectors = vectors;
    let mut bytes = 4;
    while bytes > to.bytes() {
        bytes /= 2;
        // What 16 signed bits hold is saturated in the next step.
        let is_signed = to.is_signed() || bytes > to.bytes();
        let narrower = in_pairs(&vectors).map(|[first, second]| match is_signed {
            true => builder.ins().snarrow(first, second),
            false => builder.ins().unarrow(first, second),
        });
        vectors = narrower.collect();
    }
    vectors
}

fn each(vectors: Vec<Value>, convert: impl FnMut(Value) -> Value) -> Vec<Value> {
    vectors.into_iter().map(convert).collect()
}

/// `convert` of the first and the second half of each vector.
fn halves(
    builder: &mut FunctionBuilder<'_>,
    vectors: &[Value],
    convert: impl Fn(&mut FunctionBuilder<'_>, Value) -> Value,
) -> Vec<Value> {
    let mut converted = Vec::with_capacity(2 * vectors.len());
    for vector in vectors {
        let upper = rotated(builder, *vector, VECTOR_BYTES / 2);
        converted.extend([*vector, upper].map(|half| convert(builder, half)));
    }
    converted
}

fn demoted(builder: &mut FunctionBuilder<'_>, vectors: &[Value]) -> Vec<Value> {
    in_pairs(vectors)
        .map(|pair| {
            let [first, second] = pair.map(|it| builder.ins().fvdemote(it));
            lower_halves(builder, first, second)
        })
        .collect()
}

/// Whether each lane of type `ty` is anything but zero.
pub(super) fn is_not_zero(
    builder: &mut FunctionBuilder<'_>,
    vectors: Vec<Value>,
    ty: Type,
) -> Vec<Value> {
    let zero = in_all_lanes(builder, Constant::zero(ty));
    let not = strew_affine::CompareOp::Ne;
    each(vectors, |it| operation::compare(builder, not, it, zero, ty))
}

/// A `bool` that is the same in all lanes, as a mask of integers of so many bytes.
pub(super) fn splat_bool(builder: &mut FunctionBuilder<'_>, value: Value, bytes: u32) -> Value {
    let mask = builder.ins().bmask(int_of(bytes), value);
    builder.ins().splat(integers(bytes), mask)
}

/// The lane with this number.
pub(super) fn lane(
    builder: &mut FunctionBuilder<'_>,
    values: &InLanes,
    number: u32,
) -> Option<Value> {
    match values {
        InLanes::Same(value) => Some(*value),
        InLanes::Each(vectors) => extracted(builder, vectors, number),
        InLanes::Mask(vectors) => {
            let bits = extracted(builder, vectors, number)?;
            Some(builder.ins().icmp_imm_s(IntCC::NotEqual, bits, 0))
        }
    }
}

fn extracted(builder: &mut FunctionBuilder<'_>, vectors: &[Value], number: u32) -> Option<Value> {
    let each = VECTOR_BYTES / lane_bytes(builder, *vectors.first()?);
    let vector = vectors.get((number / each) as usize)?;
    Some(builder.ins().extractlane(*vector, (number % each) as u8))
}

/// `value`, `value + 1` and so on, of the integer type `ty`.
pub(super) fn counted(
    builder: &mut FunctionBuilder<'_>,
    value: Value,
    ty: Type,
    count: u32,
) -> Vec<Value> {
    let vector = operation::vector_of(ty);
    let first = match clif_type(ty) {
        types::I64 => value,
        narrow => builder.ins().ireduce(narrow, value),
    };
    let first = builder.ins().splat(vector, first);
    let behind = numbers(builder, ty, count).into_iter();
    behind.map(|it| builder.ins().iadd(first, it)).collect()
}

/// 0, 1 and so on, of the integer type `ty`.
pub(super) fn numbers(builder: &mut FunctionBuilder<'_>, ty: Type, count: u32) -> Vec<Value> {
    let each = per_vector(ty);
    (0..count / each)
        .map(|position| {
            let numbers = (position * each..(position + 1) * each).map(u64::from);
            let bytes =
                numbers.flat_map(|it| it.to_le_bytes().into_iter().take(ty.bytes() as usize));
            let bytes: Vec<u8> = bytes.collect();
            let numbers = builder.func.dfg.constants.insert(bytes.into());
            builder.ins().vconst(operation::vector_of(ty), numbers)
        })
        .collect()
}
