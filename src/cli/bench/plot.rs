//! A picture of what was measured: time against threads, or against the size that varies, one line
//! a variant.

use super::measure::Row;
use crate::cli::args::Vary;
use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use strew::ir::spelling::counted;

const SIZE: (u32, u32) = (840, 520);

/// From the top of one name to that of the next, in pixels, and where the first one is.
const NAMES: (u32, u32) = (20, 50);

/// One variant in one mode.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
}

/// The rows as SVG.
///
/// # Errors
/// Where there is nothing to show, or values that are no numbers.
pub(super) fn svg(kernel: &str, rows: &[Row], vary: Option<&Vary>) -> Result<String, String> {
    let lines = lines(rows, vary.is_some());
    let points = || lines.iter().flat_map(|it| it.points.iter().copied());
    let across = range(points().map(|it| it.0)).ok_or("nothing was measured")?;
    let up = range(points().map(|it| it.1)).ok_or("nothing was measured")?;
    let per_update = rows.iter().all(|it| it.ns_per_update.is_some());
    let labels = Labels {
        title: kernel,
        across: vary.map_or("threads", |it| it.name.as_str()),
        up: if per_update {
            "nanoseconds per update"
        } else {
            "milliseconds"
        },
    };
    let mut text = String::new();
    {
        let (width, height) = SIZE;
        let names = NAMES.1 + NAMES.0 * lines.len() as u32;
        let size = (width, height.max(names));
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(&area, &labels, &lines, (across, up)).map_err(|error| error.to_string())?;
    }
    Ok(text)
}

struct Labels<'l> {
    title: &'l str,
    across: &'l str,
    up: &'l str,
}

/// The rows of one variant and mode are one line; one that was measured on one thread alone where
/// others were on several is level, to compare them with.
fn lines(rows: &[Row], varies: bool) -> Vec<Line> {
    let mut found: BTreeMap<(usize, String), Vec<(f64, f64)>> = BTreeMap::new();
    let mut names: Vec<String> = Vec::new();
    for row in rows {
        let threads = if varies {
            format!(", {}", counted(row.threads, "thread"))
        } else {
            String::new()
        };
        let mode = row.mode.map_or_else(String::new, |it| format!(" {it}"));
        let name = match row.variant.as_str() {
            "serial" => "serial".to_owned(),
            variant => format!("{variant}{mode}{threads}"),
        };
        let place = names.iter().position(|it| *it == name).unwrap_or_else(|| {
            names.push(name.clone());
            names.len() - 1
        });
        let at = row.at.as_ref().and_then(|it| it.parse().ok());
        let across = at.unwrap_or(row.threads as f64);
        let up = row.ns_per_update.unwrap_or(row.median_seconds * 1e3);
        found.entry((place, name)).or_default().push((across, up));
    }
    let most = found.values().map(Vec::len).max().unwrap_or(0);
    let all = range(found.values().flatten().map(|it| it.0));
    let level = |points: Vec<(f64, f64)>| match (points.as_slice(), &all) {
        ([(at, up)], Some(all)) if most > 1 && *at <= all.start => {
            vec![(all.start, *up), (all.end, *up)]
        }
        _ => points,
    };
    let lines = found.into_iter();
    lines
        .map(|((_, name), points)| Line {
            name,
            points: level(points),
        })
        .collect()
}

/// From the least to the greatest.
fn range(values: impl Iterator<Item = f64>) -> Option<Range<f64>> {
    let mut positive = values.filter(|it| it.is_finite() && *it > 0.0);
    let first = positive.next()?;
    let (least, greatest) = positive.fold((first, first), |(least, greatest), it| {
        (least.min(it), greatest.max(it))
    });
    Some(least..greatest)
}

/// Both axes are logarithmic: sizes and times spread over orders of magnitude, and speedups are
/// distances.
fn draw(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    labels: &Labels<'_>,
    lines: &[Line],
    (across, up): (Range<f64>, Range<f64>),
) -> Result<(), Box<dyn std::error::Error>> {
    area.fill(&WHITE)?;
    let across = (across.start * 0.95..across.end * 1.05).log_scale();
    let up = (up.start * 0.8..up.end * 1.3).log_scale();
    let mut chart = ChartBuilder::on(area)
        .caption(labels.title, ("sans-serif", 20))
        .margin(12)
        .margin_right(230)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(across, up)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.15))
        .x_desc(labels.across)
        .y_desc(labels.up)
        .x_label_formatter(&|value| short(*value))
        .y_label_formatter(&|value| short(*value))
        .label_style(("sans-serif", 14))
        .draw()?;
    let (plane, _) = chart.plotting_area().get_pixel_range();
    for (index, line) in lines.iter().enumerate() {
        let style = style(index);
        let (dash, gap) = DASHES[index % DASHES.len()];
        let mark = MARKS[index % MARKS.len()];
        let points = line.points.iter().copied();
        chart.draw_series(DashedLineSeries::new(points, dash, gap, style))?;
        chart.draw_series(line.points.iter().map(|it| mark.at(*it, style)))?;
        let top = (NAMES.1 + NAMES.0 * index as u32) as i32;
        let left = plane.end + 14;
        area.draw(&DashedPathElement::new(
            [(left, top), (left + 26, top)],
            dash,
            gap,
            style,
        ))?;
        area.draw(&mark.at((left + 13, top), style))?;
        area.draw(&Text::new(
            line.name.clone(),
            (left + 34, top - 7),
            ("sans-serif", 14),
        ))?;
    }
    area.present()?;
    Ok(())
}

/// Colours that are told apart by everybody, and of different darkness: Okabe and Ito, Color
/// Universal Design, 2008.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 0, 0),
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// In gray, dashes and marks tell lines apart: these are as many as have no divisor in common with
/// the number of marks, so that any thirty neighbours differ.
const DASHES: [(i32, i32); 5] = [(1000, 0), (9, 4), (3, 3), (18, 5), (6, 9)];

/// What stands at each point of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Disc,
    Triangle,
    Cross,
    Ring,
    OpenTriangle,
    LargeDisc,
}

const MARKS: [Mark; 6] = [
    Mark::Disc,
    Mark::Triangle,
    Mark::Cross,
    Mark::Ring,
    Mark::OpenTriangle,
    Mark::LargeDisc,
];

impl Mark {
    fn at<B: DrawingBackend, C: Clone + 'static>(
        self,
        at: C,
        style: ShapeStyle,
    ) -> DynElement<'static, B, C> {
        match self {
            Self::Disc => Circle::new(at, 3, style.filled()).into_dyn(),
            Self::Triangle => TriangleMarker::new(at, 6, style.filled()).into_dyn(),
            Self::Cross => Cross::new(at, 4, style).into_dyn(),
            Self::Ring => Circle::new(at, 5, style).into_dyn(),
            Self::OpenTriangle => TriangleMarker::new(at, 7, style).into_dyn(),
            Self::LargeDisc => Circle::new(at, 5, style.filled()).into_dyn(),
        }
    }
}

fn style(index: usize) -> ShapeStyle {
    let colour = COLOURS[index % COLOURS.len()];
    colour.stroke_width(2)
}

/// A number as axes write it.
fn short(value: f64) -> String {
    let rounded = format!("{value:.3}");
    rounded
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(variant: &str, threads: usize, ns: f64) -> Row {
        Row {
            variant: variant.to_owned(),
            strategy: None,
            mode: Some("stable"),
            threads,
            median_seconds: ns * 1e-6,
            low: 0.0,
            rounds: 3,
            high: 0.0,
            ns_per_update: Some(ns),
            private_bytes: None,
            speedup_over_serial: 1.0,
            at: None,
            updates: 1000,
            output_bytes: 8,
            differs: None,
        }
    }

    #[test]
    fn each_variant_is_a_line_and_has_its_name() {
        let rows = [
            row("serial", 1, 2.0),
            row("dense", 1, 2.5),
            row("dense", 2, 1.25),
        ];
        let text = svg("histogram", &rows, None).expect("a picture");
        for part in [
            "<svg",
            "histogram",
            "serial",
            "dense stable",
            "threads",
            "nanoseconds per update",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(lines(&rows, false)[0].points, [(1.0, 2.0), (2.0, 2.0)]);
        let on_two = [&rows[..], &[row("openmp", 2, 1.5)]].concat();
        assert_eq!(lines(&on_two, false)[2].points, [(2.0, 1.5)]);
        assert!(svg("nothing", &[], None).is_err());
        assert!(svg("a point", &rows[..1], None).is_ok());
    }

    #[test]
    fn numbers_on_axes_are_short() {
        assert_eq!(
            ["1000", "0.25", "2"],
            [1000.0, 0.25, 2.0]
                .map(short)
                .each_ref()
                .map(String::as_str)
        );
    }
}
