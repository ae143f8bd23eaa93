//! What could be asked for instead of a step that was declined: tried on the kernel, not guessed.

use crate::address::find_affine_for;
use crate::split::last_iteration;
use crate::{
    Delinearize, Distribute, Expand, Fuse, Interchange, LoopPath, Parallelize, Privatize, Reason,
    Refused, Schedule, Shift, Skew, Split, Step, TileIndirection, TileReduction,
};
use strew_affine::flat::sizes_of;
use strew_affine::verify::Verified;
use strew_affine::{AffineFor, Node};

/// Inner loops are skewed by up to so many iterations an iteration of an outer one.
const MOST_SKEW: i64 = 2;
/// Statements of bodies with more than this are not shifted.
const MOST_STATEMENTS: usize = 6;

impl Refused {
    /// What could be asked for instead: a name like the one that was asked for, or steps that are
    /// accepted one after the other by the kernel that this one was refused for.
    pub fn try_next(&self) -> Option<String> {
        self.reason.nearest().or_else(|| {
            let candidates = Candidates {
                kernel: &self.last_good,
                step: &self.step,
            };
            let mut found = candidates.of(&self.reason).into_iter();
            let legal = found.find(|it| it.apply(&self.last_good, &mut ()).is_ok())?;
            let steps: Vec<_> = legal.steps().iter().map(Step::to_string).collect();
            Some(steps.join("; "))
        })
    }
}

struct Candidates<'r> {
    kernel: &'r Verified,
    step: &'r Step,
}

impl Candidates<'_> {
    /// Schedules that might do what the step was meant for, the ones that change least first.
    fn of(&self, reason: &Reason) -> Vec<Schedule> {
        match (self.step, reason) {
            (
                Step::TileIndirectionUsingForall(request),
                Reason::Carried {
                    array,
                    combiner: Some(combiner),
                    ..
                },
            ) => vec![schedule([request
                .clone()
                .reduction(array, combiner)
                .into()])],
            (Step::TileIndirectionUsingForall(request), Reason::OtherReduction { .. }) => {
                let step = TileReduction::new(request.target.clone());
                vec![schedule([step.chunks(request.chunks).into()])]
            }
            (Step::TileReductionUsingForall(request), Reason::OtherReduction { .. }) => {
                let step = TileIndirection::new(request.target.clone());
                vec![schedule([step.chunks(request.chunks).into()])]
            }
            (Step::Parallelize(request), Reason::Carried { array, .. }) => {
                let mut found = self.parallel(&request.target);
                found.extend(self.but_for_the_last(&request.target, Some(array)));
                found
            }
            (Step::Parallelize(request), Reason::CarriedScalar { .. }) => {
                self.parallel(&request.target)
            }
            (Step::Fuse(request), Reason::Reverses { .. }) if request.shift.is_some() => {
                vec![schedule([Fuse {
                    shift: None,
                    ..request.clone()
                }
                .into()])]
            }
            (Step::Distribute(request), Reason::OneStatement { .. }) => self.expanded(request),
            (Step::Distribute(request), Reason::Reverses { array, .. }) => {
                let expand = Expand::new(array, request.target.clone());
                vec![schedule([expand.into(), self.step.clone()])]
            }
            (_, Reason::Reverses { array, .. }) => {
                let mut found = self.privatized(array);
                found.extend(self.delinearized(array));
                found.extend(self.skewed());
                found
            }
            (Step::Privatize(Privatize { target, .. }), Reason::SeenByCaller { .. }) => {
                let mut found = Vec::from(reduced(target));
                found.extend(self.but_for_the_last(target, None));
                found
            }
            (
                Step::Privatize(Privatize { target, .. }) | Step::Expand(Expand { target, .. }),
                Reason::ReadsOlder { .. } | Reason::ReadBehind { .. } | Reason::SeenByCaller { .. },
            ) => reduced(target).into(),
            (_, Reason::NotPerfectlyNested { outer, .. }) => self.distributed(outer),
            _ => Vec::new(),
        }
    }

    /// Ways to run iterations of a loop, or of one next to it, at once.
    fn parallel(&self, target: &LoopPath) -> Vec<Schedule> {
        let parallelize = |path: &LoopPath| Step::from(Parallelize::new(path.clone()));
        let mut found = Vec::from(reduced(target));
        let Ok(nested) = find_affine_for(self.kernel, target) else {
            return found;
        };
        found.extend(self.shifted(nested.it, target));
        if let [Node::AffineFor(inner)] = nested.it.body.as_slice() {
            let inner = self.path_of(inner);
            let interchange = Interchange::new(target.clone(), inner.clone());
            found.push(schedule([interchange.into(), parallelize(&inner)]));
            found.extend(self.wavefronts(target, &inner));
            found.push(schedule([parallelize(&inner)]));
        }
        if let Some(strew_affine::visit::Loop::Affine(outer)) = nested.around.last() {
            found.extend(self.wavefronts(&self.path_of(outer), target));
        }
        let distribute = Distribute::new(target.clone()).into();
        found.push(schedule([distribute, parallelize(target)]));
        found
    }

    /// The step without the last iteration of `target`: what the others leave in `array` is then
    /// nobody else's.
    fn but_for_the_last(&self, target: &LoopPath, array: Option<&String>) -> Option<Schedule> {
        let nested = find_affine_for(self.kernel, target).ok()?;
        let last = last_iteration(self.kernel, nested.it)?;
        let split = Split::new(target.clone(), last);
        let privatize = array.map(|it| Privatize::new(it, target.clone()).into());
        let steps = [Some(split.into()), privatize, Some(self.step.clone())];
        Some(steps.into_iter().flatten().collect())
    }

    /// Another statement later or earlier, so that both ends of a dependence are in one iteration.
    fn shifted(&self, target: &AffineFor, path: &LoopPath) -> Vec<Schedule> {
        let count = target.body.len();
        if !(2..=MOST_STATEMENTS).contains(&count) {
            return Vec::new();
        }
        let statements = (1..=count as u64).flat_map(|it| [(it, 1), (it, -1)]);
        let shifts = statements.map(|(statement, distance)| {
            let shift = Shift::new(statement, path.clone(), distance);
            schedule([shift.into(), Parallelize::new(path.clone()).into()])
        });
        shifts.collect()
    }

    /// `skew(j by i, 1); interchange(i, j_s); parallelize(i)`
    fn wavefronts(&self, outer: &LoopPath, inner: &LoopPath) -> Vec<Schedule> {
        let skews = self.skews(outer, inner).into_iter();
        let wavefronts = skews.map(|(skew, skewed)| {
            let interchange = Interchange::new(outer.clone(), skewed);
            schedule([
                skew,
                interchange.into(),
                Parallelize::new(outer.clone()).into(),
            ])
        });
        wavefronts.collect()
    }

    /// The step with a variable of its own for each iteration of one of its loops, the innermost
    /// first.
    fn privatized(&self, variable: &str) -> Vec<Schedule> {
        let loops = self.step.loops().into_iter().rev();
        let privatized = loops.map(|path| {
            let privatize = Privatize::new(variable, path);
            schedule([privatize.into(), self.step.clone()])
        });
        privatized.collect()
    }

    /// The step behind `delinearize(array, […])` with the sizes that the subscripts show: what
    /// these have to keep is then checked by the call.
    fn delinearized(&self, array: &str) -> Option<Schedule> {
        let mut arrays = self.kernel.arrays.iter();
        let (id, _) = arrays.find(|(_, it)| it.name == array)?;
        let sizes = sizes_of(self.kernel, id).ok()??;
        let delinearize = Delinearize::of(self.kernel, id, &sizes)?;
        Some(schedule([delinearize.into(), self.step.clone()]))
    }

    /// The step with the loops inside of the first one skewed by that.
    fn skewed(&self) -> Vec<Schedule> {
        let paths: Vec<LoopPath> = self.step.loops();
        let Some((outer, inner)) = paths.split_first() else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for path in inner {
            for (skew, skewed) in self.skews(outer, path) {
                let renamed = |it: &LoopPath| (it == path).then(|| skewed.clone());
                found.push(schedule([skew, self.step.clone().renamed(&renamed)]));
            }
        }
        found
    }

    /// Skews of `inner` by `outer` that are possible, each with what the loop is called then.
    fn skews(&self, outer: &LoopPath, inner: &LoopPath) -> Vec<(Step, LoopPath)> {
        let skews = (1..=MOST_SKEW).filter_map(|factor| {
            let skew = Step::from(Skew::new(inner.clone(), outer.clone(), factor));
            let after = skew.apply(self.kernel).ok()?;
            let name = after.iters.values().next_back()?.name.clone();
            Some((skew, LoopPath::new([name])))
        });
        skews.collect()
    }

    /// The step behind `distribute(outer)`, for each of the loops that come of that.
    fn distributed(&self, outer: &LoopPath) -> Vec<Schedule> {
        let distribute = Step::from(Distribute::new(outer.clone()));
        let Ok(after) = distribute.apply(self.kernel) else {
            return Vec::new();
        };
        let known = self.kernel.iters.len();
        let others = after.iters.values().skip(known);
        let others = others.map(|it| LoopPath::new([it.name.as_str()]));
        let parts = std::iter::once(outer.clone()).chain(others);
        let steps = parts.map(|part| {
            let renamed = |it: &LoopPath| (it == outer).then(|| part.clone());
            schedule([distribute.clone(), self.step.clone().renamed(&renamed)])
        });
        steps.collect()
    }

    /// The loop distributed behind the expansion of what its statements share.
    fn expanded(&self, request: &Distribute) -> Vec<Schedule> {
        let Ok(nested) = find_affine_for(self.kernel, &request.target) else {
            return Vec::new();
        };
        let locals = nested.it.body.iter().filter_map(|node| match node {
            Node::Declare { local, .. } => Some(self.kernel.locals[*local].name.as_str()),
            Node::Alloc { array } => Some(self.kernel.arrays[*array].name.as_str()),
            _ => None,
        });
        let expansions = locals.map(|name| Step::from(Expand::new(name, request.target.clone())));
        let mut steps: Vec<Step> = expansions.collect();
        steps.push(request.clone().into());
        vec![steps.into_iter().collect()]
    }

    fn path_of(&self, it: &AffineFor) -> LoopPath {
        LoopPath::new([self.kernel.iters[it.iter].name.as_str()])
    }
}

/// Ways to give each thread its own of what a loop only updates.
fn reduced(target: &LoopPath) -> [Schedule; 2] {
    [
        schedule([TileReduction::new(target.clone()).into()]),
        schedule([TileIndirection::new(target.clone()).into()]),
    ]
}

fn schedule<const COUNT: usize>(steps: [Step; COUNT]) -> Schedule {
    steps.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use crate::test_support::suggestion;

    const STENCIL: &str = "kernel @k(n: i64, a: f64[n + 2]) {
  affine.for t in 0..n {
    affine.for i in 1..n + 1 { a[i] = a[i - 1] + a[i + 1] }
  }
}";

    #[test]
    fn a_stencil_wants_to_be_skewed() {
        let found = |script| suggestion(STENCIL, script);
        let tile = "skew(i by t, 1); tile(t = 4, i_s = 8)";
        assert_eq!(found("tile(t = 4, i = 8)").as_deref(), Some(tile));
        let front = "skew(i by t, 2); interchange(t, i_s); parallelize(t)";
        assert_eq!(found("parallelize(t)").as_deref(), Some(front));
        assert_eq!(found("parallelize(i)").as_deref(), Some(front));
    }

    /// What has to hold for the rows to be apart is then asked of each call.
    #[test]
    fn flat_subscripts_want_to_be_rows() {
        let kernel = "kernel @k(n: i64, m: i64, p: i64, infer len: i64, a: f64[len]) {
  affine.for i in 1..n {
    affine.for j in 0..p { a[i * m + j] = a[i * m - m + j] * 2.0 }
  }
}";
        let found = suggestion(kernel, "interchange(i, j)");
        let expected = "delinearize(a, [n, m]); interchange(i, j)";
        assert_eq!(found.as_deref(), Some(expected));
    }

    #[test]
    fn reductions_shifts_and_distribution() {
        let in_loop = |body: &str| {
            format!(
                "kernel @k(n: i64, m: i64, key: i32[n], x: f64[n], y: f64[n], z: f64[n, n]) {{
                   var s: f64 = 0.0
                   affine.for i in 1..n {{ {body} }}
                 }}"
            )
        };
        for (body, script, expected) in [
            (
                "s reduce(add) x[i]",
                "parallelize(i)",
                "tile_reduction_using_forall(i, chunks = 8)",
            ),
            (
                "y[key[i]] reduce(add) x[i]",
                "parallelize(i)",
                "tile_indirection_using_forall(i, chunks = 8, strategy = auto)",
            ),
            (
                "y[i] = x[i] x[i - 1] = y[i - 1]",
                "parallelize(i)",
                "shift(S1, i, 1); parallelize(i)",
            ),
            (
                "x[i] = 1.0 affine.for j in 0..n { z[j, i] = y[j] }",
                "interchange(i, j)",
                "distribute(i); interchange(i_2, j)",
            ),
            (
                "let a: f64 = x[i] y[i] = a",
                "distribute(i)",
                "expand(a, i); distribute(i)",
            ),
            (
                "s reduce(add) x[i]",
                "privatize(s, i)",
                "tile_reduction_using_forall(i, chunks = 8)",
            ),
            (
                "s = x[i] y[i] = s",
                "distribute(i)",
                "expand(s, i); distribute(i)",
            ),
            (
                "s = x[i] y[i] = s",
                "reverse(i)",
                "privatize(s, i); reverse(i)",
            ),
        ] {
            assert_eq!(
                suggestion(&in_loop(body), script).as_deref(),
                Some(expected),
                "{body}"
            );
        }
    }

    #[test]
    fn what_nothing_makes_legal_gets_no_suggestion() {
        let source = "kernel @k(n: i64, y: f64[n]) {
  affine.for i in 1..n { y[i] = y[i] * y[i - 1] }
}";
        assert_eq!(suggestion(source, "parallelize(i)"), None);
        assert_eq!(suggestion(source, "reverse(i)"), None);
    }
}
