//! The walls between the parts, read from the manifests and the sources: see ARCHITECTURE.md.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const CRATES: [&str; 6] = [".", "affine", "frontend", "transforms", "runtime", "jit"];

/// The folders that may hold `unsafe`.
const UNSAFE_CRATES: [&str; 2] = ["runtime", "jit"];

const LONGEST_FILE: usize = 600;

const WIDEST_COMMENT: usize = 100;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What the manifest of `folder` names in `[dependencies]`.
fn dependencies(folder: &str) -> Vec<String> {
    let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("a manifest");
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or("");
    let section = section.split("\n[").next().unwrap_or("");
    let names = section
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next());
    names
        .filter(|it| !it.is_empty() && !it.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
    found
}

/// Every source file of every crate, with its text.
fn all_sources() -> BTreeMap<PathBuf, String> {
    let paths = CRATES
        .iter()
        .flat_map(|it| sources(&root().join(it).join("src")));
    paths
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a source file");
            let short = path.strip_prefix(root().join(".")).unwrap_or(&path);
            let short = short.strip_prefix(root()).unwrap_or(short);
            (short.to_owned(), text)
        })
        .collect()
}

/// The lines of code: without comments, and without strings as far as one line tells.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text
        .lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line.trim()));
    lines.filter(|(_, line)| !line.starts_with("//"))
}

#[test]
fn dependencies_point_one_way() {
    let allowed: [(&str, &[&str]); 5] = [
        ("affine", &[]),
        ("frontend", &["strew-affine"]),
        ("transforms", &["strew-affine"]),
        ("runtime", &[]),
        ("jit", &["strew-affine", "strew-runtime"]),
    ];
    for (folder, allowed) in allowed {
        let ours: Vec<_> = dependencies(folder)
            .into_iter()
            .filter(|it| it.starts_with("strew"))
            .collect();
        assert!(
            ours.iter().all(|it| allowed.contains(&it.as_str())),
            "{folder} depends on {ours:?}, allowed are {allowed:?}"
        );
    }
}

#[test]
fn code_generator_pool_and_parsers_stay_behind_their_walls() {
    let homes: [(&str, &[&str]); 5] = [
        ("cranelift", &["jit"]),
        ("rayon", &["runtime", "."]),
        ("crossbeam", &["runtime"]),
        ("clap", &["."]),
        ("annotate-snippets", &["."]),
    ];
    for folder in CRATES {
        for dependency in dependencies(folder) {
            for (name, homes) in homes {
                assert!(
                    !dependency.starts_with(name) || homes.contains(&folder),
                    "{folder} depends on {dependency}"
                );
            }
        }
    }
}

#[test]
fn unsafe_code_lives_in_two_crates_and_is_justified() {
    for (path, text) in all_sources() {
        let mut safety = 0;
        for (number, line) in text.lines().map(str::trim).enumerate() {
            if line.contains("SAFETY:") {
                safety = number;
            }
            let is_unsafe = ["unsafe {", "unsafe extern \"C\" {"]
                .iter()
                .any(|it| line.contains(it));
            if line.starts_with("//") || !is_unsafe {
                continue;
            }
            let folder = path
                .iter()
                .next()
                .and_then(|it| it.to_str())
                .unwrap_or_default();
            assert!(
                UNSAFE_CRATES.contains(&folder),
                "{}: unsafe",
                path.display()
            );
            assert!(
                safety > 0 && number - safety < 12,
                "{}:{}: an unsafe block without a SAFETY note",
                path.display(),
                number + 1
            );
        }
    }
}

#[test]
fn the_other_crates_forbid_unsafe_code() {
    for folder in CRATES {
        let lib = root().join(folder).join("src/lib.rs");
        let text = fs::read_to_string(lib).expect("a library");
        let forbids = text.contains("#![forbid(unsafe_code)]");
        assert_eq!(forbids, !UNSAFE_CRATES.contains(&folder), "{folder}");
    }
}

#[test]
fn only_the_command_line_prints_or_exits() {
    let words = [
        "println!",
        "print!",
        "eprintln!",
        "eprint!",
        "io::stdout",
        "io::stderr",
        "process::exit",
    ];
    for (path, text) in all_sources() {
        if path.starts_with("src/cli") || path == Path::new("src/main.rs") {
            continue;
        }
        for (number, line) in code_lines(&text) {
            let word = words.iter().find(|word| line.contains(**word));
            assert!(word.is_none(), "{}:{number}: {line}", path.display());
        }
    }
}

#[test]
fn files_stay_readable_in_one_sitting() {
    for (path, text) in all_sources() {
        let code = text
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default();
        let length = code.lines().count();
        assert!(
            length <= LONGEST_FILE,
            "{} has {length} lines",
            path.display()
        );
    }
}

/// What formatters leave to people: code and tables in comments may be wider.
#[test]
fn prose_in_comments_is_as_wide_as_code() {
    for (path, text) in all_sources() {
        let mut is_code = false;
        for (number, line) in text.lines().enumerate() {
            let Some(comment) = line.trim_start().strip_prefix("//") else {
                is_code = false;
                continue;
            };
            let comment = comment.trim_start_matches(['/', '!']).trim_start();
            is_code ^= comment.starts_with("```");
            let is_prose = !is_code && !comment.starts_with('|');
            assert!(
                !is_prose || line.chars().count() <= WIDEST_COMMENT,
                "{}:{}: {line}",
                path.display(),
                number + 1
            );
        }
    }
}

#[test]
fn nothing_is_left_unfinished() {
    let words = [
        "todo!",
        "unimplemented!",
        "#[ignore",
        "allow(dead_code)",
        "TODO",
        "FIXME",
    ];
    for (path, text) in all_sources() {
        for (number, line) in text.lines().enumerate() {
            let word = words.iter().find(|word| line.contains(**word));
            assert!(word.is_none(), "{}:{}: {line}", path.display(), number + 1);
        }
    }
}

#[test]
fn files_that_the_pages_for_contributors_name_exist() {
    let mut named = 0;
    for page in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(page)).expect("a page");
        let spans = text.split('`').skip(1).step_by(2);
        let is_path = |it: &&str| it.contains('/') && !it.contains([' ', '<', '(', '\n']);
        for path in spans.filter(is_path) {
            assert!(root().join(path).exists(), "{page}: {path}");
            named += 1;
        }
    }
    assert!(named > 40, "{named}");
}
