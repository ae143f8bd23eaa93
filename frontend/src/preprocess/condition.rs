//! The conditions of `#if`: integer constant expressions of the two widest types.

use super::macros::Lexeme;
use crate::literal;
use crate::problem::DirectiveFault;
use crate::token::Token;

/// How deeply parentheses and operators may nest.
const DEPTH: usize = 100;

/// Whether the condition, whose macros are replaced, holds.
pub(super) fn holds(tokens: &[Lexeme<'_>]) -> Result<bool> {
    let mut parser = Parser { tokens };
    let value = parser.conditional(DEPTH, true)?;
    match parser.tokens {
        [] => Ok(value.bits != 0),
        _ => Err(DirectiveFault::BadCondition),
    }
}

/// An `intmax_t` or `uintmax_t`.
#[derive(Clone, Copy)]
struct Number {
    bits: i64,
    is_unsigned: bool,
}

impl Number {
    fn truth(value: bool) -> Self {
        Self {
            bits: i64::from(value),
            is_unsigned: false,
        }
    }
}

struct Parser<'t, 'a> {
    tokens: &'t [Lexeme<'a>],
}

type Result<T> = std::result::Result<T, DirectiveFault>;

impl Parser<'_, '_> {
    fn peek(&self) -> Option<Token<'_>> {
        self.tokens.first().map(|it| it.token)
    }

    fn advance(&mut self) {
        self.tokens = self.tokens.get(1..).unwrap_or_default();
    }

    fn take(&mut self, token: Token<'_>) -> bool {
        let found = self.peek() == Some(token);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, token: Token<'_>) -> Result<()> {
        if self.take(token) {
            Ok(())
        } else {
            Err(DirectiveFault::BadCondition)
        }
    }

    /// What is not `live` is read but not computed: it may divide by zero.
    fn conditional(&mut self, depth: usize, live: bool) -> Result<Number> {
        let depth = depth.checked_sub(1).ok_or(DirectiveFault::BadCondition)?;
        let condition = self.binary(1, depth, live)?;
        if !self.take(Token::Question) {
            return Ok(condition);
        }
        let chosen = condition.bits != 0;
        let then = self.conditional(depth, live && chosen)?;
        self.expect(Token::Colon)?;
        let otherwise = self.conditional(depth, live && !chosen)?;
        let value = if chosen { then } else { otherwise };
        Ok(Number {
            bits: value.bits,
            is_unsigned: then.is_unsigned || otherwise.is_unsigned,
        })
    }

    fn binary(&mut self, level: u32, depth: usize, live: bool) -> Result<Number> {
        let depth = depth.checked_sub(1).ok_or(DirectiveFault::BadCondition)?;
        let mut left = self.unary(depth, live)?;
        while let Some((op, its_level)) = self.peek().and_then(|token| operator(&token)) {
            if its_level < level {
                break;
            }
            self.advance();
            let needed = match op {
                Operator::And => left.bits != 0,
                Operator::Or => left.bits == 0,
                _ => true,
            };
            let right = self.binary(its_level + 1, depth, live && needed)?;
            left = operate(op, left, right, live && needed)?;
        }
        Ok(left)
    }

    fn unary(&mut self, depth: usize, live: bool) -> Result<Number> {
        let depth = depth.checked_sub(1).ok_or(DirectiveFault::BadCondition)?;
        let Some(lexeme) = self.tokens.first().copied() else {
            return Err(DirectiveFault::BadCondition);
        };
        self.advance();
        match lexeme.token {
            Token::LeftParenthesis => {
                let value = self.conditional(depth, live)?;
                self.expect(Token::RightParenthesis)?;
                Ok(value)
            }
            Token::Plus => self.unary(depth, live),
            Token::Minus => self.unary(depth, live).map(|it| Number {
                bits: it.bits.wrapping_neg(),
                ..it
            }),
            Token::Tilde => self.unary(depth, live).map(|it| Number {
                bits: !it.bits,
                ..it
            }),
            Token::Not => Ok(Number::truth(self.unary(depth, live)?.bits == 0)),
            // Every integer has one of the two widest types here: only its suffix, or its size,
            // makes it unsigned.
            Token::Number(text) => literal_value(literal::number(text)).map(|it| Number {
                is_unsigned: text.ends_with(['u', 'U', 'l', 'L']) && text.contains(['u', 'U'])
                    || it.bits < 0,
                ..it
            }),
            Token::Character(text) => literal_value(literal::character(text)),
            // A name that is no macro is 0.
            _ if lexeme
                .text
                .starts_with(|it: char| it.is_ascii_alphabetic() || it == '_') =>
            {
                Ok(Number::truth(false))
            }
            _ => Err(DirectiveFault::BadCondition),
        }
    }
}

fn literal_value<E>(value: std::result::Result<strew_affine::Value, E>) -> Result<Number> {
    let value = value.map_err(|_| DirectiveFault::BadCondition)?;
    let integer = value.as_integer().ok_or(DirectiveFault::BadCondition)?;
    Ok(Number {
        bits: integer as i64,
        is_unsigned: false,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// The operator and how tightly it binds.
fn operator(token: &Token<'_>) -> Option<(Operator, u32)> {
    Some(match token {
        Token::OrOr => (Operator::Or, 1),
        Token::AndAnd => (Operator::And, 2),
        Token::Bar => (Operator::BitOr, 3),
        Token::Caret => (Operator::BitXor, 4),
        Token::Ampersand => (Operator::BitAnd, 5),
        Token::Equal => (Operator::Equal, 6),
        Token::NotEqual => (Operator::NotEqual, 6),
        Token::Less => (Operator::Less, 7),
        Token::LessOrEqual => (Operator::LessOrEqual, 7),
        Token::Greater => (Operator::Greater, 7),
        Token::GreaterOrEqual => (Operator::GreaterOrEqual, 7),
        Token::ShiftLeft => (Operator::ShiftLeft, 8),
        Token::ShiftRight => (Operator::ShiftRight, 8),
        Token::Plus => (Operator::Add, 9),
        Token::Minus => (Operator::Subtract, 9),
        Token::Star => (Operator::Multiply, 10),
        Token::Slash => (Operator::Divide, 10),
        Token::Percent => (Operator::Remainder, 10),
        _ => return None,
    })
}

fn operate(op: Operator, left: Number, right: Number, live: bool) -> Result<Number> {
    let is_unsigned = left.is_unsigned || right.is_unsigned;
    let (x, y) = (left.bits, right.bits);
    let ordering = if is_unsigned {
        (x as u64).cmp(&(y as u64))
    } else {
        x.cmp(&y)
    };
    let truth = match op {
        Operator::Or => x != 0 || y != 0,
        Operator::And => x != 0 && y != 0,
        Operator::Equal => ordering.is_eq(),
        Operator::NotEqual => ordering.is_ne(),
        Operator::Less => ordering.is_lt(),
        Operator::LessOrEqual => ordering.is_le(),
        Operator::Greater => ordering.is_gt(),
        Operator::GreaterOrEqual => ordering.is_ge(),
        _ => return arithmetic(op, left, right, live),
    };
    Ok(Number::truth(truth))
}

fn arithmetic(op: Operator, left: Number, right: Number, live: bool) -> Result<Number> {
    let (x, y) = (left.bits, right.bits);
    let is_shift = matches!(op, Operator::ShiftLeft | Operator::ShiftRight);
    let is_unsigned = left.is_unsigned || (right.is_unsigned && !is_shift);
    let divides = matches!(op, Operator::Divide | Operator::Remainder);
    if divides && y == 0 {
        return if live {
            Err(DirectiveFault::DivisionByZero)
        } else {
            Ok(right)
        };
    }
    let bits = match op {
        Operator::BitOr => x | y,
        Operator::BitXor => x ^ y,
        Operator::BitAnd => x & y,
        Operator::ShiftLeft => x.wrapping_shl(y as u32),
        Operator::ShiftRight if is_unsigned => (x as u64).wrapping_shr(y as u32) as i64,
        Operator::ShiftRight => x.wrapping_shr(y as u32),
        Operator::Add => x.wrapping_add(y),
        Operator::Subtract => x.wrapping_sub(y),
        Operator::Multiply => x.wrapping_mul(y),
        Operator::Divide if is_unsigned => ((x as u64) / (y as u64)) as i64,
        Operator::Divide => x.wrapping_div(y),
        Operator::Remainder if is_unsigned => ((x as u64) % (y as u64)) as i64,
        _ => x.wrapping_rem(y),
    };
    Ok(Number { bits, is_unsigned })
}
