//! The examples of `docs/kernel_text.md` are what the page says they are, and its list of reserved
//! words is the grammar's.

use strew_affine::{text, verify::verify};

const PAGE: &str = include_str!("../../docs/kernel_text.md");

fn examples() -> Vec<&'static str> {
    let blocks = PAGE.split("```nest\n").skip(1);
    blocks.filter_map(|it| it.split("```").next()).collect()
}

#[test]
fn every_example_prints_as_it_stands() {
    let examples = examples();
    assert!(examples.len() > 5);
    for example in examples {
        let kernels = text::parse(example).unwrap_or_else(|errors| panic!("{errors:?}\n{example}"));
        let mut printed = String::new();
        for kernel in kernels {
            printed.push_str(&kernel.to_string());
            assert!(verify(kernel).is_ok(), "{example}");
        }
        assert_eq!(printed, example);
    }
}

#[test]
fn the_reserved_words_of_the_page_are_those_that_a_name_cannot_be() {
    let listed = PAGE.lines().filter(|it| it.starts_with("> `"));
    let words: Vec<_> = listed
        .flat_map(|it| it.split('`').skip(1).step_by(2))
        .collect();
    assert_eq!(words.len(), 43);
    let functions = strew_affine::Function::ALL.iter().map(|it| it.name());
    for word in words.into_iter().chain(functions) {
        let with = |name: &str| text::parse(&format!("kernel @k({name}: i64) {{ }}"));
        assert!(with(word).is_err(), "{word}");
        let quoted = format!("`{word}`");
        let kernel = with(&quoted).expect("a name between backquotes");
        assert!(kernel[0].to_string().contains(&quoted));
    }
    for function in strew_affine::Function::ALL {
        assert!(PAGE.contains(&format!("`{function}`")), "{function}");
    }
    for free in [
        "min", "max", "add", "auto", "affine", "scf", "for", "if", "by", "into",
    ] {
        let kernel = text::parse(&format!("kernel @k({free}: i64) {{ }}")).expect("a free name");
        assert!(!kernel[0].to_string().contains('`'));
    }
}
