//! What of a file its kernels need: the items at the top that they mention, directly or through
//! others.
//!
//! A program holds its kernels beside `main`, files that are read and results that are printed,
//! none of which is in the language. Nothing is asked of what no kernel mentions.

use crate::parse::Items;
use crate::preprocess::Spanned;
use crate::token::Token;
use std::collections::{HashMap, HashSet};

/// For the sake of which functions a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading<'n> {
    /// All of them.
    All,
    /// All that may be kernels: `main`, where a program begins, is none beside others.
    Kernels,
    /// This one; all that may be kernels where there is no function of that name.
    Kernel(&'n str),
}

/// The tokens of the items that are needed, in their order.
pub(crate) fn needed<'a>(tokens: Vec<Spanned<'a>>, reading: Reading<'_>) -> Vec<Spanned<'a>> {
    let items: Vec<_> = Items(&tokens).collect();
    let is_function = |name: &str| items.iter().any(|it| function(it) == Some(name));
    let reading = match reading {
        Reading::Kernel(name) if !is_function(name) => Reading::Kernels,
        other => other,
    };
    let is_asked_for = |item: &[Spanned<'_>]| match reading {
        Reading::All => true,
        Reading::Kernels => function(item).is_some_and(|it| it != MAIN),
        Reading::Kernel(name) => function(item) == Some(name),
    };
    let is_whole = match reading {
        Reading::All => true,
        Reading::Kernels => !is_function(MAIN),
        Reading::Kernel(_) => false,
    };
    if is_whole || !items.iter().any(|it| is_asked_for(it)) {
        return tokens;
    }
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut waiting = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let names = names(item);
        if is_about_all(item) || is_asked_for(item) {
            waiting.push(index);
        }
        for name in names {
            by_name.entry(name).or_default().push(index);
        }
    }
    let mut is_needed = vec![false; items.len()];
    while let Some(index) = waiting.pop() {
        is_needed[index] = true;
        for name in mentions(items[index]) {
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

/// Whether the item, which nobody mentions, matters to all that is read.
fn is_about_all(item: &[Spanned<'_>]) -> bool {
    // Statements are reductions by what is declared so. In the old style, parameters are declared
    // in items of their own, and braces behind them are the body.
    matches!(
        item,
        [
            (
                Token::StaticAssert | Token::DeclareReduction | Token::LeftBrace,
                _
            ),
            ..
        ]
    )
}

/// The names in the item that may be those of others: not those of members, nor of what it has
/// declared itself in the blocks around, its parameters and variables, but where they are called.
fn mentions<'a>(item: &[Spanned<'a>]) -> Vec<&'a str> {
    let mut own: Vec<HashSet<&str>> = vec![HashSet::new()];
    let mut names = Vec::new();
    for index in 0..item.len() {
        let token = |index: usize| item.get(index).map(|(it, _)| *it);
        match token(index) {
            Some(Token::LeftBrace) => own.push(HashSet::new()),
            Some(Token::RightBrace) if own.len() > 1 => drop(own.pop()),
            _ => {}
        }
        let Some(name) = identifier(&item[index]) else {
            continue;
        };
        if let Some(own) = own.last_mut().filter(|_| is_declared(item, index)) {
            own.insert(name);
        }
        let before = index.checked_sub(1).and_then(token);
        let is_member = matches!(before, Some(Token::Dot | Token::Arrow));
        let is_called = token(index + 1) == Some(Token::LeftParenthesis);
        let is_type = matches!(token(index + 1), Some(Token::Identifier(_)));
        let is_own = own.iter().any(|it| it.contains(name)) && !is_called && !is_type;
        if !is_member && !is_own {
            names.push(name);
        }
    }
    names
}

/// Whether a word for a type stands in front of the name at `index`, with nothing but `*` and
/// qualifiers in between, or it follows such a name behind a comma.
fn is_declared(item: &[Spanned<'_>], index: usize) -> bool {
    let mut before = item[..index].iter().rev().map(|(it, _)| *it);
    let is_name = |it: Option<Token<'_>>| matches!(it, Some(Token::Identifier(_)));
    if is_name(before.clone().next()) {
        return true;
    }
    let word = before.find(|it| !matches!(it, Token::Star | Token::Const | Token::Restrict));
    match word {
        Some(Token::Type(_)) => true,
        Some(Token::Comma) => {
            // `int i = 0, j`: what is declared in one statement.
            let statement = item[..index]
                .iter()
                .rposition(|(it, _)| ends_statement(*it));
            let statement = &item[statement.map_or(0, |it| it + 1)..index];
            let is_type = |(it, _): &Spanned<'_>| matches!(it, Token::Type(_) | Token::Const);
            let depth = |tokens: &[Spanned<'_>]| {
                let opened = tokens.iter().filter(|(it, _)| it.opens()).count();
                let closed = tokens.iter().filter(|(it, _)| it.closes()).count();
                opened.saturating_sub(closed)
            };
            statement.first().is_some_and(is_type) && depth(statement) == 0
        }
        _ => false,
    }
}

fn ends_statement(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Semicolon | Token::LeftBrace | Token::RightBrace
    )
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
/// the type of what is declared; `(*name` is a pointer.
fn names<'a>(item: &[Spanned<'a>]) -> Vec<&'a str> {
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
    let pointers = item.windows(3).filter_map(|it| match it {
        [(Token::LeftParenthesis, _), (Token::Star, _), name] => identifier(name),
        _ => None,
    });
    declared.map(|it| it.name).chain(pointers).collect()
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
        static int n;
        typedef int (*compare)(const void *, const void *);
        typedef union { int whole; float part; } either;
        void x(FILE *to) { fprintf(to, \"x\"); }
        int main(void) { return 0; }";

    fn kept(reading: Reading<'_>) -> Vec<String> {
        kept_of(PROGRAM, reading)
    }

    fn kept_of(program: &str, reading: Reading<'_>) -> Vec<String> {
        let spliced = Spliced::new(program);
        let tokens = preprocess(&spliced, &mut Diagnostics::default());
        let kept = needed(tokens, reading);
        let items = Items(&kept).map(|it| names(it).join(" "));
        items.collect()
    }

    #[test]
    fn a_kernel_needs_what_it_mentions_and_what_that_does() {
        let found = kept(Reading::Kernel("hist"));
        assert_eq!(
            found,
            ["Point", "LOW HIGH", "real", "weight", "scale", "hist"]
        );
        let found = kept(Reading::Kernel("read"));
        assert_eq!(found, ["log", "real", "buffer", "read"]);
    }

    /// What a block declares is its own in there alone.
    #[test]
    fn names_are_those_of_others_where_no_block_around_declares_them() {
        for (body, is_needed) in [
            ("y[d[0]] = 1; { int d[2] = {3, 4}; y[d[1]] = 2; }", true),
            ("{ int d[2] = {3, 4}; y[d[1]] = 2; } y[d[0]] = 1;", true),
            ("int d[2] = {3, 4}; { y[d[1]] = 2; } y[d[0]] = 1;", false),
            (
                "{ int d[2] = {3, 4}; { y[d[1]] = 2; } y[d[0]] = 1; }",
                false,
            ),
        ] {
            let program = format!(
                "static const int d[2] = {{0, 1}}; void f(double y[9]) {{ {body} }} int main(void) {{ return 0; }}"
            );
            let found = kept_of(&program, Reading::Kernel("f"));
            assert_eq!(found.contains(&"d".to_owned()), is_needed, "{body}");
        }
    }

    #[test]
    fn where_a_program_begins_is_no_kernel() {
        let found = kept(Reading::Kernels);
        assert_eq!(found.len(), 11);
        assert!(!found.contains(&"main".to_owned()));
        assert_eq!(kept(Reading::All).len(), 15);
    }

    #[test]
    fn who_asks_for_what_is_not_there_gets_all_kernels() {
        assert_eq!(kept(Reading::Kernel("histogram")).len(), 11);
    }
}
