//! What of a file its kernels need: the items at the top that they mention, directly or through
//! others.
//!
//! A program holds its kernels beside `main`, files that are read and results that are printed,
//! none of which is in the language. Nothing is asked of what no kernel mentions.

use crate::parse::Items;
use crate::preprocess::Spanned;
use crate::token::Token;
use std::collections::HashMap;

/// For the sake of which functions a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose<'n> {
    /// All of them.
    Reading,
    /// All that may be kernels: `main`, where a program begins, is none beside others.
    Kernels,
    /// This one; all that may be kernels where there is no function of that name.
    Kernel(&'n str),
}

/// The tokens of the items that are needed, in their order.
pub(crate) fn needed<'a>(tokens: Vec<Spanned<'a>>, purpose: Purpose<'_>) -> Vec<Spanned<'a>> {
    let items: Vec<_> = Items(&tokens).collect();
    let is_function = |name: &str| items.iter().any(|it| function(it) == Some(name));
    let purpose = match purpose {
        Purpose::Kernel(name) if !is_function(name) => Purpose::Kernels,
        other => other,
    };
    let is_asked_for = |item: &[Spanned<'_>]| match purpose {
        Purpose::Reading => true,
        Purpose::Kernels => function(item).is_some_and(|it| it != MAIN),
        Purpose::Kernel(name) => function(item) == Some(name),
    };
    let is_whole = match purpose {
        Purpose::Reading => true,
        Purpose::Kernels => !is_function(MAIN),
        Purpose::Kernel(_) => false,
    };
    if is_whole || !items.iter().any(|it| is_asked_for(it)) {
        return tokens;
    }
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut waiting = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let names = names(item);
        // What has no name, as an assertion, holds for all that is read.
        if names.is_empty() || is_asked_for(item) {
            waiting.push(index);
        }
        for name in names {
            by_name.entry(name).or_default().push(index);
        }
    }
    let mut is_needed = vec![false; items.len()];
    while let Some(index) = waiting.pop() {
        is_needed[index] = true;
        for name in items[index].iter().filter_map(identifier) {
            waiting.extend(by_name.remove(name).unwrap_or_default());
        }
    }
    let kept = items.iter().zip(is_needed).filter(|(_, it)| *it);
    kept.flat_map(|(item, _)| item.iter().copied()).collect()
}

/// The function that a program begins with.
const MAIN: &str = "main";

fn identifier<'a>((token, _): &Spanned<'a>) -> Option<&'a str> {
    match token {
        Token::Identifier(name) | Token::TypeName(name) => Some(name),
        _ => None,
    }
}

/// The name of the function that the item defines, if it defines any: the last one in front of
/// parentheses, behind attributes and what it returns.
fn function<'a>(item: &[Spanned<'a>]) -> Option<&'a str> {
    let brace = item.iter().position(|(it, _)| *it == Token::LeftBrace)?;
    let head = item.get(..brace)?;
    let is_body = matches!(head, [.., (Token::RightParenthesis, _)]);
    let called = outside_of_brackets(head).filter(|it| it.next == Some(Token::LeftParenthesis));
    called.last().map(|it| it.name).filter(|_| is_body)
}

/// A name, and the token behind it.
struct Named<'a> {
    name: &'a str,
    next: Option<Token<'a>>,
}

/// The names in `tokens` around which no parentheses and no brackets are open, nor, but in an
/// enumeration, braces.
fn outside_of_brackets<'t, 'a>(
    tokens: &'t [Spanned<'a>],
) -> impl Iterator<Item = Named<'a>> + use<'t, 'a> {
    let has_enumerators = tokens.iter().any(|(it, _)| *it == Token::Enum);
    let mut depth = 0_usize;
    tokens.iter().enumerate().filter_map(move |(index, token)| {
        match token.0 {
            Token::LeftBrace | Token::RightBrace if has_enumerators => {}
            it if it.opens() => depth += 1,
            it if it.closes() => depth = depth.saturating_sub(1),
            _ => {}
        }
        let next = tokens.get(index + 1).map(|(it, _)| *it);
        let name = identifier(token).filter(|_| depth == 0)?;
        Some(Named { name, next })
    })
}

/// The names by which others can mention the item. A name in front of another one, or of `*`, is
/// the type of what is declared.
fn names<'a>(item: &[Spanned<'a>]) -> Vec<&'a str> {
    if matches!(item, [(Token::DeclareReduction, _), ..]) {
        // Statements are reductions by it without a mention.
        return Vec::new();
    }
    if let Some(name) = function(item) {
        return vec![name];
    }
    let is_type = |it: &Named<'_>| {
        let next = it.next;
        matches!(
            next,
            Some(Token::Identifier(_) | Token::TypeName(_) | Token::Star)
        )
    };
    let declared = outside_of_brackets(item).filter(|it| !is_type(it));
    declared.map(|it| it.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Diagnostics;
    use crate::preprocess::preprocess;
    use crate::splice::Spliced;

    const PROGRAM: &str = "
        typedef struct { double x; } Point;
        enum { LOW, HIGH = 3 };
        struct log { FILE *file; };
        typedef double real;
        static real buffer[100];
        static real weight(real x) { return x * HIGH; }
        real scale(real x);
        static int by_key(const void *a, const void *b) { return 0; }
        void hist(int n, Point *p, real *h) { h[0] += weight(scale(p->x)); }
        void read(struct log *log) { fread(buffer, 1, 100, log->file); }
        int main(void) { return 0; }";

    fn kept(purpose: Purpose<'_>) -> Vec<String> {
        let spliced = Spliced::new(PROGRAM);
        let tokens = preprocess(&spliced, &mut Diagnostics::default());
        let kept = needed(tokens, purpose);
        let items = Items(&kept).map(|it| names(it).join(" "));
        items.collect()
    }

    #[test]
    fn a_kernel_needs_what_it_mentions_and_what_that_does() {
        let found = kept(Purpose::Kernel("hist"));
        assert_eq!(
            found,
            ["Point", "LOW HIGH", "real", "weight", "scale", "hist"]
        );
        let found = kept(Purpose::Kernel("read"));
        assert_eq!(found, ["log", "real", "buffer", "read"]);
    }

    #[test]
    fn where_a_program_begins_is_no_kernel() {
        let found = kept(Purpose::Kernels);
        assert_eq!(found.len(), 10);
        assert!(!found.contains(&"main".to_owned()));
        assert_eq!(kept(Purpose::Reading).len(), 11);
    }

    #[test]
    fn who_asks_for_what_is_not_there_gets_all_kernels() {
        assert_eq!(kept(Purpose::Kernel("histogram")).len(), 10);
    }
}
