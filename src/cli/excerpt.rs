//! What the user's data say, as messages quote it: a cell of a table may be as long as the file.

/// So many characters are shown.
const SHOWN: usize = 40;

/// The beginning of `text` between backticks, in one line; what is left out is told by an ellipsis.
pub(crate) fn quoted(text: &str) -> String {
    let shown = text.chars().take(SHOWN);
    let one_line = |it: char| match it.is_control() {
        true => it.escape_default().to_string(),
        false => it.to_string(),
    };
    let shown: String = shown.map(one_line).collect();
    let rest = match text.chars().nth(SHOWN) {
        Some(_) => "…",
        None => "",
    };
    format!("`{shown}{rest}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(quoted("-3.5"), "`-3.5`");
        assert_eq!(quoted("2\n1\t"), "`2\\n1\\t`");
        let whole = "é".repeat(SHOWN);
        assert_eq!(quoted(&whole), format!("`{whole}`"));
        assert_eq!(quoted(&(whole.clone() + "x")), format!("`{whole}…`"));
    }
}
