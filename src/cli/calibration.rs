//! The costs that `strew calibrate` has measured, in a file of the user's.

use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::report::json;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use strew::{Calibration, LINES};

/// Names the file; nothing is read where it is empty.
const VARIABLE: &str = "STREW_CALIBRATION";

/// Of the meaning of what is in the file.
const VERSION: u32 = 1;

/// The file.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    version: u32,
    #[serde(flatten)]
    costs: Costs,
}

#[derive(Debug, Serialize, Deserialize)]
struct Costs {
    update: f64,
    wait: f64,
    run: f64,
    lines: [f64; LINES],
    sort: f64,
    merge: f64,
    share: f64,
}

impl From<&Calibration> for Costs {
    fn from(costs: &Calibration) -> Self {
        let Calibration {
            update,
            wait,
            run,
            lines,
            sort,
            merge,
            share,
        } = *costs;
        Self {
            update,
            wait,
            run,
            lines,
            sort,
            merge,
            share,
        }
    }
}

impl From<Costs> for Calibration {
    fn from(costs: Costs) -> Self {
        let Costs {
            update,
            wait,
            run,
            lines,
            sort,
            merge,
            share,
        } = costs;
        Self {
            update,
            wait,
            run,
            lines,
            sort,
            merge,
            share,
        }
    }
}

/// Why a file is of no use.
#[derive(Debug)]
enum Unusable {
    Missing,
    Unread(std::io::Error),
    Malformed(serde_json::Error),
    OtherVersion(u64),
    Unsound,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "there is no such file, which {VARIABLE} names"),
            Self::Unread(error) => error.fmt(f),
            Self::Malformed(error) => write!(f, "not what `strew calibrate` writes: {error}"),
            Self::OtherVersion(version) => {
                write!(f, "of version {version}, and this strew takes {VERSION}")
            }
            Self::Unsound => f.write_str("a cost is negative"),
        }
    }
}

/// Where the file is, by the environment; nowhere if it says so or names no home.
pub(crate) fn place() -> Option<PathBuf> {
    place_in(|name| std::env::var_os(name))
}

fn place_in(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(named) = variable(VARIABLE) {
        return (!named.is_empty()).then(|| PathBuf::from(named));
    }
    // A relative one is to be ignored, by the specification of these folders.
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|it| it.is_absolute())
    };
    let folder = absolute("XDG_CONFIG_HOME");
    let folder = folder.or_else(|| Some(absolute("HOME")?.join(".config")));
    Some(folder?.join("strew/calibration.json"))
}

/// The costs of the file, or usual ones where there is none; a file that is of no use is told of.
pub(crate) fn costs(console: &mut Console) -> Calibration {
    let Some(place) = place() else {
        return Calibration::default();
    };
    let why = match read(&place) {
        Ok(Some(costs)) => return costs,
        // Whoever names a file expects it to be there.
        Ok(None) if std::env::var_os(VARIABLE).is_some() => Unusable::Missing,
        Ok(None) => return Calibration::default(),
        Err(why) => why,
    };
    console.talk_once(&format!(
        "warning: {}: {why}; usual costs are taken, and `strew calibrate` writes the file anew",
        place.display()
    ));
    Calibration::default()
}

/// `None` where there is no file.
fn read(place: &Path) -> Result<Option<Calibration>, Unusable> {
    match std::fs::read(place) {
        Ok(text) => parse(&text).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Unusable::Unread(error)),
    }
}

fn parse(text: &[u8]) -> Result<Calibration, Unusable> {
    let value: serde_json::Value = serde_json::from_slice(text).map_err(Unusable::Malformed)?;
    match value.get("version").and_then(serde_json::Value::as_u64) {
        Some(version) if version != u64::from(VERSION) => {
            return Err(Unusable::OtherVersion(version));
        }
        _ => {}
    }
    let stored: Stored = serde_json::from_value(value).map_err(Unusable::Malformed)?;
    let costs = Calibration::from(stored.costs);
    if costs.is_sound() {
        Ok(costs)
    } else {
        Err(Unusable::Unsound)
    }
}

impl From<&Calibration> for Stored {
    fn from(costs: &Calibration) -> Self {
        Self {
            version: VERSION,
            costs: costs.into(),
        }
    }
}

/// The text of the file.
fn text(costs: &Calibration) -> String {
    // Numbers under names are always text.
    serde_json::to_string_pretty(&Stored::from(costs)).unwrap_or_default() + "\n"
}

/// The same in one line.
pub(crate) fn line(costs: &Calibration) -> String {
    json(&Stored::from(costs))
}

/// Keeps `costs` for later runs.
pub(crate) fn keep(costs: &Calibration, place: &Path) -> Result<(), Failure> {
    let folder = place.parent().filter(|it| !it.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), std::fs::create_dir_all);
    let written = made.and_then(|()| std::fs::write(place, text(costs)));
    written.map_err(|error| Failure::file(place, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<String> {
        let find = |name: &str| {
            let found = variables.iter().find(|(it, _)| *it == name);
            found.map(|(_, value)| OsString::from(value))
        };
        place_in(find).map(|it| it.display().to_string())
    }

    #[test]
    fn the_environment_names_the_file() {
        let home = ("HOME", "/h");
        let at = |text: &str| Some(text.to_owned());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[home]), at("/h/.config/strew/calibration.json"));
        let config = ("XDG_CONFIG_HOME", "/c");
        assert_eq!(of(&[home, config]), at("/c/strew/calibration.json"));
        let relative = ("XDG_CONFIG_HOME", "c");
        assert_eq!(of(&[home, relative]), of(&[home]));
        assert_eq!(of(&[home, config, (VARIABLE, "x.json")]), at("x.json"));
        assert_eq!(of(&[home, config, (VARIABLE, "")]), None);
    }

    #[test]
    fn what_is_kept_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a/b/c.json");
        assert!(matches!(read(&place), Ok(None)));
        let costs = Calibration {
            sort: 1.25,
            ..Calibration::default()
        };
        keep(&costs, &place).unwrap();
        assert_eq!(read(&place).unwrap(), Some(costs));
        let error = keep(&costs, folder.path()).unwrap_err();
        assert_eq!(error.status(), 2);
    }

    #[test]
    fn what_strew_did_not_write_is_of_no_use() {
        let good = text(&Calibration::default());
        let why = |text: &str| parse(text.as_bytes()).unwrap_err().to_string();
        assert!(why("").starts_with("not what `strew calibrate` writes"));
        assert!(why("[1]").starts_with("not what `strew calibrate` writes"));
        let without = good.replace("\"sort\"", "\"sorts\"");
        assert!(why(&without).contains("missing field `sort`"));
        let short = good.replace("14.4", "\"14\"");
        assert!(why(&short).starts_with("not what `strew calibrate` writes"));
        let later = good.replace("\"version\": 1", "\"version\": 2");
        assert_eq!(why(&later), "of version 2, and this strew takes 1");
        let negative = good.replace("11.6", "-11.6");
        assert_eq!(why(&negative), "a cost is negative");
    }
}
