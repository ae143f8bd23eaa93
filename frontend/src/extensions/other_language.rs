//! C++, the attributes of C23, and what compilers for graphics processors add: each construct is
//! named once.
//!
//! All of these words are good names in C, so that what stands beside them decides.

use super::Walker;
use crate::problem::{Unsupported, UnsupportedDeclaration, UnsupportedFunction};
use crate::token::{Token, TypeWord};
use strew_affine::Span;

/// How many tokens a list of template arguments may have.
const LONGEST_LIST: usize = 50;

impl<'a> Walker<'_, 'a, '_> {
    /// Whether the token that is behind began something that no C is; it was dealt with then.
    pub(super) fn other_language(&mut self, token: Token<'a>, span: Span) -> bool {
        match token {
            Token::Identifier(word) => self.word_of_other_language(word, span),
            Token::LeftBracket if self.peek(0) == Some(Token::LeftBracket) => self.attribute(span),
            Token::LeftBracket => self.lambda(span),
            Token::Ampersand => self.reference(span),
            Token::Extern if matches!(self.peek(0), Some(Token::Text(_))) => {
                self.refuse_word("extern \"C\"", span);
                self.position += 1;
                self.without_brackets(Token::LeftBrace);
                true
            }
            Token::For => self.loop_over_range(span),
            _ => false,
        }
    }

    fn word_of_other_language(&mut self, word: &'a str, span: Span) -> bool {
        let next = self.peek(0);
        let is_name = matches!(next, Some(Token::Identifier(_)));
        if next == Some(Token::Colon) && self.peek(1) == Some(Token::Colon) {
            return self.qualified(word, span);
        }
        match word {
            "template" if next == Some(Token::Less) => {
                self.refuse_word(word, span);
                self.skip_list();
            }
            "class" | "namespace" if self.braces.is_empty() && self.begins() && is_name => {
                self.take_out_function(|it| it == Token::Semicolon);
                self.refuse_word(word, span);
            }
            "using" if self.begins() && is_name => {
                self.skip_statement();
                self.refuse_word(word, span);
            }
            "constexpr" if matches!(next, Some(Token::Type(_) | Token::Const | Token::Static)) => {
                self.refuse_word(word, span);
                self.output.push((Token::Const, span));
            }
            "nullptr" => self.refuse_expression(word, span),
            "new" if matches!(next, Some(Token::Type(_) | Token::Identifier(_))) => {
                self.position += 1;
                let span = span.to(self.skip_parentheses(span));
                self.refuse_expression(word, span);
            }
            "delete" if self.begins() && (is_name || next == Some(Token::LeftBracket)) => {
                self.skip_statement();
                self.refuse_word(word, span);
            }
            "static_cast" | "reinterpret_cast" | "const_cast" if next == Some(Token::Less) => {
                self.refuse_word(word, span);
                self.skip_list();
            }
            "__global__" | "__device__" | "__host__" | "__shared__" | "__kernel" | "__global"
            | "__local" => self.refuse_word(word, span),
            _ if next == Some(Token::Less) && matches!(self.peek(1), Some(Token::Type(_))) => {
                self.report(Unsupported::Word(format!("{word}<…>")), span);
                self.stand_in(word, span);
            }
            _ => return false,
        }
        true
    }

    /// Leaves out what there is up to a semicolon.
    fn skip_statement(&mut self) {
        while !matches!(self.peek(0), None | Some(Token::Semicolon)) {
            self.position += 1;
        }
    }

    /// Whether a statement or a declaration begins here.
    fn begins(&self) -> bool {
        matches!(
            self.previous(),
            None | Some(Token::Semicolon | Token::LeftBrace | Token::RightBrace | Token::Colon)
        )
    }

    /// `std::name` stands as `name` where it is called, and as a type where something is declared.
    fn qualified(&mut self, first: &str, span: Span) -> bool {
        let (mut name, mut last, mut end) = (first.to_owned(), None, span);
        while self.peek(0) == Some(Token::Colon) && self.peek(1) == Some(Token::Colon) {
            let Some(Token::Identifier(part)) = self.peek(2) else {
                break;
            };
            name = format!("{name}::{part}");
            last = Some(part);
            end = self.skip(3, end);
        }
        let Some(last) = last else { return false };
        self.report(Unsupported::Word(name), span.to(end));
        self.stand_in(last, span.to(end));
        true
    }

    /// Puts something in the place of a name of C++, whose arguments in `<…>` are next.
    fn stand_in(&mut self, name: &'a str, span: Span) {
        self.skip_list();
        let token = match self.peek(0) {
            Some(Token::Identifier(_) | Token::Ampersand | Token::Star) => {
                Token::Type(TypeWord::Double)
            }
            _ => Token::Identifier(name),
        };
        self.position += usize::from(self.peek(0) == Some(Token::Ampersand));
        self.output.push((token, span));
        if let (Some(name), Some(Token::LeftParenthesis)) = (self.peek(0), self.peek(1))
            && !self.braces.is_empty()
        {
            // `std::vector<double> x(n);` stands as an array.
            let end = self.skip(1, span);
            self.skip_parentheses(end);
            let one = Token::Literal(strew_affine::Value::i64(1));
            let array = [name, Token::LeftBracket, one, Token::RightBracket];
            self.output.extend(array.map(|it| (it, end)));
        }
    }

    /// Leaves out `<…>`.
    fn skip_list(&mut self) {
        let mut depth = 0_i32;
        for count in 0..LONGEST_LIST {
            match self.peek(count) {
                Some(Token::Less) => depth += 1,
                Some(Token::Greater) => depth -= 1,
                Some(Token::ShiftRight) => depth -= 2,
                None | Some(Token::Semicolon | Token::LeftBrace | Token::RightBrace) => return,
                Some(_) => {}
            }
            if depth <= 0 {
                self.position += if count > 0 { count + 1 } else { 0 };
                return;
            }
        }
    }

    /// `[[name]]`
    fn attribute(&mut self, span: Span) -> bool {
        let is_element = matches!(
            self.previous(),
            Some(Token::Identifier(_) | Token::RightBracket)
        );
        if is_element {
            return false;
        }
        self.position -= 1;
        let name = match self.peek(2) {
            Some(Token::Identifier(name)) => format!("[[{name}]]"),
            _ => "[[…]]".to_owned(),
        };
        let end = self.skip(self.bracketed().max(1), span);
        self.report(Unsupported::Word(name), span.to(end));
        true
    }

    /// `[&](int i) { … }` behind `=`.
    fn lambda(&mut self, span: Span) -> bool {
        if self.previous() != Some(Token::Assign) {
            return false;
        }
        self.position -= 1;
        let mut end = self.skip(self.bracketed().max(1), span);
        end = self.skip_parentheses(end);
        if self.peek(0) == Some(Token::LeftBrace) {
            end = self.skip_parentheses(end);
        }
        self.report(
            Unsupported::Function(UnsupportedFunction::Lambda),
            span.to(end),
        );
        self.output.push((Token::Refused, span.to(end)));
        true
    }

    /// `double &x` stands as `double x`.
    fn reference(&mut self, span: Span) -> bool {
        let is_behind_type = matches!(
            self.previous(),
            Some(Token::Type(_) | Token::TypeName(_) | Token::Const)
        );
        let Some(Token::Identifier(name)) = self.peek(0).filter(|_| is_behind_type) else {
            return false;
        };
        let name = name.to_owned();
        self.report(
            Unsupported::Declaration(UnsupportedDeclaration::Reference { name }),
            span,
        );
        true
    }

    /// `for (type x : list)`
    fn loop_over_range(&mut self, span: Span) -> bool {
        let count = self.bracketed();
        let header = self.tokens.iter().skip(self.position).take(count);
        let is_range = header
            .map(|(token, _)| *token)
            .find(|it| matches!(it, Token::Semicolon | Token::Question | Token::Colon))
            == Some(Token::Colon);
        let name = header_name(self.tokens.get(self.position..).unwrap_or_default());
        let Some(name) = name.filter(|_| is_range) else {
            return false;
        };
        let span = span.to(self.skip(count, span));
        self.report(Unsupported::LoopOverRange, span);
        let instead = [
            Token::For,
            Token::LeftParenthesis,
            Token::Type(TypeWord::Int),
            name,
            Token::Assign,
            Token::Refused,
            Token::Semicolon,
            Token::Refused,
            Token::Semicolon,
            Token::RightParenthesis,
        ];
        self.output.extend(instead.map(|it| (it, span)));
        true
    }
}

/// The name in front of the colon of `(type name : list)`.
fn header_name<'a>(tokens: &[(Token<'a>, Span)]) -> Option<Token<'a>> {
    let colon = tokens.iter().position(|(it, _)| *it == Token::Colon)?;
    match tokens.get(colon.checked_sub(1)?) {
        Some((name @ Token::Identifier(_), _)) => Some(*name),
        _ => None,
    }
}
