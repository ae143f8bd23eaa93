//! `__attribute__((…))` and `_Alignas(…)`: most of them change nothing that a kernel computes.

use super::Walker;
use crate::preprocess::Spanned;
use crate::problem::Unsupported;
use crate::token::Token;
use strew_affine::Span;

/// What the attributes say about speed, warnings and linking; sorted.
const HARMLESS: [&str; 47] = [
    "access",
    "alloc_size",
    "always_inline",
    "artificial",
    "assume_aligned",
    "availability",
    "cold",
    "const",
    "deprecated",
    "diagnose_if",
    "fallthrough",
    "flatten",
    "format",
    "gnu_inline",
    "hot",
    "leaf",
    "malloc",
    "may_alias",
    "maybe_unused",
    "minsize",
    "no_instrument_function",
    "no_sanitize",
    "no_sanitize_address",
    "no_sanitize_undefined",
    "no_stack_protector",
    "noalias",
    "noclone",
    "nodebug",
    "noduplicate",
    "noescape",
    "noinline",
    "noipa",
    "nonnull",
    "nonstring",
    "noplt",
    "noreturn",
    "nothrow",
    "optimize",
    "optnone",
    "pure",
    "returns_nonnull",
    "target",
    "target_clones",
    "unused",
    "used",
    "visibility",
    "warn_unused_result",
];

impl<'a> Walker<'_, 'a, '_> {
    /// `__attribute__` is behind, its parentheses are next.
    pub(super) fn attributes(&mut self, span: Span) {
        let count = self.bracketed();
        let list = self.tokens.get(self.position..self.position + count);
        let is_layout = self.is_about_layout();
        let names = list.map(names).unwrap_or_default();
        let end = self.skip(count, span);
        for (name, position) in names {
            let name = name.trim_matches('_');
            let is_harmless =
                HARMLESS.binary_search(&name).is_ok() || name == "aligned" && !is_layout;
            if !is_harmless {
                let name = name.to_owned();
                self.report(Unsupported::Attribute { name }, position);
            }
        }
        if count == 0 {
            self.refuse_word("__attribute__", span.to(end));
        }
    }

    /// `_Alignas` is behind, its parentheses are next.
    pub(super) fn alignment(&mut self, span: Span) {
        let is_layout = self.is_about_layout();
        let end = self.skip_parentheses(span);
        if is_layout {
            self.refuse_word("_Alignas", span.to(end));
        }
    }

    /// Whether it stands at a structure or inside of one, where an alignment moves members.
    fn is_about_layout(&self) -> bool {
        self.braces.last() == Some(&true)
            || self.previous() == Some(Token::Struct)
            || self.structure_end == self.output.len()
    }
}

/// The names of the attributes between two pairs of parentheses, and where each stands with its
/// arguments.
fn names<'a>(list: &[Spanned<'a>]) -> Vec<(&'a str, Span)> {
    let mut names: Vec<(&str, Span)> = Vec::new();
    let (mut depth, mut is_first) = (0_usize, true);
    for (token, span) in list {
        match token {
            Token::LeftParenthesis => depth += 1,
            Token::RightParenthesis => depth = depth.saturating_sub(1),
            Token::Comma if depth == 2 => is_first = true,
            _ if depth == 2 && is_first => {
                is_first = false;
                names.push((word(*token), *span));
            }
            _ => {}
        }
        if let Some((_, whole)) = names.last_mut().filter(|_| depth >= 2 && !is_first) {
            *whole = whole.to(*span);
        }
    }
    names
}

fn word(token: Token<'_>) -> &str {
    match token {
        Token::Identifier(name) | Token::TypeName(name) | Token::Reserved(name) => name,
        Token::Const => "const",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_harmless_are_sorted() {
        assert!(HARMLESS.is_sorted());
    }
}
