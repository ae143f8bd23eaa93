//! The command line of the bench.

use crate::measure::Effort;
use crate::problems::Scale;
use crate::table::Format;
use std::time::Duration;

pub(crate) const USAGE: &str = "\
cargo bench --bench scatter -- [PART-OF-A-CELL'S-NAME]… [--quick] [--list] [--format markdown|csv|json] [--seconds S]
  --quick    three rounds with fewer updates
  --test     everything once on little data
  --list     the names of the cells
  --seconds  about so many for each cell";

#[derive(Clone, Debug)]
pub(crate) struct Arguments {
    /// Cells whose names hold one of these; all of them when there is none.
    pub(crate) filters: Vec<String>,
    pub(crate) effort: Effort,
    pub(crate) format: Format,
    pub(crate) is_list: bool,
}

impl Arguments {
    /// # Errors
    /// An argument that there is not.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self {
            filters: Vec::new(),
            effort: Effort {
                scale: Scale::Full,
                budget: Duration::from_secs(4),
                rounds: (3, 15),
            },
            format: Format::Markdown,
            is_list: false,
        };
        let mut arguments = arguments;
        let mut is_bench = false;
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                // So says `cargo bench`, and `cargo test` does not.
                "--bench" => is_bench = true,
                "--quick" => parsed.shorten(Scale::Quick, 3),
                "--test" => parsed.shorten(Scale::Smoke, 1),
                "--help" => return Err(USAGE.to_owned()),
                "--list" => parsed.is_list = true,
                "--format" => {
                    let format = arguments.next().and_then(|name| Format::parse(&name));
                    parsed.format = format.ok_or(USAGE)?;
                }
                "--seconds" => {
                    let seconds = arguments.next().and_then(|it| it.parse().ok());
                    parsed.effort.budget = Duration::from_secs(seconds.ok_or(USAGE)?);
                }
                flag if flag.starts_with('-') => return Err(format!("`{flag}`?\n{USAGE}")),
                part => parsed.filters.push(part.to_owned()),
            }
        }
        if !is_bench {
            parsed.shorten(Scale::Smoke, 1);
        }
        Ok(parsed)
    }

    fn shorten(&mut self, scale: Scale, rounds: usize) {
        self.effort.scale = scale;
        self.effort.rounds = (rounds, rounds);
    }

    pub(crate) fn wants(&self, cell: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|part| cell.contains(part))
    }
}
