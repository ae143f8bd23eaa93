//! Between lexer and parser: which identifiers are names of types.
//!
//! `T * x;` is a declaration or a product, depending on what `T` is; C's grammar needs to know.
//! This stage follows the scopes and the `typedef`s of the token stream and turns every use of such
//! a name into a token of its own. A name is *declared* where a type stands in front of it, with
//! nothing but `*` and qualifiers in between, or a comma in a declaration.

use crate::preprocess::Spanned;
use crate::token::Token;
use std::collections::HashMap;

/// Turns identifiers that name types into [`Token::TypeName`].
pub(crate) fn mark(tokens: &mut [Spanned<'_>]) {
    let mut marker = Marker {
        names: HashMap::new(),
        scopes: vec![Scope::new(Braces::Block)],
        last_definition: None,
    };
    for index in 0..tokens.len() {
        let token = marker.token(tokens, index);
        if let Some((slot, _)) = tokens.get_mut(index) {
            *slot = token;
        }
    }
}

/// How many `*` and qualifiers may stand between a type and the name that it declares.
const LOOK_BACK: usize = 16;

struct Marker<'a> {
    /// Whether the name is a type, innermost scope last.
    names: HashMap<&'a str, Vec<bool>>,
    scopes: Vec<Scope<'a>>,
    /// The closing brace of a structure or an enumeration.
    last_definition: Option<usize>,
}

/// What a pair of braces holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Braces {
    /// Statements; also the file, and the parameters of a function.
    Block,
    /// Members or enumerators.
    Definition,
    /// Initial values.
    Values,
    /// The parameters of a function, to the end of its body.
    Parameters,
}

struct Scope<'a> {
    braces: Braces,
    declared: Vec<&'a str>,
    /// Open parentheses and brackets.
    open: usize,
    /// A `typedef` stands at the beginning of this declaration.
    is_typedef: bool,
    /// A type stands at the beginning of this declaration.
    is_declaration: bool,
}

impl Scope<'_> {
    fn new(braces: Braces) -> Self {
        Self {
            braces,
            declared: Vec::new(),
            open: 0,
            is_typedef: false,
            is_declaration: false,
        }
    }
}

impl<'a> Marker<'a> {
    fn token(&mut self, tokens: &[Spanned<'a>], index: usize) -> Token<'a> {
        let token = tokens.get(index).map_or(Token::Invalid, |(it, _)| *it);
        match token {
            Token::LeftBrace => self.open_braces(before(tokens, index)),
            Token::RightBrace => self.close_braces(index),
            Token::Semicolon => self.end_declaration(),
            Token::LeftParenthesis | Token::LeftBracket => self.open_bracket(),
            Token::RightParenthesis | Token::RightBracket => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.open = scope.open.saturating_sub(1);
                }
            }
            Token::Typedef => self.begin(|scope| scope.is_typedef = true),
            Token::Type(_) | Token::Struct | Token::Enum => {
                self.begin(|scope| scope.is_declaration = true);
            }
            Token::Identifier(name) => return self.identifier(name, tokens, index),
            _ => {}
        }
        token
    }

    fn begin(&mut self, mark: impl FnOnce(&mut Scope<'a>)) {
        if let Some(scope) = self.scopes.last_mut().filter(|scope| scope.open == 0) {
            mark(scope);
        }
    }

    fn open_bracket(&mut self) {
        let at_top = matches!(self.scopes.as_slice(), [file] if !file.is_typedef);
        if at_top {
            self.scopes.push(Scope::new(Braces::Parameters));
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.open += 1;
        }
    }

    fn open_braces(&mut self, before: &[Spanned<'a>]) {
        let is_definition = match before {
            [.., (Token::Struct | Token::Enum, _)] => true,
            [
                ..,
                (word, _),
                (Token::Identifier(_) | Token::TypeName(_), _),
            ] => {
                matches!(word, Token::Struct | Token::Enum)
            }
            _ => false,
        };
        let inside = self.scopes.last().map(|scope| scope.braces);
        let is_value = matches!(before, [.., (Token::Assign, _)])
            || inside == Some(Braces::Values)
            || self.is_in_body() && ends_with_type(before);
        let braces = if is_value {
            Braces::Values
        } else if is_definition {
            Braces::Definition
        } else {
            Braces::Block
        };
        self.scopes.push(Scope::new(braces));
    }

    /// Whether this is inside of the braces of a function.
    fn is_in_body(&self) -> bool {
        matches!(self.scopes.as_slice(), [_, parameters, _, ..] if parameters.braces == Braces::Parameters)
    }

    fn close_braces(&mut self, index: usize) {
        let Some(closed) = self.close_scope() else {
            return;
        };
        match closed {
            Braces::Values => return,
            Braces::Definition => {
                self.last_definition = Some(index);
                return;
            }
            Braces::Block | Braces::Parameters => {}
        }
        self.end_declaration();
        self.close_parameters();
    }

    fn close_parameters(&mut self) {
        if let [_, scope] = self.scopes.as_slice()
            && scope.braces == Braces::Parameters
        {
            self.close_scope();
            self.end_declaration();
        }
    }

    fn close_scope(&mut self) -> Option<Braces> {
        if self.scopes.len() < 2 {
            return None;
        }
        let scope = self.scopes.pop()?;
        for name in &scope.declared {
            self.names.get_mut(name).and_then(Vec::pop);
        }
        Some(scope.braces)
    }

    fn end_declaration(&mut self) {
        self.close_parameters();
        if let Some(scope) = self.scopes.last_mut() {
            // A bracket that is left open spoils one declaration only.
            scope.open = scope.open.min(1);
            scope.is_typedef = false;
            scope.is_declaration = false;
        }
    }

    fn identifier(&mut self, name: &'a str, tokens: &[Spanned<'a>], index: usize) -> Token<'a> {
        let plain = Token::Identifier(name);
        let previous = before(tokens, index).last().map(|(it, _)| *it);
        if matches!(
            previous,
            Some(Token::Dot | Token::Arrow | Token::Struct | Token::Enum | Token::Goto)
        ) {
            return plain;
        }
        let is_type = self.names.get(name).and_then(|it| it.last()) == Some(&true);
        let Some(scope) = self.scopes.last() else {
            return plain;
        };
        // `typedef double (*name)(double)`, `typedef double (*name)[4]`
        let begins = matches!(
            before(tokens, index),
            [.., (Token::LeftParenthesis, _), (Token::Star, _)]
        );
        let at_top = scope.open == usize::from(begins);
        let is_typedef = scope.is_typedef;
        if !is_typedef && !is_type {
            return plain;
        }
        if self.is_declared(tokens, index) {
            if is_type || (is_typedef && at_top) {
                self.declare(name, is_typedef && at_top);
            }
            return plain;
        }
        if !is_type {
            return plain;
        }
        self.begin(|scope| scope.is_declaration = true);
        Token::TypeName(name)
    }

    fn declare(&mut self, name: &'a str, is_type: bool) {
        // The names of members hide nothing.
        let scope = self.scopes.last_mut();
        if let Some(scope) = scope.filter(|it| it.braces != Braces::Definition) {
            scope.declared.push(name);
            self.names.entry(name).or_default().push(is_type);
        }
    }

    fn is_declared(&self, tokens: &[Spanned<'a>], index: usize) -> bool {
        let Some(scope) = self.scopes.last() else {
            return false;
        };
        let mut before = before(tokens, index);
        for _ in 0..LOOK_BACK {
            before = match before {
                [rest @ .., (Token::Star | Token::Const | Token::Restrict, _)] => rest,
                [rest @ .., (Token::LeftParenthesis, _)] if scope.is_typedef => rest,
                [
                    rest @ ..,
                    (Token::Static | Token::Register | Token::Typedef, _),
                ] => rest,
                [.., (Token::Type(_) | Token::TypeName(_), _)] => return true,
                [
                    ..,
                    (Token::Struct | Token::Enum, _),
                    (Token::Identifier(_), _),
                ] => return true,
                [.., (Token::Comma, _)] => {
                    return scope.open == 0 && scope.is_declaration;
                }
                [rest @ .., (Token::RightBrace, _)] => {
                    return self.last_definition == Some(rest.len());
                }
                _ => return false,
            };
        }
        false
    }
}

/// Whether the last tokens are those of a type in parentheses: what stands in the braces behind
/// them are values.
fn ends_with_type(before: &[Spanned<'_>]) -> bool {
    let [rest @ .., (Token::RightParenthesis, _)] = before else {
        return false;
    };
    let opening = rest
        .iter()
        .rposition(|(it, _)| *it == Token::LeftParenthesis);
    let first = opening.and_then(|it| rest.get(it + 1));
    first.is_some_and(|(it, _)| {
        matches!(
            it,
            Token::Type(_) | Token::TypeName(_) | Token::Struct | Token::Enum | Token::Const
        )
    })
}

fn before<'t, 'a>(tokens: &'t [Spanned<'a>], index: usize) -> &'t [Spanned<'a>] {
    tokens.get(..index).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Diagnostics;
    use crate::preprocess::preprocess;
    use crate::splice::Spliced;

    /// The marked names, each with the number of its token.
    fn marked(source: &str) -> Vec<String> {
        let spliced = Spliced::new(source);
        let mut tokens = preprocess(&spliced, &mut Diagnostics::default());
        mark(&mut tokens);
        let names = tokens.iter().enumerate();
        names
            .filter_map(|(index, (token, _))| match token {
                Token::TypeName(name) => Some(format!("{name}{index}")),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn names_of_types_are_marked_where_they_are_used() {
        assert_eq!(
            marked("typedef int T; T a = (T)b + sizeof(T);"),
            ["T4", "T8", "T14"]
        );
        assert_eq!(
            marked("typedef struct { int x; } P, *Q; P p; Q q;"),
            ["P12", "Q15"]
        );
        assert_eq!(
            marked("typedef struct p P; struct P q; const P *a;"),
            ["P10"]
        );
        assert_eq!(
            marked("typedef int T; typedef T U; void f(U a, T *b);"),
            ["T5", "U11", "T14"]
        );
        assert_eq!(
            marked("typedef double (*T)(double x, int n), U; T a; U b;"),
            ["T16", "U19"]
        );
        assert_eq!(marked("typedef unsigned long I; for (I i = 0;;) ;"), ["I7"]);
    }

    #[test]
    fn a_variable_may_hide_the_name_of_a_type() {
        assert_eq!(
            marked("typedef int T; void f(int T) { T = 1; } T a;"),
            ["T16"]
        );
        assert_eq!(
            marked("typedef int T; void f(void) { int a, T; T * a; { T b; } } T a;"),
            ["T25"]
        );
        assert_eq!(
            marked("typedef int T; void f(void) { T T = 1; T++; } void g(T a);"),
            ["T10", "T22"]
        );
        assert_eq!(
            marked("typedef int T; struct p { int T; T x; }; T a;"),
            ["T10", "T15"]
        );
    }

    #[test]
    fn values_of_a_compound_literal_declare_nothing() {
        assert_eq!(
            marked(
                "typedef struct { int x; } T; void f(void) { T a = (T){1}, b = g((const T){.x = 2}, 3); T c; }"
            ),
            ["T15", "T19", "T31", "T43"]
        );
    }

    #[test]
    fn a_local_type_ends_with_its_block() {
        assert_eq!(
            marked("void f(void) { { typedef int T; T a; } T * b; }"),
            ["T11"]
        );
    }

    #[test]
    fn members_and_tags_have_name_spaces_of_their_own() {
        assert_eq!(
            marked("typedef int T; void f(void) { a.T = b->T; struct T x; goto T; }"),
            [""; 0]
        );
    }
}
