//! `strew map`: a calculator for indexing maps.

use crate::cli::args::{Map, MapCommand, MapInput, Point};
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::report;
use serde_json::{Value, json};
use std::io::Read as _;
use strew::ir::indexing::{Clash, IndexingError, IndexingMap, Interval, parse_map};
use strew::ir::spelling::counted;

pub(crate) fn map(flags: &Map, console: &mut Console) -> Result<(), Failure> {
    let (input, answers) = match &flags.command {
        MapCommand::Simplify(flags) => {
            let shape = |map: IndexingMap| Ok(Answer::Map(shaped(&map, flags.remove_unused)));
            (&flags.input, each(&flags.input, shape)?)
        }
        MapCommand::Compose(flags) => (&flags.input, composed(&flags.input, flags.remove_unused)?),
        MapCommand::Evaluate(flags) => {
            let evaluate = |map: IndexingMap| evaluated(&map, flags.at.as_ref());
            (&flags.input, each(&flags.input, evaluate)?)
        }
        MapCommand::Range(flags) => {
            let range = |map: IndexingMap| match map.result_ranges() {
                Ok(ranges) => Ok(Answer::Ranges(ranges)),
                Err(error) => Err(error.to_string().into()),
            };
            (flags, each(flags, range)?)
        }
        MapCommand::Invert(flags) => {
            let invert = |map: IndexingMap| match map.inverse() {
                Ok(inverse) => Ok(Answer::Map(shaped(&inverse, flags.remove_unused))),
                Err(IndexingError::NotInvertible(clash)) => Ok(Answer::NotInvertible(clash)),
                Err(error) => Err(error.to_string().into()),
            };
            (&flags.input, each(&flags.input, invert)?)
        }
    };
    show(&answers, input.json, console)
}

/// What is answered to one map, or to a pair of them.
enum Answer {
    Map(IndexingMap),
    Values(Option<Vec<i64>>),
    Ranges(Option<Vec<Interval>>),
    /// With two points that are taken to one, if such were found.
    NotInvertible(Option<Box<Clash>>),
}

impl Answer {
    /// The error that it is, and why.
    fn refusal(&self) -> Option<(String, String)> {
        let Self::NotInvertible(clash) = self else {
            return None;
        };
        let error = IndexingError::NotInvertible(None).to_string();
        let why = clash.as_ref().map_or_else(
            || "no inverse by division and remainder was found".to_owned(),
            ToString::to_string,
        );
        Some((error, why))
    }
}

/// An answer, or what is wrong with the question.
type Answered = Result<Answer, Mistake>;

/// What is wrong with a question.
#[derive(Clone, Debug)]
struct Mistake {
    why: String,
    /// Whether it is in the flags, and not in the map.
    is_usage: bool,
}

impl From<String> for Mistake {
    fn from(why: String) -> Self {
        Self {
            why,
            is_usage: false,
        }
    }
}

impl Mistake {
    fn usage(why: String) -> Self {
        Self {
            why,
            is_usage: true,
        }
    }
}

fn shaped(map: &IndexingMap, remove_unused: bool) -> IndexingMap {
    if remove_unused {
        map.without_unused()
    } else {
        map.simplified()
    }
}

fn each(
    input: &MapInput,
    answer: impl Fn(IndexingMap) -> Answered,
) -> Result<Vec<Answered>, Failure> {
    let texts = texts(&input.maps)?;
    Ok(texts.iter().map(|text| answer(text.map()?)).collect())
}

fn composed(input: &MapInput, remove_unused: bool) -> Result<Vec<Answered>, Failure> {
    let texts = texts(&input.maps)?;
    let answers = texts.chunks(2).map(|pair| match pair {
        [first, second] => {
            let (first, second) = (first.map()?, second.map()?);
            let both = first.then(&second).map_err(|error| match error {
                IndexingError::WrongCount { expected, found } => format!(
                    "the first map has {} and the second {}",
                    counted(found, "result"),
                    counted(expected, "dimension")
                ),
                other => other.to_string(),
            })?;
            Ok(Answer::Map(shaped(&both, remove_unused)))
        }
        _ => Err(Mistake::from(
            "`compose` takes pairs of maps, and this is the first of a pair".to_owned(),
        )),
    });
    Ok(answers.collect())
}

fn evaluated(map: &IndexingMap, at: Option<&Point>) -> Answered {
    if map.is_known_empty() {
        return Ok(Answer::Values(None));
    }
    let names = map.variable_names();
    let given = at.map_or(&[][..], |at| &at.0);
    if let Some((unknown, _)) = given.iter().find(|(name, _)| !names.contains(name)) {
        return Err(Mistake::usage(format!(
            "the map has no variable `{unknown}`"
        )));
    }
    let values = names.iter().zip(map.box_bounds()).map(|(name, bounds)| {
        let value = given.iter().find(|(given, _)| given == name);
        let value = value.map(|(_, value)| *value).or(bounds.as_point());
        value.ok_or_else(|| {
            Mistake::usage(format!(
                "`{name}` has no value; --at gives it, as in --at {name}=0"
            ))
        })
    });
    let point = values.collect::<Result<Vec<_>, _>>()?;
    map.evaluate(&point)
        .map(Answer::Values)
        .map_err(|it| it.to_string().into())
}

/// The text of a map and the line that it begins in.
struct Text {
    text: String,
    line: usize,
}

impl Text {
    fn map(&self) -> Result<IndexingMap, String> {
        parse_map(&self.text).map_err(|error| {
            let (line, column) = error.line_and_column(&self.text);
            format!("line {}, column {column}: {error}", self.line + line - 1)
        })
    }
}

/// The maps that are given, `-` replaced by those of standard input.
fn texts(maps: &[String]) -> Result<Vec<Text>, Failure> {
    let mut texts = Vec::new();
    for map in maps {
        if map == "-" {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|error| Failure::usage(format!("cannot read standard input: {error}")))?;
            // What is no text is no map either, and is answered in its place.
            texts.extend(paragraphs(&String::from_utf8_lossy(&bytes)));
        } else {
            texts.push(Text {
                text: map.clone(),
                line: 1,
            });
        }
    }
    Ok(texts)
}

/// The parts of a text between blank lines.
fn paragraphs(text: &str) -> Vec<Text> {
    let mut paragraphs: Vec<Text> = Vec::new();
    let mut is_inside = false;
    for (number, line) in text.lines().enumerate() {
        let is_blank = line.trim().is_empty();
        match paragraphs.last_mut().filter(|_| is_inside) {
            Some(paragraph) if !is_blank => {
                paragraph.text.push('\n');
                paragraph.text.push_str(line);
            }
            None if !is_blank => paragraphs.push(Text {
                text: line.to_owned(),
                line: number + 1,
            }),
            _ => {}
        }
        is_inside = !is_blank;
    }
    paragraphs
}

fn show(answers: &[Answered], as_json: bool, console: &mut Console) -> Result<(), Failure> {
    if as_json {
        let answers: Vec<_> = answers.iter().map(json_of).collect();
        console.data(&report::json(&answers))?;
    } else {
        console.data_with(|sink| {
            answers
                .iter()
                .try_for_each(|it| writeln!(sink, "{}", line_of(it)))
        })?;
    }
    for (at, answer) in answers.iter().enumerate() {
        if let Ok(answer) = answer
            && let Some((_, why)) = answer.refusal()
        {
            let which = match answers.len() {
                1 => String::new(),
                _ => format!("map {}: ", at + 1),
            };
            console.talk(&format!("note: {which}{why}"));
        }
    }
    let is_answered = |it: &Answered| it.as_ref().is_ok_and(|it| it.refusal().is_none());
    if answers.iter().all(is_answered) {
        Ok(())
    } else if answers
        .iter()
        .any(|it| it.as_ref().is_err_and(|it| it.is_usage))
    {
        Err(Failure::ShownUsage)
    } else {
        Err(Failure::Diagnosed)
    }
}

fn line_of(answer: &Answered) -> String {
    let joined = |values: &[String]| values.join(", ");
    match answer {
        // An answer is one line, whatever the question quotes.
        Err(error) => format!("error: {}", error.why.replace(['\n', '\r'], " ")),
        Ok(Answer::Map(map)) => map.to_string(),
        Ok(Answer::Values(None)) => "outside domain".to_owned(),
        Ok(Answer::Values(Some(values))) => {
            let values: Vec<_> = values.iter().map(ToString::to_string).collect();
            format!("({})", joined(&values))
        }
        Ok(answer @ Answer::NotInvertible(_)) => {
            let error = answer.refusal().unwrap_or_default().0;
            format!("error: {error}")
        }
        Ok(Answer::Ranges(None)) => "known empty".to_owned(),
        Ok(Answer::Ranges(Some(ranges))) if ranges.is_empty() => "()".to_owned(),
        Ok(Answer::Ranges(Some(ranges))) => {
            let ranges: Vec<_> = ranges.iter().map(ToString::to_string).collect();
            joined(&ranges)
        }
    }
}

fn json_of(answer: &Answered) -> Value {
    match answer {
        Err(error) => json!({ "error": error.why }),
        Ok(Answer::Map(map)) => json!({
            "map": map.to_string(),
            "known_empty": map.is_known_empty(),
        }),
        Ok(answer @ Answer::NotInvertible(clash)) => json!({
            "error": answer.refusal().unwrap_or_default().0,
            "clash": clash.as_ref().map(|it| json!({
                "points": it.points,
                "results": it.results,
            })),
        }),
        Ok(Answer::Values(values)) => json!({
            "in_domain": values.is_some(),
            "values": values,
        }),
        Ok(Answer::Ranges(ranges)) => {
            let pairs = |ranges: &Vec<Interval>| -> Vec<[i64; 2]> {
                ranges.iter().map(|it| [it.low, it.high]).collect()
            };
            json!({
                "known_empty": ranges.is_none(),
                "ranges": ranges.as_ref().map(pairs),
            })
        }
    }
}
