//! Source lines joined: a backslash at the end of a line makes it and the next one a single line,
//! even inside of a word.

use bumpalo::Bump;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;
use strew_affine::Span;

/// A source text with its lines joined, which still knows where everything was.
#[derive(Debug)]
pub(crate) struct Spliced<'s> {
    text: Cow<'s, str>,
    /// For each joint, where it is in the joined text and how many bytes were left out up to there;
    /// ascending.
    joints: Vec<(usize, usize)>,
    /// Where each line of the source begins, once somebody asks for one.
    lines: OnceCell<Vec<usize>>,
    source: &'s str,
    words: Bump,
}

impl<'s> Spliced<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        let mut text = String::new();
        let mut joints = Vec::new();
        let (mut rest, mut removed) = (source, 0);
        while let Some((before, after)) = next_joint(rest) {
            text.push_str(before);
            removed += rest.len() - before.len() - after.len();
            joints.push((text.len(), removed));
            rest = after;
        }
        let text = if joints.is_empty() {
            Cow::Borrowed(source)
        } else {
            Cow::Owned(text + rest)
        };
        Self {
            text,
            joints,
            lines: OnceCell::new(),
            source,
            words: Bump::new(),
        }
    }

    /// For words that are in no line of the source.
    pub(crate) fn words(&self) -> &Bump {
        &self.words
    }

    /// The number of the line of the source that `span` begins on, the first being 1.
    pub(crate) fn line(&self, span: Span) -> usize {
        let lines = self.lines.get_or_init(|| {
            let ends = self.source.match_indices('\n');
            ends.map(|(end, _)| end + 1).collect()
        });
        lines.partition_point(|start| *start <= span.range().start) + 1
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Where a range of the joined text is in the source.
    pub(crate) fn span(&self, range: Range<usize>) -> Span {
        let removed = |count: usize| match count.checked_sub(1) {
            Some(last) => self.joints.get(last).map_or(0, |(_, removed)| *removed),
            None => 0,
        };
        let until = |position: usize| self.joints.partition_point(|(joint, _)| *joint <= position);
        let before = |position: usize| self.joints.partition_point(|(joint, _)| *joint < position);
        let start = range.start + removed(until(range.start));
        let end = range.end + removed(before(range.end));
        Span::new(start, end.max(start))
    }
}

/// What stands before and behind the first backslash that ends a line; blanks behind it do not
/// count, as in other compilers.
fn next_joint(text: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    loop {
        let position = from + text.get(from..)?.find('\\')?;
        let (before, behind) = (text.get(..position)?, text.get(position + 1..)?);
        let blank = behind.trim_start_matches([' ', '\t']);
        let next = blank.strip_prefix('\r').unwrap_or(blank);
        if let Some(after) = next.strip_prefix('\n') {
            return Some((before, after));
        }
        from = position + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_on_in_the_next_line() {
        let source = "ab\\\ncd \\ \r\n ef \\ g\\n";
        let spliced = Spliced::new(source);
        assert_eq!(spliced.text(), "abcd  ef \\ g\\n");
        let shown = |range| &source[spliced.span(range).range()];
        assert_eq!(shown(0..4), "ab\\\ncd");
        assert_eq!(shown(0..2), "ab");
        assert_eq!(shown(2..4), "cd");
        assert_eq!(shown(6..8), "ef");
    }

    #[test]
    fn a_text_without_joints_is_not_copied() {
        assert!(matches!(Spliced::new("a \\ b").text, Cow::Borrowed(_)));
    }
}
