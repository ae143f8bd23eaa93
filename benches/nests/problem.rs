//! What a kernel gets.

use crate::data::{Elements, Problem, Value};
use crate::kernels::{Contents, Nest};
use crate::random::Random;
use strew::Compiler;
use strew_affine::visit::walk;
use strew_affine::{ArrayId, Kernel, Parameter, Type, Variable};

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// The problem of `nest` with these scalars, in their order.
///
/// # Errors
/// That the kernel is not understood, or a scalar is missing.
pub(crate) fn problem(nest: &Nest, scalars: &[f64]) -> Result<Problem, String> {
    let program = Compiler::new().compile(nest.function, nest.source);
    let program = program.map_err(|error| error.to_string())?;
    let parsed = program.parsed().kernel(Some(nest.function));
    let kernel = parsed.map_err(|error| error.to_string())?.kernel();
    let mut problem = Problem::new(nest.function, nest.source);
    let mut random = Random(SEED);
    let sizes = |wanted: Variable| {
        let names = kernel.scalars.iter();
        let mut sizes = names.zip(scalars);
        let found = sizes.find(|((id, _), _)| Variable::Param(*id) == wanted);
        found.map_or(0, |(_, size)| *size as i64)
    };
    let mut rest = scalars.iter();
    for param in &kernel.params {
        problem = match *param {
            Parameter::Scalar(scalar) => {
                let scalar = &kernel.scalars[scalar];
                let value = *rest.next().ok_or("a scalar is missing")?;
                let value = match scalar.ty {
                    Type::F64 => Value::Double(value),
                    _ => Value::Int64(value as i64),
                };
                problem.with(&scalar.name, value)
            }
            Parameter::Array(id) => {
                let array = &kernel.arrays[id];
                let extents = array.extents.iter().map(|it| it.evaluate(&sizes));
                let extents: Result<Vec<i64>, _> = extents.collect();
                let extents = extents.map_err(|error| error.to_string())?;
                let elements = elements(array.element, &extents, nest.contents, &mut random)?;
                match is_written(kernel, id) {
                    true => problem.output(&array.name, elements),
                    false => problem.input(&array.name, elements),
                }
            }
            Parameter::Record(_) => return Err("records are not known here".to_owned()),
        };
    }
    Ok(problem)
}

fn is_written(kernel: &Kernel, array: ArrayId) -> bool {
    let mut is_written = false;
    walk(&kernel.body, &mut |node, _| {
        is_written |= node.written_elements().any(|it| it.array == array);
    });
    is_written
}

fn elements(
    ty: Type,
    extents: &[i64],
    contents: Contents,
    random: &mut Random,
) -> Result<Elements, String> {
    let count = extents.iter().product::<i64>() as usize;
    match ty {
        Type::F64 => {
            let mut elements: Vec<f64> = (0..count).map(|_| fraction(random)).collect();
            if let (Contents::Dominant, [rows, columns]) = (contents, extents)
                && rows == columns
            {
                for at in 0..*rows as usize {
                    elements[at * (*columns as usize + 1)] += *rows as f64;
                }
            }
            Ok(elements.into())
        }
        Type::I32 => {
            let letters = (0..count).map(|_| (random.next() % 4) as i32);
            Ok(letters.collect::<Vec<_>>().into())
        }
        _ => Err(format!("arrays of {ty} are not known here")),
    }
}

/// From 0 to 1.
fn fraction(random: &mut Random) -> f64 {
    (random.next() >> 11) as f64 / (1u64 << 53) as f64
}
