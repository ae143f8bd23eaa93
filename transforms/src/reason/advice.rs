//! Where in the source a reason shows, and what could be asked for instead.

use super::Reason;
use strew_affine::spelling::nearest;
use strew_affine::{STRATEGIES, Span};

/// A place in the source and what stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What.
    pub text: String,
}

impl Reason {
    /// The places in the source that the reason is about.
    pub fn labels(&self) -> Vec<Label> {
        let label = |span: &Span, text: String| Label { span: *span, text };
        match self {
            Self::NotAffine { span, .. } => {
                vec![label(span, "its bounds are read or computed".to_owned())]
            }
            Self::WrongCombiner { found, span, .. } => {
                vec![label(span, format!("combined by `{found}` here"))]
            }
            Self::ReadsPartialSum { array, span, .. } => {
                vec![label(span, format!("`{array}` is read here"))]
            }
            Self::NotTogether { array, span, .. } | Self::NoIdentity { array, span, .. } => {
                vec![label(span, format!("`{array}` is updated here"))]
            }
            Self::OverwritesPrivate { array, span, .. }
            | Self::KeepsOldContents { array, span, .. }
            | Self::LosesAssigned { array, span, .. } => {
                vec![label(span, format!("`{array}` is assigned here"))]
            }
            Self::MixesCombiners {
                combiners: [_, second],
                span,
                ..
            } => {
                vec![label(span, format!("combined by `{second}` here"))]
            }
            Self::Reverses {
                array,
                earlier,
                later,
                ..
            } => vec![
                label(earlier, format!("`{array}` is touched here first")),
                label(later, "and here second".to_owned()),
            ],
            Self::Carried {
                array,
                earlier,
                later,
                ..
            } => vec![
                label(earlier, format!("one iteration touches `{array}` here")),
                label(later, "a later one touches the same cell here".to_owned()),
            ],
            Self::CarriedScalar { name, span, .. } => {
                vec![label(span, format!("`{name}` is set here"))]
            }
            Self::ReadsOlder {
                name,
                written,
                span,
                ..
            }
            | Self::ReadBehind {
                name,
                written,
                span,
                ..
            } => {
                let written = written.iter();
                let mut labels: Vec<_> = written
                    .map(|it| label(it, format!("an iteration writes `{name}` here")))
                    .collect();
                labels.push(label(span, format!("`{name}` is read here")));
                labels
            }
            Self::SeenByCaller { name, written, .. } => {
                let written = written.iter();
                let labels = written.map(|it| label(it, format!("`{name}` is written here")));
                labels.collect()
            }
            Self::MayLeave {
                array: name, span, ..
            } => {
                vec![label(span, format!("`{name}` is read here"))]
            }
            Self::PacksWritten { array, span } => {
                vec![label(span, format!("`{array}` is written here"))]
            }
            Self::NoLanes { span, .. } => vec![label(span, "needed here".to_owned())],
            _ => Vec::new(),
        }
    }

    /// The word, or number, that could have been meant.
    pub(crate) fn nearest(&self) -> Option<String> {
        match self {
            Self::NoSuchLoop {
                path,
                loops,
                labels,
            } => {
                let known = loops.iter().chain(labels).map(String::as_str);
                nearest(path.names().last()?, known).map(|name| format!("`{name}`"))
            }
            Self::NoSuchStatement {
                statement, labels, ..
            } => {
                let known = labels.iter().map(String::as_str);
                nearest(&statement.to_string(), known).map(|name| format!("`{name}`"))
            }
            Self::NoSuchArray {
                name,
                arrays: known,
            }
            | Self::NoSuchParameter {
                name,
                parameters: known,
            }
            | Self::NoSuchVariable {
                name,
                variables: known,
            }
            | Self::NoSuchCombiner {
                name,
                combiners: known,
            } => nearest(name, known.iter().map(String::as_str)).map(|name| format!("`{name}`")),
            Self::NoSuchStrategy { name } => {
                nearest(name, STRATEGIES).map(|name| format!("`{name}`"))
            }
            Self::WrongCombiner { array, found, .. } => {
                Some(format!("reduction({array}) = {found}"))
            }
            Self::NestedForall { .. } => Some("the outermost of these loops alone".to_owned()),
            Self::BadNumber {
                given, least, most, ..
            } => Some(given.clamp(least, most).to_string()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed};
    use crate::test_support::refuses;

    const SOURCE: &str = "kernel @k(n: i64, seg: i32[n], x: f64[n], out: f64[n]) {
  affine.for i in 0..n {
    out[seg[i]] reduce(add) x[i]
    x[i] = out[i]
  }
}";

    #[test]
    fn a_reason_says_what_where_and_for_example() {
        let tile = "tile_indirection_using_forall(i)";
        let reason = refuses(SOURCE, tile, Illegal, "ReadsPartialSum");
        assert_eq!(
            reason.to_string(),
            "`out` is read in the loop; with private copies the read would see what one chunk has gathered so far; \
             for example with n = 2 and arrays of zeros iterations (i = 0) and (i = 1) meet in out[0]"
        );
        let labels = reason.labels();
        let places: Vec<_> = labels
            .iter()
            .map(|label| &SOURCE[label.span.range()])
            .collect();
        assert_eq!(places, ["out[i]"]);
    }

    #[test]
    fn what_could_be_asked_for_instead_is_suggested() {
        let suggestion = |script: &str, name| {
            let reason = refuses(SOURCE, script, Misaddressed, name);
            reason.nearest()
        };
        assert_eq!(
            suggestion("unroll(i, 99)", "BadNumber").as_deref(),
            Some("64")
        );
        assert_eq!(suggestion("unroll(total, 2)", "NoSuchLoop"), None);
        let clause = "tile_indirection_using_forall(i, reduction(sgg) = add)";
        assert_eq!(suggestion(clause, "NoSuchArray").as_deref(), Some("`seg`"));
    }
}
