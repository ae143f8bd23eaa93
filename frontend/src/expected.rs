//! What the parser expected and what it found, in human words.

use crate::token::Token;
use strew_affine::Span;

/// What an expression can begin with.
const EXPRESSION: &[&str] = &[
    "identifier",
    "number",
    "string",
    "(",
    "+",
    "-",
    "~",
    "!",
    "*",
    "&",
    "++",
    "--",
    "sizeof",
];

/// What stands behind an operand.
const OPERATOR: &[&str] = &[
    "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "&&", "||", "==", "!=", "<", "<=", ">",
    ">=", "?", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--", "[",
    "(", ".", "->",
];

/// What a declaration can begin with.
const SPECIFIER: &[&str] = &[
    "type",
    "const",
    "restrict",
    "static",
    "inline",
    "type name",
    "struct",
    "enum",
    "typedef",
    "register",
    "extern",
    "_Static_assert",
    "#pragma strew declare reduction",
];

/// What a statement can begin with that is neither an expression nor a declaration.
const STATEMENT: &[&str] = &[
    "for",
    "while",
    "do",
    "if",
    "switch",
    "case",
    "default",
    "goto",
    "break",
    "continue",
    "return",
    ";",
    "{",
    "#pragma strew",
];

/// Each group of tokens has a name of its own, which says more than its members do, and a sign by
/// which it is known; the first group that is there hides its members from the later ones.
const GROUPS: [(&str, &str, &[&[&str]]); 4] = [
    ("a statement", "for", &[STATEMENT, EXPRESSION, SPECIFIER]),
    ("an expression", "number", &[EXPRESSION]),
    ("an operator", "<<", &[OPERATOR]),
    ("a type", "type", &[SPECIFIER]),
];

/// How many alternatives a message lists.
const LIMIT: usize = 5;

/// The parser's own list of expected tokens, grouped and cut.
pub(crate) fn in_words(expected: &[String]) -> Vec<String> {
    let mut rest: Vec<&str> = expected.iter().map(|it| it.trim_matches('"')).collect();
    rest.retain(|it| !matches!(*it, "invalid" | "refused"));
    let mut words = Vec::new();
    for (name, sign, members) in GROUPS {
        if rest.contains(&sign) {
            rest.retain(|it| !members.iter().any(|members| members.contains(it)));
            words.push(name.to_owned());
        }
    }
    // What closes or goes on is what is missing most often.
    let closing = [";", ")", "]", "}", ","];
    rest.sort_by_key(|it| {
        closing
            .iter()
            .position(|closing| closing == it)
            .unwrap_or(closing.len())
    });
    words.splice(0..0, rest.into_iter().map(in_word));
    words.truncate(LIMIT);
    words
}

fn in_word(token: &str) -> String {
    match token {
        "identifier" => "a name".to_owned(),
        "number" => "a number".to_owned(),
        other => format!("`{other}`"),
    }
}

/// What was found; `None` is the end of the file.
pub(crate) fn describe(found: Option<Token<'_>>, source: &str, span: Span) -> String {
    match found {
        // A brace that was put in where one is missing.
        _ if span.range().is_empty() => "the end of the block".to_owned(),
        None => "the end of the file".to_owned(),
        Some(Token::Pragma(_)) => "`#pragma strew`".to_owned(),
        Some(_) => {
            let text = source.get(span.range()).unwrap_or_default();
            format!("`{}`", text.chars().take(40).collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(expected: &[&str]) -> Vec<String> {
        let quoted: Vec<String> = expected.iter().map(|it| format!("\"{it}\"")).collect();
        in_words(&quoted)
    }

    #[test]
    fn groups_hide_their_members() {
        let expression = ["number", "identifier", "(", "-", "!", ")"];
        assert_eq!(words(&expression), ["`)`", "an expression"]);
        assert_eq!(words(&["<<", "+", "*", ";", "?"]), ["`;`", "an operator"]);
        assert_eq!(words(&["identifier"]), ["a name"]);
    }
}
