//! The command line of the bench.

use crate::measure::Effort;
use std::time::Duration;

const USAGE: &str = "\
cargo bench --bench nests -- [PART-OF-A-CELL'S-NAME]… [--quick] [--list] [--seconds S]
  --quick    three rounds
  --test     everything once on little data
  --list     the names of the cells
  --seconds  about so many for each cell";

#[derive(Clone, Debug)]
pub(crate) struct Arguments {
    /// Cells whose names hold one of these; all of them when there is none.
    filters: Vec<String>,
    pub(crate) effort: Effort,
    pub(crate) is_list: bool,
}

impl Arguments {
    /// # Errors
    /// An argument that there is not.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self {
            filters: Vec::new(),
            effort: Effort {
                is_smoke: false,
                budget: Duration::from_secs(3),
                rounds: (3, 25),
            },
            is_list: false,
        };
        let mut is_bench = false;
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                // So says `cargo bench`, and `cargo test` does not.
                "--bench" => is_bench = true,
                "--quick" => parsed.effort.rounds = (3, 3),
                "--test" => parsed.effort.is_smoke = true,
                "--help" => return Err(USAGE.to_owned()),
                "--list" => parsed.is_list = true,
                "--seconds" => {
                    let seconds = arguments.next().and_then(|it| it.parse().ok());
                    parsed.effort.budget = Duration::from_secs(seconds.ok_or(USAGE)?);
                }
                flag if flag.starts_with('-') => return Err(format!("`{flag}`?\n{USAGE}")),
                part => parsed.filters.push(part.to_owned()),
            }
        }
        if parsed.effort.is_smoke || !is_bench {
            parsed.effort.is_smoke = true;
            parsed.effort.rounds = (1, 1);
        }
        Ok(parsed)
    }

    pub(crate) fn wants(&self, cell: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|part| cell.contains(part))
    }
}
