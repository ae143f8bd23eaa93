//! What messages are made of: guesses at what somebody meant to write, and numbers of things.

/// No name longer than this, in bytes, is compared: what it takes grows with the product of both
/// lengths.
const LONGEST: usize = 64;

/// The candidate that `name` most likely was meant to be: it takes the fewest edits (letters put
/// in, left out, replaced or exchanged with their neighbour), and they are at most a third of the
/// longer of the two. Among equals the first in the order of the alphabet, whatever the order of
/// the candidates.
///
/// ```
/// use strew_affine::spelling::nearest;
///
/// assert_eq!(nearest("wieghts", ["out", "weights"]), Some("weights"));
/// assert_eq!(nearest("velocity", ["out", "weights"]), None);
/// ```
pub fn nearest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let is_short = |it: &str| it.len() <= LONGEST;
    let letters = |it: &str| it.chars().count();
    candidates
        .into_iter()
        .filter(|it| is_short(name) && is_short(it))
        .map(|it| (strsim::damerau_levenshtein(name, it), it))
        .filter(|(edits, it)| 3 * edits <= letters(name).max(letters(it)))
        .min()
        .map(|(_, it)| it)
}

/// So many of what `noun` names one of.
///
/// ```
/// use strew_affine::spelling::counted;
///
/// assert_eq!(counted(1, "subscript"), "1 subscript");
/// assert_eq!(counted(0, "subscript"), "0 subscripts");
/// assert_eq!(counted(2, "entry"), "2 entries");
/// assert_eq!(counted(2, "array"), "2 arrays");
/// ```
pub fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {}", plural(noun)),
    }
}

fn plural(noun: &str) -> String {
    let ends_in_vowel = |it: &str| it.ends_with(['a', 'e', 'i', 'o', 'u']);
    match noun.strip_suffix('y') {
        Some(stem) if !ends_in_vowel(stem) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_forgiven_and_another_word_is_not() {
        assert_eq!(nearest("seq", ["seg", "x"]), Some("seg"));
        assert_eq!(nearest("totals", ["total", "n"]), Some("total"));
        assert_eq!(nearest("übre", ["über"]), Some("über"));
        assert_eq!(nearest("weights", ["seg", "x"]), None);
        assert_eq!(nearest("n", ["m"]), None);
        assert_eq!(nearest("xs", ["xb", "xa", "xxs"]), Some("xxs"));
        assert_eq!(nearest("abc", ["abd", "aba"]), Some("aba"));
    }

    #[test]
    fn names_that_nobody_typed_are_not_compared() {
        let long = "x".repeat(1 << 20);
        assert_eq!(nearest(&long, [long.as_str()]), None);
        assert_eq!(nearest("x", [long.as_str()]), None);
    }
}
