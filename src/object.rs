//! Kernels as object files for C programs.

mod header;

use crate::error::Error;
use crate::stages::Scheduled;
use strew_affine::Kernel;
use strew_jit::{Oob, Target};
use strew_runtime::Mode;

/// How a kernel is made into an object: what a run is told when it starts an object has in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectSettings {
    /// How float results may depend on the order of combination.
    pub mode: Mode,
    /// What an index out of range does.
    pub oob: Oob,
    /// The processor that the code is for.
    pub target: Target,
}

/// A kernel for the linker, and how C calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The relocatable object file.
    pub code: Vec<u8>,
    /// The text of the header that declares its function.
    pub header: String,
}

impl Scheduled {
    /// Makes an object file with the function `strew_NAME`, and its header. To be linked with
    /// `strew-runtime` as a static library.
    ///
    /// # Errors
    /// Those of [`compile`](Self::compile), and a combiner that is a function of the host.
    pub fn object(&self, settings: &ObjectSettings) -> Result<Object, Error> {
        let (scheduled, _) = self.clone().fit_for(settings.oob)?;
        let (careful, careful_in_order) = scheduled.careful()?;
        let source = self.source();
        let position = |span| {
            let start = source.start(span);
            let number = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
            (number(start.line), number(start.column))
        };
        let symbol = symbol(self.kernel());
        let code = strew_jit::object(&strew_jit::Object {
            symbol: &symbol,
            scheduled: scheduled.verified(),
            careful: careful.verified(),
            careful_in_order,
            mode: settings.mode,
            oob: settings.oob,
            target: settings.target,
            position: &position,
        });
        Ok(Object {
            code: code.map_err(Error::Compile)?,
            header: header::header(self.written(), &symbol, settings),
        })
    }
}

/// The name of the function in an object: not that of the C function, so that a program can have
/// both.
fn symbol(kernel: &Kernel) -> String {
    format!("strew_{}", identifier(&kernel.name))
}

/// `name` as C can have it: those of the members of structures have a dot in them, and kernel text
/// knows other words.
fn identifier(name: &str) -> String {
    let fits = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let fitting: String = name
        .chars()
        .map(|it| if fits(it) { it } else { '_' })
        .collect();
    let is_word = WORDS.split_whitespace().any(|it| it == fitting);
    let begins_badly = fitting.starts_with(|it: char| it.is_ascii_digit());
    match (is_word, begins_badly) {
        (false, false) => fitting,
        (true, _) => format!("{fitting}_"),
        (_, true) => format!("_{fitting}"),
    }
}

/// The words of C and C++ that name nothing.
const WORDS: &str = "alignas alignof and asm auto bool break case catch char class const constexpr continue default delete do \
    double else enum explicit export extern false float for friend goto if inline int long mutable namespace new not operator or \
    private protected public register restrict return short signed sizeof static struct switch template this throw true try \
    typedef typename union unsigned using virtual void volatile while xor";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_those_of_c() {
        let names = ["n", "p.x", "double", "2d", "a_b"].map(identifier);
        assert_eq!(names, ["n", "p_x", "double_", "_2d", "a_b"]);
    }
}
