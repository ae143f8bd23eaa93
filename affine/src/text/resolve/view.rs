use super::{Resolver, Symbol};
use crate::text::error::ParseErrorKind;
use crate::text::tree::{Name, Tree, ViewOf};
use crate::view::{delinearized, groups, sliced};
use crate::{AffineExpr, ArrayId, Span, Subscript, View};

/// What a name of a view stands for.
#[derive(Clone, Debug)]
pub(super) struct Viewed {
    pub(super) array: ArrayId,
    /// Its own, which bound nothing: an access is out of range where that of its array is.
    extents: Vec<AffineExpr>,
    /// From the array to the view.
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Collapse {
        dimensions: Vec<usize>,
        /// The extents of what is collapsed.
        sizes: Vec<AffineExpr>,
    },
    Slice {
        offsets: Vec<AffineExpr>,
        strides: Vec<AffineExpr>,
    },
}

impl Viewed {
    pub(super) fn rank(&self) -> usize {
        self.extents.len()
    }
}

impl<'a> Resolver<'a, '_> {
    /// Declares the view even when it is wrong, where there is something that it could be of: one
    /// error is enough.
    pub(super) fn view(&mut self, name: Name<'a>, of: &ViewOf<'a>) {
        let base = match of {
            ViewOf::Collapse { base, .. } | ViewOf::Slice { base, .. } => *base,
        };
        let Some(base) = self.viewed(base) else {
            return;
        };
        let viewed = match of {
            ViewOf::Collapse { groups, span, .. } => self.collapsed(&base, groups, *span),
            ViewOf::Slice { lists, span, .. } => self.slice(&base, lists, *span),
        };
        let viewed = viewed.unwrap_or(base);
        self.keep(name, &viewed);
        self.declare(name, Symbol::View(self.views.len()));
        self.views.push(viewed);
    }

    /// What a view can be of: an array, or a view.
    fn viewed(&mut self, name: Name<'a>) -> Option<Viewed> {
        let symbol = self.lookup(name.text, name.span)?;
        self.viewed_symbol(symbol, name)
    }

    pub(super) fn viewed_symbol(&mut self, symbol: Symbol, name: Name<'a>) -> Option<Viewed> {
        match symbol {
            Symbol::Array(array) => Some(Viewed {
                array,
                extents: self.kernel.arrays[array].extents.clone(),
                steps: Vec::new(),
            }),
            Symbol::View(view) => self.views.get(view).cloned(),
            _ => self.wrong_kind(name.text, name.span, "an array"),
        }
    }

    fn collapsed(&mut self, base: &Viewed, listed: &[Vec<Tree<'a>>], span: Span) -> Option<Viewed> {
        let numbers = listed.iter().flatten().map(|it| self.affine(it));
        let numbers: Vec<_> = numbers.collect();
        let in_order = (0..).map(AffineExpr::from);
        let is_whole = numbers.len() == base.rank()
            && numbers
                .into_iter()
                .zip(in_order)
                .all(|(it, other)| it == other);
        if !is_whole || listed.iter().any(Vec::is_empty) {
            self.report(span, ParseErrorKind::Collapse(base.rank()));
            return None;
        }
        let lengths: Vec<usize> = listed.iter().map(Vec::len).collect();
        let extents = groups(&lengths, &base.extents)?.into_iter().map(|sizes| {
            let product = sizes
                .iter()
                .try_fold(AffineExpr::from(1), |product, it| product.times_written(it));
            self.in_range(product, span)
        });
        let extents = extents.collect::<Option<_>>()?;
        let mut steps = base.steps.clone();
        match steps.last_mut() {
            // Collapsing what is collapsed is one collapse.
            Some(Step::Collapse { dimensions, .. }) => {
                let merged = groups(&lengths, dimensions)?
                    .into_iter()
                    .map(|it| it.iter().sum());
                *dimensions = merged.collect();
            }
            _ => steps.push(Step::Collapse {
                dimensions: lengths,
                sizes: base.extents.clone(),
            }),
        }
        Some(Viewed {
            array: base.array,
            extents,
            steps,
        })
    }

    fn slice(&mut self, base: &Viewed, lists: &[Vec<Tree<'a>>], span: Span) -> Option<Viewed> {
        let rank = base.rank();
        if !(2..=3).contains(&lists.len()) || lists.iter().any(|it| it.len() != rank) {
            self.report(span, ParseErrorKind::Slice(rank));
            return None;
        }
        let [offsets, sizes, strides] = [0, 1, 2].map(|it| lists.get(it).map(Vec::as_slice));
        let offsets = offsets?.iter().map(|it| self.affine(it)).collect();
        let extents = sizes?.iter().map(|it| self.extent(it)).collect();
        let strides = match strides {
            Some(strides) => strides.iter().map(|it| self.extent(it)).collect(),
            None => vec![1.into(); rank],
        };
        let mut steps = base.steps.clone();
        steps.push(Step::Slice { offsets, strides });
        Some(Viewed {
            array: base.array,
            extents,
            steps,
        })
    }

    /// What the text can show again: an array parameter of which nothing but dimensions is
    /// collapsed.
    fn keep(&mut self, name: Name<'a>, viewed: &Viewed) {
        let is_parameter = self.kernel.array_params().any(|it| it == viewed.array);
        if let [Step::Collapse { dimensions, .. }] = viewed.steps.as_slice()
            && is_parameter
        {
            self.kernel.views.alloc(View {
                name: name.text.to_owned(),
                array: viewed.array,
                dimensions: dimensions.clone(),
                span: name.span,
            });
        }
    }

    /// The subscripts of the array that these of the view are.
    pub(super) fn through(
        &mut self,
        view: &Viewed,
        subscripts: Vec<Subscript>,
        span: Span,
    ) -> Option<Vec<Subscript>> {
        let mut subscripts = subscripts;
        for step in view.steps.iter().rev() {
            let Some(next) = self.through_step(step, &subscripts, span) else {
                self.report(span, ParseErrorKind::ViewTooLarge);
                return None;
            };
            subscripts = next;
        }
        Some(subscripts)
    }

    fn through_step(
        &self,
        step: &Step,
        subscripts: &[Subscript],
        span: Span,
    ) -> Option<Vec<Subscript>> {
        let kernel = &self.kernel;
        match step {
            Step::Collapse { dimensions, sizes } => {
                let groups = groups(dimensions, sizes)?.into_iter().zip(subscripts);
                let parts = groups.map(|(sizes, it)| delinearized(kernel, it, sizes, span));
                Some(parts.collect::<Option<Vec<_>>>()?.concat())
            }
            Step::Slice { offsets, strides } => {
                let by = offsets.iter().zip(strides).zip(subscripts);
                let each =
                    by.map(|((offset, stride), it)| sliced(kernel, it, offset, stride, span));
                each.collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::text::parse;

    #[track_caller]
    fn printed(body: &str) -> String {
        let head = "kernel @k(n: i64, m: i64, key: i32[n], a: f64[n, m, 2], b: f64[3, 1, 4], p: record(8) { x: i32[2] @ 0 }[n])";
        let kernels = parse(&format!("{head} {{ {body} }}")).expect("a kernel");
        let text = kernels[0].to_string();
        assert_eq!(parse(&text).expect("a kernel")[0].to_string(), text);
        let lines = text.lines().skip(1).map(str::trim);
        let lines: Vec<_> = lines.filter(|it| *it != "}").collect();
        lines.join("; ")
    }

    /// Errors as `text under the span: message`.
    #[track_caller]
    fn errors(body: &str) -> Vec<String> {
        let source = format!("kernel @k(n: i64, x: f64, a: f64[n, n], z: f64[4, 0]) {{ {body} }}");
        let errors = parse(&source).expect_err("the text is wrong");
        let shown = errors.iter().map(|error| {
            let text = source.get(error.span.range()).unwrap_or("?");
            format!("{text}: {error}")
        });
        shown.collect()
    }

    #[test]
    fn accesses_of_collapsed_parameters_show_their_view() {
        for body in [
            "view c = collapse(a, [[0, 1], [2]]); affine.for i in 0..n * m {; c[i, 0] = c[n * m - 1, 1]",
            "view c = collapse(a, [[0], [1, 2]]); affine.for i in 0..n {; c[key[i], i * 2] = 0.5",
            "view c = collapse(b, [[0, 1, 2]]); affine.for i in 0..n {; c[i] = c[i + 1]; c[key[i] * 2] = 1.0",
            "view c = collapse(p.x, [[0, 1]]); affine.for i in 0..n {; c[i] = 3",
        ] {
            let source = body.replace("{; ", "{ ").replace(';', "");
            let braces = "}".repeat(source.matches('{').count());
            let order = printed(&format!("{source} {braces}"));
            assert_eq!(order, body);
        }
    }

    #[test]
    fn what_no_collapse_gives_shows_the_array() {
        let body = "view c = collapse(a, [[0, 1], [2]]) a[0, 1, 0] = 1.0 affine.for i in 0..n { a[i floordiv m, (i + 1) mod m, 0] = 1.0 }";
        assert_eq!(
            printed(body),
            "view c = collapse(a, [[0, 1], [2]]); a[0, 1, 0] = 1.0; affine.for i in 0..n {; a[i floordiv m, (i + 1) mod m, 0] = 1.0"
        );
        let body = "view c = collapse(a, [[0], [1], [2]]) c[0, 1, 0] = 1.0";
        assert_eq!(
            printed(body),
            "view c = collapse(a, [[0], [1], [2]]); a[0, 1, 0] = 1.0"
        );
    }

    #[test]
    fn slices_and_views_of_local_arrays_are_what_they_stand_for() {
        assert_eq!(
            printed(
                "affine.for i in 1..n { view s = slice(a, [i - 1, 0, 1], [1, m, 1], [1, 2, 1]) view t = slice(s, [0, 3, 0], [1, 2, 1]) t[0, i, 0] = s[key[i], 0, 0] }"
            ),
            "affine.for i in 1..n {; a[i - 1, i * 2 + 6, 1] = a[i64(key[i]) + (i + -1), 0, 1]"
        );
        assert_eq!(
            printed("alloc t: f64[4, m] view c = collapse(t, [[0, 1]]) c[n + 1] = 1.0"),
            "alloc t: f64[4, m]; t[delinearize_index (n + 1) into (4, m)] = 1.0"
        );
    }

    #[test]
    fn views_of_views_are_one_collapse() {
        assert_eq!(
            printed(
                "view c = collapse(a, [[0, 1], [2]]) view d = collapse(c, [[0, 1]]) d[n] = c[n, 1]"
            ),
            "view c = collapse(a, [[0, 1], [2]]); view d = collapse(a, [[0, 1, 2]]); d[n] = c[n, 1]"
        );
    }

    #[test]
    fn refusals_say_what_is_asked_for() {
        for (body, expected) in [
            (
                "view c = collapse(a, [[0], [0]])",
                "collapse(a, [[0], [0]]): a collapse names each of the 2 dimensions once, in their order, as in `[[0, 1], [2]]`",
            ),
            (
                "view c = collapse(a, [[1, 0]])",
                "collapse(a, [[1, 0]]): a collapse names each of the 2 dimensions once, in their order, as in `[[0, 1], [2]]`",
            ),
            (
                "view c = collapse(a, [[0, 1], []])",
                "collapse(a, [[0, 1], []]): a collapse names each of the 2 dimensions once, in their order, as in `[[0, 1], [2]]`",
            ),
            (
                "view c = slice(a, [0, 0])",
                "slice(a, [0, 0]): a slice has a list of 2 offsets, one of 2 sizes and, perhaps, one of 2 strides",
            ),
            (
                "view c = slice(a, [0, 0], [1])",
                "slice(a, [0, 0], [1]): a slice has a list of 2 offsets, one of 2 sizes and, perhaps, one of 2 strides",
            ),
            ("view c = collapse(x, [[0]])", "x: `x` is not an array"),
            (
                "view c = fold(a, [[0, 1]])",
                "fold: `fold` cannot stand here; expected `collapse`",
            ),
            (
                "view c = collapse(z, [[0, 1]]) c[3] = 1.0",
                "c[3]: the subscripts that this has in the array need a divisor that is not positive, or a number beyond 64 bits",
            ),
            (
                "view n = collapse(a, [[0, 1]])",
                "n: the name `n` is taken; all names of a kernel are different",
            ),
            (
                "view c = collapse(a, [[0, 1]]) c[1, 2] = 1.0",
                "c[1, 2]: `c` has 1 dimension, but is given 2 subscripts",
            ),
            (
                "affine.if (n > 1) { view c = collapse(a, [[0, 1]]) } c[1] = 1.0",
                "c: `c` is not visible here",
            ),
            (
                "view c = slice(a, [0, 0], [n, n], [9223372036854775807, 1]) c[n * 2, 0] = 1.0",
                "c[n * 2, 0]: the subscripts that this has in the array need a divisor that is not positive, or a number beyond 64 bits",
            ),
        ] {
            assert_eq!(errors(body), [expected], "{body}");
        }
    }
}
