//! The C compiler that strew is set beside.

use std::process::Command;

/// A program, and the words that stand behind it in `CC`: its first options, or the compiler that
/// it calls.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Compiler {
    words: Vec<String>,
}

impl Compiler {
    /// What `CC` names, else `cc`.
    pub(super) fn from_environment() -> Self {
        let named = std::env::var_os("CC").unwrap_or_default();
        Self::named(&named.to_string_lossy())
    }

    /// `text` divided at blanks, as make divides it.
    fn named(text: &str) -> Self {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        match words.is_empty() {
            true => Self::named("cc"),
            false => Self { words },
        }
    }

    /// What starts it.
    pub(super) fn command(&self) -> Command {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().map_or("cc", String::as_str));
        command.args(words);
        command
    }
}

impl std::fmt::Display for Compiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`", self.words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_may_have_options_and_others_may_call_it() {
        for (text, shown, program, options) in [
            ("", "`cc`", "cc", &[][..]),
            ("clang", "`clang`", "clang", &[]),
            (
                " ccache  gcc -m64 ",
                "`ccache gcc -m64`",
                "ccache",
                &["gcc", "-m64"],
            ),
        ] {
            let compiler = Compiler::named(text);
            assert_eq!(compiler.to_string(), shown);
            let command = compiler.command();
            assert_eq!(command.get_program(), program);
            assert!(command.get_args().eq(options.iter().copied()));
        }
    }
}
