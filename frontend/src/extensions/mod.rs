//! Between preprocessor and parser: what the grammar does not have, of C99 and of what compilers
//! add to it.
//!
//! Words that change nothing vanish. The others are reported, and what stands there instead lets
//! the parser go on as if nothing had been wrong, so that each construct is named once and nothing
//! else is said because of it: a type becomes another type, an expression [`Token::Refused`], a
//! qualifier nothing.

mod attribute;
mod old_style;
mod other_language;

use crate::diagnostic::Diagnostics;
use crate::preprocess::Spanned;
use crate::problem::{Problem, Unsupported, UnsupportedFunction};
use crate::token::{Token, TypeWord};
use std::collections::HashSet;
use strew_affine::Span;

/// The tokens that the parser understands, and the names whose declarations were taken out.
pub(crate) fn take_out<'a>(
    tokens: &[Spanned<'a>],
    diagnostics: &mut Diagnostics,
) -> (Vec<Spanned<'a>>, HashSet<String>) {
    let mut walker = Walker {
        tokens,
        position: 0,
        dropped: Vec::new(),
        output: Vec::with_capacity(tokens.len()),
        braces: Vec::new(),
        structure_end: 0,
        item: 0,
        unions: HashSet::new(),
        refused: HashSet::new(),
        diagnostics,
    };
    while let Some((token, span)) = walker.next().filter(|_| !walker.diagnostics.is_full()) {
        walker.token(token, span);
    }
    (walker.output, walker.refused)
}

/// How many tokens may stand between `case` and `...`.
const LONGEST_LABEL: usize = 50;

struct Walker<'t, 'a, 'd> {
    tokens: &'t [Spanned<'a>],
    position: usize,
    /// The closing parentheses that are left out, the next one last.
    dropped: Vec<usize>,
    output: Vec<Spanned<'a>>,
    /// For each brace that is open, whether it holds the members of a structure.
    braces: Vec<bool>,
    /// Behind the last structure in the output.
    structure_end: usize,
    /// Where the present item of the file begins in the output.
    item: usize,
    /// The tags of unions that were reported.
    unions: HashSet<&'a str>,
    refused: HashSet<String>,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Walker<'_, 'a, '_> {
    fn next(&mut self) -> Option<Spanned<'a>> {
        while self.dropped.last() == Some(&self.position) {
            self.dropped.pop();
            self.position += 1;
        }
        let spanned = self.tokens.get(self.position).copied();
        self.position += usize::from(spanned.is_some());
        spanned
    }

    /// The token `ahead` of the next one.
    fn peek(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.position + ahead).map(|(it, _)| *it)
    }

    fn previous(&self) -> Option<Token<'a>> {
        self.output.last().map(|(it, _)| *it)
    }

    fn token(&mut self, token: Token<'a>, span: Span) {
        if self.other_language(token, span) {
            return;
        }
        match token {
            Token::Reserved(word) => return self.reserved(word, span),
            // A pointer can be compared with it: it always points into an array.
            Token::Identifier("NULL") if self.is_compared() => {
                let zero = Token::Literal(strew_affine::Value::integer(strew_affine::Type::I32, 0));
                return self.output.push((zero, span));
            }
            Token::Identifier("NULL") => return self.refuse_expression("NULL", span),
            Token::Identifier("complex") if self.is_beside_a_type() => {
                return self.refuse_word("complex", span);
            }
            Token::Identifier("_Pragma") if self.peek(0) == Some(Token::LeftParenthesis) => {
                return self.pragma(span);
            }
            Token::Identifier("static_assert") if self.peek(0) == Some(Token::LeftParenthesis) => {
                return self.output.push((Token::StaticAssert, span));
            }
            Token::Identifier("asm") if self.peek(0) == Some(Token::LeftParenthesis) => {
                return self.assembler(span);
            }
            Token::Identifier("asm") if matches!(self.peek(0), Some(Token::Reserved(_))) => {
                return self.assembler(span);
            }
            Token::Identifier("typeof") if self.peek(0) == Some(Token::LeftParenthesis) => {
                return self.type_of("typeof", span);
            }
            Token::LeftParenthesis if self.peek(0) == Some(Token::LeftBrace) => {
                return self.statement_expression(span);
            }
            Token::LeftParenthesis if self.braces.is_empty() && self.old_style() => return,
            Token::LeftBrace => self.braces.push(self.opens_structure()),
            Token::RightBrace => self.close_brace(),
            _ => {}
        }
        self.output.push((token, span));
        if self.braces.is_empty() && matches!(token, Token::RightBrace | Token::Semicolon) {
            self.item = self.output.len();
        }
    }

    fn reserved(&mut self, word: &'a str, span: Span) {
        match word {
            "__extension__" | "_Noreturn" => {}
            "auto" => self.automatic(span),
            "__attribute" | "__attribute__" => self.attributes(span),
            "_Alignas" => self.alignment(span),
            "union" => self.union(span),
            "_Atomic" => {
                self.refuse_word(word, span);
                self.without_parentheses();
            }
            "_Complex" | "_Imaginary" | "__complex" | "__complex__" => {
                let is_whole = !self.is_beside_a_type();
                self.refuse_word(word, span);
                if is_whole {
                    self.output.push((Token::Type(TypeWord::Double), span));
                }
            }
            "__int128" | "__int128_t" | "__uint128_t" | "__auto_type" => {
                self.refuse_type(word, TypeWord::Int, span);
            }
            "_Float16" | "_Float32" | "_Float64" | "_Float128" | "__float128" | "__fp16"
            | "__bf16" => self.refuse_type(word, TypeWord::Double, span),
            "__typeof" | "__typeof__" => self.type_of(word, span),
            "__asm" | "__asm__" => self.assembler(span),
            "_Generic" | "_Alignof" | "__alignof" | "__alignof__" => {
                let span = span.to(self.skip_parentheses(span));
                self.refuse_expression(word, span);
            }
            "_Static_assert" => self.output.push((Token::StaticAssert, span)),
            "..." => self.ellipsis(span),
            _ => self.refuse_word(word, span),
        }
    }

    fn report(&mut self, what: Unsupported, span: Span) {
        self.diagnostics.report(Problem::Unsupported(what), span);
    }

    fn refuse_word(&mut self, word: &str, span: Span) {
        self.report(Unsupported::Word(word.to_owned()), span);
    }

    fn refuse_expression(&mut self, word: &str, span: Span) {
        self.refuse_word(word, span);
        self.output.push((Token::Refused, span));
    }

    fn refuse_type(&mut self, word: &str, instead: TypeWord, span: Span) {
        self.refuse_word(word, span);
        self.output.push((Token::Type(instead), span));
    }

    /// `_Pragma("text")` of other compilers means nothing; one of ours has to be a line of its own.
    fn pragma(&mut self, span: Span) {
        let text = self.peek(1);
        let span = span.to(self.skip_parentheses(span));
        if matches!(text, Some(Token::Text(text)) if text.trim_start_matches('"').trim_start().starts_with("strew"))
        {
            self.refuse_word("_Pragma", span);
        }
    }

    fn is_compared(&self) -> bool {
        let is_equality = |it| matches!(it, Some(Token::Equal | Token::NotEqual));
        is_equality(self.previous()) || is_equality(self.peek(0))
    }

    fn is_beside_a_type(&self) -> bool {
        let is_type = |token| matches!(token, Some(Token::Type(_)));
        is_type(self.previous()) || is_type(self.peek(0))
    }

    /// How many of the next tokens a pair of brackets and what is between them are; 0 where no
    /// bracket is next.
    fn bracketed(&self) -> usize {
        let mut depth = 0_usize;
        for (count, (token, _)) in self.tokens.iter().skip(self.position).enumerate() {
            if token.opens() {
                depth += 1;
            } else if token.closes() {
                depth = depth.saturating_sub(1);
            }
            if depth == 0 {
                return if token.closes() { count + 1 } else { 0 };
            }
        }
        // Never closed: the parser will say so.
        0
    }

    /// Leaves out the brackets that are next with what is between them; where they end, or `span`
    /// if there are none.
    fn skip_parentheses(&mut self, span: Span) -> Span {
        self.skip(self.bracketed(), span)
    }

    fn skip(&mut self, count: usize, span: Span) -> Span {
        self.position += count;
        let last = self.position.checked_sub(1).filter(|_| count > 0);
        let last = last.and_then(|last| self.tokens.get(last));
        last.map_or(span, |(_, last)| *last)
    }

    /// Leaves out the parentheses that are next, and not what is between them.
    fn without_parentheses(&mut self) {
        self.without_brackets(Token::LeftParenthesis);
    }

    /// Leaves out brackets that begin with `opening`, if they are next, and not what is between
    /// them.
    fn without_brackets(&mut self, opening: Token<'a>) {
        let count = self.bracketed();
        if count > 0 && self.peek(0) == Some(opening) {
            self.dropped.push(self.position + count - 1);
            self.position += 1;
        }
    }

    /// `auto int x` says what is so anyway; `auto x` is of another language.
    fn automatic(&mut self, span: Span) {
        if matches!(self.peek(0), Some(Token::Identifier(_) | Token::Ampersand))
            && matches!(self.peek(1), Some(Token::Assign | Token::Identifier(_)))
        {
            self.refuse_type("auto", TypeWord::Int, span);
        }
    }

    fn type_of(&mut self, word: &str, span: Span) {
        let span = span.to(self.skip_parentheses(span));
        self.refuse_type(word, TypeWord::Int, span);
    }

    fn assembler(&mut self, span: Span) {
        while matches!(
            self.peek(0),
            Some(Token::Reserved(_) | Token::Goto | Token::Inline)
        ) {
            self.position += 1;
        }
        let span = span.to(self.skip_parentheses(span));
        self.refuse_word("asm", span);
    }

    fn statement_expression(&mut self, span: Span) {
        self.position -= 1;
        let count = self.bracketed();
        let end = self.skip(count.max(1), span);
        self.report(Unsupported::StatementExpression, span.to(end));
        self.output.push((Token::Refused, span.to(end)));
    }

    /// Stands as a structure, whose members it has.
    fn union(&mut self, span: Span) {
        let tag = match self.peek(0) {
            Some(Token::Identifier(tag)) => Some(tag),
            _ => None,
        };
        if tag.is_none_or(|tag| self.unions.insert(tag)) {
            self.refuse_word("union", span);
        }
        self.output.push((Token::Struct, span));
    }

    fn close_brace(&mut self) {
        if self.braces.pop() == Some(true) {
            self.structure_end = self.output.len() + 1;
        }
    }

    fn opens_structure(&self) -> bool {
        matches!(
            self.output.as_slice(),
            [.., (Token::Struct, _)] | [.., (Token::Struct, _), (Token::Identifier(_), _)]
        )
    }

    fn ellipsis(&mut self, span: Span) {
        let closes = self.peek(0) == Some(Token::RightParenthesis);
        match self.previous() {
            Some(Token::Comma) if closes && self.braces.is_empty() => self.variable_arguments(span),
            _ if self.labelled_range(span) => {}
            _ => self.refuse_word("...", span),
        }
    }

    /// `case 1 ... 5:` stands as `case 1:`.
    fn labelled_range(&mut self, span: Span) -> bool {
        let label = self.output.iter().rev().take(LONGEST_LABEL);
        let label = label.take_while(|(token, _)| {
            !matches!(
                token,
                Token::Semicolon | Token::LeftBrace | Token::RightBrace
            )
        });
        let Some((_, start)) = label.into_iter().find(|(token, _)| *token == Token::Case) else {
            return false;
        };
        let start = *start;
        let rest = self.tokens.iter().skip(self.position);
        let count = rest
            .take_while(|(token, _)| !matches!(token, Token::Colon | Token::Semicolon))
            .count();
        let end = self.skip(count, span);
        self.report(Unsupported::CaseRange, start.to(end));
        true
    }

    /// The body of such a function has no meaning without the arguments.
    fn variable_arguments(&mut self, span: Span) {
        let name = self.take_out_function(|it| it == Token::Semicolon);
        self.report(
            Unsupported::Function(UnsupportedFunction::VariableArguments { name }),
            span,
        );
    }

    /// Takes the present item out, up to a token that `ends` it or the end of its braces; what it
    /// is called.
    fn take_out_function(&mut self, ends: impl Fn(Token<'a>) -> bool) -> String {
        let head = self.output.iter().skip(self.item);
        let names = head.filter_map(|(token, _)| match token {
            Token::Identifier(name) => Some((*name).to_owned()),
            _ => None,
        });
        let names: Vec<String> = names.collect();
        self.output.truncate(self.item);
        while let Some(token) = self.peek(0) {
            let braces = if token == Token::LeftBrace {
                self.bracketed()
            } else {
                0
            };
            self.position += braces.max(1);
            if braces > 0 || ends(token) {
                break;
            }
        }
        let name = names.first().cloned().unwrap_or_default();
        self.refused.extend(names);
        name
    }
}
