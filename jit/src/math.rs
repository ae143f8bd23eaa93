use strew_affine::{Function, Math};
use strew_runtime::math;

/// The platform's math library, which generated code calls: an interpreter that computes with it
/// gives the same bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlatformMath;

impl Math for PlatformMath {
    fn double(&self, function: Function, operands: &[f64]) -> Option<f64> {
        code(function)?.double.call(operands)
    }

    fn single(&self, function: Function, operands: &[f32]) -> Option<f32> {
        code(function)?.single.call(operands)
    }
}

/// The platform's code of `function`. It has all of them.
pub(crate) fn code(function: Function) -> Option<math::Function> {
    math::function(function.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew_affine::StdMath;

    /// The functions that IEEE 754 and C define to the last bit, and that are asked for.
    const EXACT: [Function; 15] = [
        Function::Sqrt,
        Function::Logb,
        Function::Fmod,
        Function::Remainder,
        Function::Fma,
        Function::Fdim,
        Function::Fabs,
        Function::Floor,
        Function::Ceil,
        Function::Trunc,
        Function::Round,
        Function::Rint,
        Function::Nearbyint,
        Function::Copysign,
        Function::Nextafter,
    ];

    /// Bits that often give numbers of about one size, where quotients are small.
    fn bits(random: &mut u64) -> u64 {
        *random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bits = *random ^ (*random >> 29);
        match bits % 3 {
            0 => bits,
            1 => bits & 0x8000_0000_8fff_ffff,
            _ => bits & 0xbfff_0000_bfff_0000 | 0x3ff0_0000_3f80_0000,
        }
    }

    #[test]
    fn what_is_defined_to_the_last_bit_is_the_same_in_rust() {
        let mut random = 1;
        for _ in 0..20_000 {
            let operands = [0; 3].map(|_| bits(&mut random));
            let doubles = operands.map(f64::from_bits);
            let singles = operands.map(|it| f32::from_bits(it as u32));
            for function in EXACT {
                let count = function.operand_count();
                let both = [&StdMath as &dyn Math, &PlatformMath];
                let [left, right] = both.map(|it| it.double(function, &doubles[..count]));
                let is_nan = |it: Option<f64>| it.is_some_and(f64::is_nan);
                let is_same = left.map(f64::to_bits) == right.map(f64::to_bits);
                let are_nans = is_nan(left) && is_nan(right);
                assert!(
                    is_same || are_nans,
                    "{function}{doubles:?} {left:?} {right:?}"
                );
                let [left, right] = both.map(|it| it.single(function, &singles[..count]));
                let is_nan = |it: Option<f32>| it.is_some_and(f32::is_nan);
                let is_same = left.map(f32::to_bits) == right.map(f32::to_bits);
                let are_nans = is_nan(left) && is_nan(right);
                assert!(
                    is_same || are_nans,
                    "{function}{singles:?} {left:?} {right:?}"
                );
            }
        }
    }

    #[test]
    fn the_platform_computes_every_function_on_as_many_operands_as_it_takes() {
        for function in Function::ALL.iter().copied() {
            let count = function.operand_count();
            let double = PlatformMath.double(function, &vec![0.5; count]);
            let single = PlatformMath.single(function, &vec![0.5; count]);
            assert!(double.is_some() && single.is_some(), "{function}");
            assert_eq!(PlatformMath.double(function, &vec![0.5; count + 1]), None);
        }
    }
}
