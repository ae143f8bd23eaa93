//! What tests of single statements share.

use strew_affine::verify::verify;
use strew_frontend::{Problem, compile};

/// The lines of the verified kernel that a function with these parameters and this body becomes.
pub(crate) fn lines(parameters: &str, code: &str) -> Vec<String> {
    let source = format!("void f({parameters}) {{ {code} }}");
    let (kernels, diagnostics) = compile(&source);
    // What C leaves undefined has a meaning here, which is tested too.
    let others = diagnostics
        .iter()
        .filter(|it| !matches!(it.problem, Problem::Undefined(_)));
    let messages: Vec<String> = others.map(|it| it.message()).collect();
    assert!(messages.is_empty(), "{code}\n{messages:#?}");
    let kernel = kernels[0].kernel.clone();
    let text = kernel.to_string();
    let verified = verify(kernel);
    assert!(verified.is_ok(), "{text}\n{verified:?}");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let last = lines.len() - 1;
    lines[1..last].iter().map(|it| (*it).to_owned()).collect()
}
