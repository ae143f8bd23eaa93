//! Names as a script has them: plain where they are words, between backquotes where they are not.

use std::fmt;

/// A name, to be printed as it is read.
pub(crate) struct Written<'n>(pub(crate) &'n str);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match is_word(self.0) {
            true => f.write_str(self.0),
            false => write!(f, "`{}`", self.0),
        }
    }
}

/// Several of them.
pub(crate) struct WrittenAll<'n>(pub(crate) &'n [String]);

impl fmt::Display for WrittenAll<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, name) in self.0.iter().enumerate() {
            let separator = if number == 0 { "" } else { ", " };
            write!(f, "{separator}{}", Written(name))?;
        }
        Ok(())
    }
}

fn is_word(name: &str) -> bool {
    let is_letter = |it: char| it.is_ascii_alphabetic() || it == '_';
    name.starts_with(is_letter) && name.chars().all(|it| is_letter(it) || it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_word_stands_between_backquotes() {
        for (name, expected) in [
            ("i_2", "i_2"),
            ("by", "by"),
            ("L x", "`L x`"),
            ("p.h", "`p.h`"),
            ("2", "`2`"),
            ("ä", "`ä`"),
        ] {
            assert_eq!(Written(name).to_string(), expected);
        }
    }
}
