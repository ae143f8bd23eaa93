//! `strew --version`: what this strew is made of, and the processor that it would make code for.

use std::fmt::Write as _;
use strew::Caches;

/// The version, its features, and the processor with what generated code may use of it.
pub(crate) fn text() -> String {
    let mut text = format!("strew {}\n", env!("CARGO_PKG_VERSION"));
    let mut line = |what: &str, is: &str| {
        // Writing to a `String` does not fail.
        let _ = writeln!(text, "{what:<11}{is}");
    };
    let tests = if cfg!(debug_assertions) {
        ", every step verified"
    } else {
        ""
    };
    line("features", &format!("cli{tests}"));
    if let Some(model) = model(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()) {
        line("processor", model);
    }
    match strew::processor() {
        Ok(found) => {
            line("target", &found.target);
            line("found", &found.features.join(" "));
        }
        Err(error) => line("target", &error.to_string()),
    }
    let Caches {
        first,
        second,
        last,
    } = Caches::of_this_machine();
    let [first, second, last] = [first, second, last].map(|bytes| bytes >> 10);
    line("caches", &format!("{first} KiB, {second} KiB, {last} KiB"));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    line("threads", &threads.to_string());
    text
}

/// The name of the processor in `/proc/cpuinfo` of Linux.
fn model(cpuinfo: &str) -> Option<&str> {
    let (_, model) = cpuinfo
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == "model name")?;
    Some(model.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_that_of_the_first_processor() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\n\nmodel name\t: another\n";
        assert_eq!(model(text), Some("Some CPU @ 2.0GHz"));
        assert_eq!(model("no such line"), None);
    }

    #[test]
    fn the_processor_is_told() {
        let text = text();
        assert!(text.starts_with("strew "), "{text}");
        for word in [
            "\nfeatures   cli",
            "\ntarget     ",
            "\nfound      ",
            "\nthreads    ",
        ] {
            assert!(text.contains(word), "{text}");
        }
    }
}
