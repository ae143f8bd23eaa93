//! The one table, as Markdown, as CSV, and as lines of JSON.

use crate::measure::Measurement;
use crate::peers::Bandwidth;
use crate::statistics::Spread;
use crate::variant::Variant;
use serde_json::{Map, Value, json};

/// A column: its name in the table, its key for programs, and what stands in it.
struct Column {
    title: String,
    key: String,
    value: Box<dyn Fn(&Measurement) -> Value>,
}

impl Column {
    fn new(
        title: impl Into<String>,
        key: impl Into<String>,
        value: impl Fn(&Measurement) -> Value + 'static,
    ) -> Self {
        Self {
            title: title.into(),
            key: key.into(),
            value: Box::new(value),
        }
    }
}

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Markdown,
    Csv,
    Json,
}

impl Format {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "markdown" => Some(Self::Markdown),
            "csv" => Some(Self::Csv),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// The table of `measurements`.
pub(crate) fn table(
    measurements: &[Measurement],
    bandwidth: Option<Bandwidth>,
    format: Format,
) -> String {
    let columns = columns(bandwidth);
    let rows = measurements.iter().map(|it| {
        let values = columns.iter().map(|column| (column.value)(it));
        values.collect::<Vec<_>>()
    });
    let titles: Vec<_> = columns.iter().map(|it| it.title.as_str()).collect();
    let keys: Vec<_> = columns.iter().map(|it| it.key.as_str()).collect();
    match format {
        Format::Markdown => {
            let head = format!(
                "| {} |\n|---|{}\n",
                titles.join(" | "),
                "--:|".repeat(titles.len() - 1)
            );
            rows.fold(head, |table, row| {
                let row: Vec<_> = row.iter().map(short).collect();
                table + &format!("| {} |\n", row.join(" | "))
            })
        }
        Format::Csv => rows.fold(keys.join(",") + "\n", |table, row| {
            let row: Vec<_> = row.iter().map(plain).collect();
            table + &row.join(",") + "\n"
        }),
        Format::Json => rows.fold(String::new(), |lines, row| {
            let keys = keys.iter().map(|key| (*key).to_owned());
            let object: Map<String, Value> = keys.zip(row).collect();
            lines + &Value::Object(object).to_string() + "\n"
        }),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn short(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap_or_default();
            let digits = if number < 0.1 { 3 } else { 2 };
            format!("{number:.digits$}")
        }
        other => other.to_string(),
    }
}

/// With three digits behind the point.
fn rounded(number: Option<f64>) -> Value {
    number.map_or(Value::Null, |it| json!((it * 1000.0).round() / 1000.0))
}

fn median(spread: Option<Spread>) -> Value {
    rounded(spread.map(|it| it.median))
}

fn columns(bandwidth: Option<Bandwidth>) -> Vec<Column> {
    let mut columns = vec![
        Column::new("cell", "cell", |it| json!(it.cell.name)),
        Column::new("updates", "updates", |it| json!(it.updates)),
    ];
    for variant in Variant::ALL {
        let name = variant.name();
        let key = format!("ns {name}").replace(" -O3", "").replace(' ', "_");
        columns.push(Column::new(name, key, move |it| median(it.each(variant))));
    }
    columns.extend(what_was_taken());
    columns.extend(ratios());
    columns.push(Column::new(
        "of the bandwidth",
        "share_of_limit",
        move |it| rounded(bandwidth.and_then(|bandwidth| it.share_of_limit(bandwidth))),
    ));
    columns
}

fn what_was_taken() -> [Column; 5] {
    let of_record = |value: fn(&strew::Record) -> Value| {
        move |it: &Measurement| it.record().as_ref().map_or(Value::Null, value)
    };
    [
        Column::new("strategy", "strategy", of_record(|it| json!(it.strategy))),
        Column::new("body", "body", of_record(|it| json!(it.body.name()))),
        Column::new(
            "private MiB",
            "private_mib",
            of_record(|it| rounded(Some(it.private_bytes as f64 / f64::from(1 << 20)))),
        ),
        Column::new("best strategy", "best_strategy", |it| {
            let name = |it: Variant| match it {
                Variant::Strew {
                    strategy: Some(name),
                    ..
                } => name,
                _ => "",
            };
            it.best_strategy().map(name).into()
        }),
        Column::new("regret", "regret", |it| rounded(it.regret())),
    ]
}

fn ratios() -> Vec<Column> {
    let speedup = |title: &str, key: &str, variant: Variant| {
        Column::new(title, key, move |it| median(it.speedup(variant)))
    };
    let against = |title: &str, key: &str, peer: Variant| {
        Column::new(title, key, move |it| {
            median(it.ratio(peer, Variant::STABLE))
        })
    };
    vec![
        speedup("stable / cc", "speedup_stable", Variant::STABLE),
        Column::new("from", "speedup_stable_low", |it| {
            rounded(it.speedup(Variant::STABLE).map(|it| it.low))
        }),
        Column::new("to", "speedup_stable_high", |it| {
            rounded(it.speedup(Variant::STABLE).map(|it| it.high))
        }),
        against(
            "stable / omp reduction",
            "speedup_over_omp_reduction",
            Variant::REDUCTION,
        ),
        against(
            "stable / omp atomic",
            "speedup_over_omp_atomic",
            Variant::ATOMIC,
        ),
        speedup("races / cc", "speedup_races", Variant::RACES),
        against("stable / rayon", "speedup_over_rayon", Variant::ByHand),
        speedup("stable 1 / cc", "speedup_stable_1", Variant::STABLE_1),
        speedup("fast / cc", "speedup_fast", Variant::FAST),
        Column::new("fast / best peer", "fast_over_best_peer", |it| {
            let peer = it.best_peer();
            median(peer.and_then(|peer| it.ratio(peer, Variant::FAST)))
        }),
        speedup("exact 1 / cc", "speedup_exact_1", Variant::EXACT_1),
        speedup("exact / cc", "speedup_exact", Variant::EXACT),
    ]
}
