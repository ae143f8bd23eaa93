//! The text form of schedules: steps on lines of their own or separated by `;`, comments from `#`
//! to the end of the line.
//!
//! ```text
//! script   := ";"* (step ";"*)*
//! step     := name "(" (argument ("," argument)*)? ")"
//! argument := (value "=")? value
//! value    := size | "[" size ("," size)* "]" | name "(" (size ("," size)*)? ")" | size "by" size
//! size     := integer | name | "-" size | size ("+" | "-" | "*" | "/") size | "(" size ")"
//! name     := word | "`" what a kernel calls it "`"
//! ```
//!
//! `i/j` is the path of a loop where a step expects one. What arguments a step takes it knows
//! itself.

pub(crate) mod call;
mod name;
mod token;

pub(crate) use name::{Written, WrittenAll};

use crate::{Schedule, Step};
use lalrpop_util::{ParseError, lalrpop_mod};
use logos::Logos;
use std::fmt;
use std::str::FromStr;
use strew_affine::Span;
use strew_affine::spelling::nearest;
use token::Token;

lalrpop_mod!(
    #[allow(clippy::all, unused, missing_docs, unreachable_pub)]
    grammar,
    "/script/grammar.rs"
);

/// Why a script is not a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptErrors {
    /// At least one, in the order of the script. Behind a mistake reading goes on with the next
    /// step.
    pub list: Vec<ScriptError>,
}

/// One mistake in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// Where, in bytes of the script.
    pub span: Span,
    /// What is wrong there.
    pub fault: Fault,
}

/// What can be wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A character that stands in no rule.
    Character(char),
    /// A word that no step begins with.
    UnknownStep(String),
    /// Something else was expected; `None` at the end of the script.
    Unexpected {
        /// What stands there.
        found: Option<String>,
        /// What could.
        expected: Vec<String>,
    },
    /// A number that does not fit 64 bits.
    TooLarge(String),
    /// The same clause twice.
    Repeated(&'static str),
    /// Several steps where one was asked for, or none.
    NotOneStep(usize),
}

impl fmt::Display for ScriptErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each: Vec<_> = self.list.iter().map(ToString::to_string).collect();
        f.write_str(&each.join("; "))
    }
}

impl std::error::Error for ScriptErrors {}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(f)
    }
}

impl std::error::Error for ScriptError {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Character(character) => write!(f, "`{character}` means nothing in a schedule"),
            Self::UnknownStep(name) => {
                write!(f, "there is no step `{name}`; ")?;
                match nearest(name, Step::NAMES.iter().copied()) {
                    Some(known) => write!(f, "did you mean `{known}`?"),
                    None => write!(f, "the steps are {}", Step::NAMES.join(", ")),
                }
            }
            Self::Unexpected { found, expected } => {
                let expected = expected.join(", ");
                match found {
                    Some(found) => write!(f, "found `{found}`, expected {expected}"),
                    None => write!(f, "the schedule ends here, expected {expected}"),
                }
            }
            Self::TooLarge(digits) => write!(f, "{digits} does not fit 64 bits"),
            Self::Repeated(clause) => write!(f, "`{clause}` is given twice"),
            Self::NotOneStep(count) => write!(f, "expected one step, found {count}"),
        }
    }
}

/// Nobody reads more, and every one of them has the rest of the script read again.
const ERRORS_REPORTED: usize = 20;

impl FromStr for Schedule {
    type Err = ScriptErrors;

    fn from_str(script: &str) -> Result<Self, ScriptErrors> {
        let mut list = Vec::new();
        let mut start = 0;
        loop {
            match steps_from(script, start) {
                Ok(schedule) if list.is_empty() => return Ok(schedule),
                Ok(_) => return Err(ScriptErrors { list }),
                Err(error) => {
                    let next = next_step(script, error.span.range().end);
                    list.push(error);
                    match next.filter(|_| list.len() < ERRORS_REPORTED) {
                        Some(next) => start = next,
                        None => return Err(ScriptErrors { list }),
                    }
                }
            }
        }
    }
}

/// The steps behind the byte at `start`.
fn steps_from(script: &str, start: usize) -> Result<Schedule, ScriptError> {
    let tokens = Token::lexer(script).spanned();
    let tokens = tokens.skip_while(|(_, span)| span.start < start);
    let tokens = tokens.map(|(token, span)| {
        let unknown = || Fault::Character(character_at(script, span.start));
        let token = token.map_err(|()| (span.start, unknown(), span.end))?;
        Ok((span.start, token, span.end))
    });
    let parsed = grammar::ScriptParser::new().parse(tokens);
    parsed.map_err(|error| {
        let error = from_parser(error, script);
        no_step_before(&error, script).unwrap_or(error)
    })
}

/// That no step is called as the word in front of `error`, if a parenthesis is all that could
/// follow it.
fn no_step_before(error: &ScriptError, script: &str) -> Option<ScriptError> {
    match &error.fault {
        Fault::Unexpected { expected, .. } if matches!(expected.as_slice(), [it] if it == "`(`") => {
        }
        _ => return None,
    }
    let start = error.span.range().start;
    let tokens = Token::lexer(script).spanned();
    let mut before = tokens.take_while(|(_, span)| span.end <= start);
    match before.by_ref().last()? {
        (Ok(Token::Name(name)), span) if !Step::NAMES.contains(&name) => Some(ScriptError {
            span: Span::new(span.start, span.end),
            fault: Fault::UnknownStep(name.to_owned()),
        }),
        _ => None,
    }
}

/// Where behind the byte at `position` the next step seems to begin: with a word that has a
/// parenthesis behind it, where a step has ended, or on a line of its own with that of a step.
fn next_step(script: &str, position: usize) -> Option<usize> {
    let tokens = Token::lexer(script).spanned();
    let mut tokens = tokens
        .skip_while(|(_, span)| span.start < position)
        .peekable();
    let (mut is_ended, mut end) = (true, position);
    while let Some((token, span)) = tokens.next() {
        let between = script.get(end..span.start).unwrap_or_default();
        let opens = matches!(tokens.peek(), Some((Ok(Token::Open), _)));
        let is_step = |name| between.contains('\n') && Step::NAMES.contains(&name);
        let can_begin = matches!(token, Ok(Token::Name(name)) if is_ended || is_step(name));
        if can_begin && opens {
            return Some(span.start);
        }
        is_ended = matches!(token, Ok(Token::Close | Token::Semicolon));
        end = span.end;
    }
    None
}

impl FromStr for Step {
    type Err = ScriptErrors;

    fn from_str(script: &str) -> Result<Self, ScriptErrors> {
        let schedule: Schedule = script.parse()?;
        match schedule.steps() {
            [step] => Ok(step.clone()),
            steps => Err(ScriptErrors {
                list: vec![ScriptError {
                    span: Span::new(0, script.len()),
                    fault: Fault::NotOneStep(steps.len()),
                }],
            }),
        }
    }
}

fn character_at(script: &str, position: usize) -> char {
    let rest = script.get(position..).unwrap_or_default();
    rest.chars().next().unwrap_or_default()
}

type Spanned = (usize, Fault, usize);

fn from_parser(error: ParseError<usize, Token<'_>, Spanned>, script: &str) -> ScriptError {
    let (start, fault, end) = match error {
        ParseError::User { error } => error,
        ParseError::InvalidToken { location } => {
            let found = character_at(script, location);
            (location, Fault::Character(found), location)
        }
        ParseError::UnrecognizedEof { location, expected } => {
            (location, unexpected(None, expected), location)
        }
        ParseError::UnrecognizedToken {
            token: (start, token, end),
            expected,
        } => (start, unexpected(Some(token), expected), end),
        ParseError::ExtraToken {
            token: (start, token, end),
        } => (start, unexpected(Some(token), Vec::new()), end),
    };
    ScriptError {
        span: Span::new(start, end),
        fault,
    }
}

/// Where an argument can stand, that is all that anybody wants to read; where one ends, no
/// arithmetic.
fn unexpected(found: Option<Token<'_>>, expected: Vec<String>) -> Fault {
    let can_be = |terminal: &str| expected.iter().any(|it| it.trim_matches('"') == terminal);
    let is_argument = can_be("name") && can_be("integer");
    let mut words: Vec<String> = Vec::new();
    if is_argument {
        words.push("an argument".to_owned());
    }
    for it in &expected {
        match it.trim_matches('"') {
            "name" if !is_argument => words.push("a name".to_owned()),
            "name" | "integer" | "by" | "+" | "*" | "/" => {}
            "-" | "(" | "[" if is_argument => {}
            "-" => {}
            terminal => words.push(format!("`{terminal}`")),
        }
    }
    let found = found.map(|token| token.to_string());
    Fault::Unexpected {
        found,
        expected: words,
    }
}

pub(crate) fn integer(start: usize, digits: &str, end: usize) -> Result<u64, Spanned> {
    digits
        .parse()
        .map_err(|_| (start, Fault::TooLarge(digits.to_owned()), end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Coalesce, Delinearize, Distribute, End, Expand, Flag, Fuse, Hoist, Interchange, LoopPath,
        Pack, Parallelize, Peel, Permute, Precompute, Prefix, Privatize, Rematerialize, Reverse,
        ScalarReplace, Separate, Shift, Sink, Size, Skew, Split, StripMine, Tile, TileIndirection,
        TileReduction, Unroll, UnrollAndJam, Vectorize,
    };
    use proptest::prelude::*;

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![
            "[A-Za-z_][A-Za-z0-9_]{0,8}",
            "chunks",
            "unroll",
            "reduction",
            "[ -_a-z|~é]{1,4}"
        ]
    }

    fn names() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec(name(), 1..4)
    }

    fn word() -> impl Strategy<Value = String> {
        "[A-Za-z_][A-Za-z0-9_]{0,8}"
    }

    fn path() -> impl Strategy<Value = LoopPath> {
        prop::collection::vec(name(), 1..3).prop_map(LoopPath::new)
    }

    fn step() -> impl Strategy<Value = Step> {
        let clauses = prop::collection::vec((name(), word()), 0..3);
        let tile = (path(), clauses, any::<u64>(), name()).prop_map(
            |(target, clauses, chunks, strategy)| {
                let request = TileIndirection::new(target)
                    .chunks(chunks)
                    .strategy(strategy);
                Step::TileIndirectionUsingForall(
                    clauses
                        .into_iter()
                        .fold(request, |request, (array, combiner)| {
                            request.reduction(array, combiner)
                        }),
                )
            },
        );
        let numbered = || (path(), any::<u64>());
        prop_oneof![
            tile,
            numbered().prop_map(|(it, factor)| Unroll::new(it, factor).into()),
            numbered().prop_map(|(it, lanes)| Vectorize::new(it, lanes).into()),
            (path(), size()).prop_map(|(it, size)| StripMine::new(it, size).into()),
            (numbered(), any::<bool>()).prop_map(|((it, count), is_first)| {
                let end = if is_first { End::First } else { End::Last };
                Peel::new(it, end, count).into()
            }),
            (path(), size()).prop_map(|(it, at)| Split::new(it, at).into()),
            (path(), path(), any::<i64>())
                .prop_map(|(it, by, by_how)| Skew::new(it, by, by_how).into()),
            (path(), path(), proptest::option::of(0_u64..99)).prop_map(|(outer, inner, below)| {
                let both = Coalesce::new(outer, inner);
                Coalesce { below, ..both }.into()
            }),
            (path(), path()).prop_map(|(outer, inner)| Interchange::new(outer, inner).into()),
            prop::collection::vec(path(), 1..4).prop_map(|order| Permute::new(order).into()),
            path().prop_map(|it| Reverse::new(it).into()),
            (path(), path(), prop::option::of(any::<u64>())).prop_map(|(first, second, shift)| {
                Fuse {
                    shift,
                    ..Fuse::new(first, second)
                }
                .into()
            }),
            path().prop_map(|it| Distribute::new(it).into()),
            prop::collection::vec((path(), size()), 1..4).prop_map(|it| Tile::new(it).into()),
            path().prop_map(|it| Parallelize::new(it).into()),
            path().prop_map(|it| Separate::new(it).into()),
            path().prop_map(|it| Sink::new(it).into()),
            path().prop_map(|it| Precompute::new(it).into()),
            numbered().prop_map(|(it, factor)| UnrollAndJam::new(it, factor).into()),
            (any::<u64>(), path()).prop_map(|(number, it)| Hoist::new(number, it).into()),
            (any::<u64>(), path(), any::<i64>())
                .prop_map(|(number, it, by)| Shift::new(number, it, by).into()),
            (name(), path()).prop_map(|(variable, it)| Expand::new(variable, it).into()),
            (name(), path()).prop_map(|(variable, it)| Privatize::new(variable, it).into()),
            (name(), path()).prop_map(|(variable, it)| Flag::new(variable, it).into()),
            (names(), path(), any::<u64>())
                .prop_map(|(names, it, tile)| Rematerialize::new(names, it, tile).into()),
            (names(), path(), any::<u64>())
                .prop_map(|(names, it, tile)| Prefix::new(names, it, tile).into()),
            (name(), path()).prop_map(|(array, it)| Pack::new(array, it).into()),
            name().prop_map(|array| ScalarReplace::new(array).into()),
            (name(), prop::collection::vec(size(), 1..4))
                .prop_map(|(array, sizes)| Delinearize::new(array, sizes).into()),
            (path(), name(), any::<u64>()).prop_map(|(it, scalar, chunks)| {
                TileReduction::new(it)
                    .reduction(scalar, "add")
                    .chunks(chunks)
                    .into()
            }),
        ]
    }

    fn size() -> impl Strategy<Value = Size> {
        let leaf = prop_oneof![
            any::<u64>().prop_map(Size::Integer),
            name().prop_map(Size::Name)
        ];
        leaf.prop_recursive(3, 8, 2, |size| {
            let two =
                (size.clone(), size.clone()).prop_map(|(left, right)| Box::new([left, right]));
            prop_oneof![
                size.prop_map(|it| Size::Negative(Box::new(it))),
                two.clone().prop_map(Size::Sum),
                two.clone().prop_map(Size::Difference),
                two.clone().prop_map(Size::Product),
                two.prop_map(Size::Quotient),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_schedule_prints_as_it_parses(steps in prop::collection::vec(step(), 0..5)) {
            let schedule: Schedule = steps.into_iter().collect();
            prop_assert_eq!(schedule.to_string().parse(), Ok(schedule.clone()));
            let in_one_line = schedule.to_string().replace('\n', ";");
            prop_assert_eq!(in_one_line.parse(), Ok(schedule));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[a-z(){},;=/#0-9 \n*é]{0,60}") {
            let _ = text.parse::<Schedule>();
        }
    }

    #[track_caller]
    fn refuses(script: &str, at: &str, message: &str) {
        let errors = script.parse::<Schedule>().unwrap_err();
        let [error] = errors.list.as_slice() else {
            panic!("{errors}");
        };
        assert_eq!(&script[error.span.range()], at);
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn comments_semicolons_and_lines_separate() {
        let schedule: Schedule = "; unroll(i, 2) unroll(j, 4) # two\n;; unroll(i/j, 8);"
            .parse()
            .unwrap();
        assert_eq!(
            schedule,
            Schedule::new()
                .unroll("i", 2)
                .unroll("j", 4)
                .unroll("i/j", 8)
        );
        assert_eq!(" # nothing\n".parse(), Ok(Schedule::new()));
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let step: Step = "tile_indirection_using_forall(i)".parse().unwrap();
        assert_eq!(
            step.to_string(),
            "tile_indirection_using_forall(i, chunks = 8, strategy = auto)"
        );
    }

    #[test]
    fn errors_say_where_and_what() {
        refuses(
            "unroll(i, 2)\nunrol(i, 4)",
            "unrol",
            "there is no step `unrol`; did you mean `unroll`?",
        );
        refuses(
            "melt(i)",
            "melt",
            &format!(
                "there is no step `melt`; the steps are {}",
                Step::NAMES.join(", ")
            ),
        );
        let steps = Step::NAMES.join(", ");
        let none = format!("there is no step `bogus`; the steps are {steps}");
        for script in [
            "bogus",
            "bogus; unroll(i, 2)",
            "unroll(i, 2) bogus # (",
            "bogus i",
        ] {
            refuses(script, "bogus", &none);
        }
        refuses("unroll", "", "the schedule ends here, expected `(`");
        refuses(
            "peel(i, middle = 1)",
            "middle",
            "found `middle`, expected `first = 1` or `last = 1`",
        );
        refuses("split(i, n)", "n", "found `n`, expected `at = n / 2`");
        refuses("unroll(i)", ")", "found `)`, expected a number");
        refuses("unroll(i, x)", "x", "found `x`, expected a number");
        refuses(
            "unroll(",
            "",
            "the schedule ends here, expected an argument, `)`",
        );
        refuses("unroll(i, 2) é", "é", "`é` means nothing in a schedule");
        refuses(
            "unroll(i, 99999999999999999999)",
            "99999999999999999999",
            "99999999999999999999 does not fit 64 bits",
        );
        refuses(
            "tile_indirection_using_forall(i, chunks = 2, chunks = 4)",
            "chunks = 4",
            "`chunks` is given twice",
        );
        refuses(
            "tile_indirection_using_forall(i, j)",
            "j",
            "found `j`, expected `reduction`, `chunks`, `strategy`",
        );
    }

    #[test]
    fn mistakes_in_several_steps_are_told_together() {
        let errors_of = |script: &str| {
            let errors = script.parse::<Schedule>().unwrap_err().list;
            let at = errors.iter().map(|it| script[it.span.range()].to_owned());
            at.collect::<Vec<_>>()
        };
        assert_eq!(
            errors_of("unrol(i, 4) melt(i)\nunroll(i, 2)\nunroll(i)"),
            ["unrol", "melt", ")"]
        );
        assert_eq!(errors_of("unroll(, 2); unroll(i, ); #\n é"), [",", ")"]);
        let over_lines =
            "tile_indirection_using_forall(i,\n chunks = x,\n reduction(y) = add_sat(3))\nunroll()";
        assert_eq!(errors_of(over_lines), ["x", ")"]);
        assert_eq!(errors_of(&"melt(i)\n".repeat(1000)).len(), ERRORS_REPORTED);
    }

    #[test]
    fn one_step_is_one() {
        let words = |script: &str| script.parse::<Step>().unwrap_err().to_string();
        assert_eq!(
            words("unroll(i, 2); unroll(i, 2)"),
            "expected one step, found 2"
        );
        assert_eq!(words(""), "expected one step, found 0");
    }
}
