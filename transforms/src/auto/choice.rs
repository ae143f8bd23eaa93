//! Why the scheduler did what it did, for explanations.

use super::saving::Saving;
use crate::{Reason, Size, Step};
use std::fmt;

/// One choice that was made for a nest, or something that was tried.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Choice {
    /// The loops of a perfect nest go in an order in which the innermost one walks along memory.
    Order {
        /// The loops in that order, each with how many cache lines an iteration would touch if it
        /// were the innermost.
        lines: Vec<(String, f64)>,
        /// That is how they are written.
        is_written: bool,
        /// The order by these numbers is another, which dependences do not allow.
        is_kept: bool,
    },
    /// Statements of a loop get loops of their own, since one of the parts is then worth tiling.
    Apart {
        /// The loop.
        path: String,
    },
    /// What nests compute in a loop gets a loop of its own, since updates behind go by it.
    KeysFirst {
        /// The loop.
        path: String,
    },
    /// Statements of a loop get loops of their own, and loops in it go around it, since it walks
    /// along memory and they do not.
    Across {
        /// The loop.
        path: String,
    },
    /// A loop over the elements of rows and those around it become one.
    ThroughRows {
        /// The loop.
        path: String,
    },
    /// Iterations in which conditions hold come apart from those in which they do not.
    Borders {
        /// The outermost loop.
        path: String,
    },
    /// Loops over the elements of records go away, so that lanes have a record each.
    Records {
        /// The loop over the records.
        path: String,
    },
    /// The iterations of a loop run at once.
    AtOnce {
        /// The loop.
        path: String,
        /// Loops that would come before it and whose iterations depend on each other, or are few.
        outer: Vec<String>,
        /// Arrays in which its iterations meet, all setting elements to the same.
        marked: Vec<String>,
    },
    /// Loops run in tiles since memory would be fetched again and again.
    Tiles {
        /// The loops, each with the size of a tile.
        sizes: Vec<(String, i64)>,
        /// The arrays that are the reason.
        arrays: Vec<String>,
        /// Each iteration of the outermost loop reads them again; else lines are left before all of
        /// their elements are used.
        is_again: bool,
        /// What a tile touches of them, or of all arrays, in bytes.
        bytes: u128,
        /// What it may.
        most: u128,
        /// So many tiles of the outermost loop use what was fetched, one after the other.
        group: Option<Size>,
    },
    /// Only the innermost loop can run at once: its iterations, in groups, go around the others.
    Columns {
        /// The loop.
        path: String,
        /// So many iterations are a group.
        points: i64,
    },
    /// Iterations only add to what they share: in private copies they run at once.
    Sums {
        /// The loop.
        path: String,
    },
    /// A loop is cut at the iteration whose row all others read.
    Pivot {
        /// The loop.
        path: String,
        /// The iterator that says which iteration that is.
        at: String,
    },
    /// Iterations of a loop fill arrays of the caller before they read them: each but the last gets
    /// its own.
    Scratch {
        /// The loop.
        path: String,
        /// The arrays.
        arrays: Vec<String>,
    },
    /// Iterations are rows of which data say where they begin and end.
    Rows {
        /// The loop.
        path: String,
        /// The arrays that say so.
        pointers: Vec<String>,
    },
    /// Counters hand out tickets: parts of a loop run at once on what they are where each part
    /// begins.
    Tickets {
        /// The loop.
        path: String,
        /// The counters.
        counters: Vec<String>,
    },
    /// Rows need all rows before them: what a group of these has settled goes into all others at
    /// once.
    Panels {
        /// The loop.
        path: String,
        /// The size of a group.
        points: i64,
    },
    /// Tiles on diagonals run at once, since both loops carry dependences over short distances.
    Diagonals {
        /// Both loops, the outer one first.
        loops: [String; 2],
        /// The distances.
        vectors: Vec<String>,
        /// The inner loop moves by so many iterations for one of the outer.
        skew: i64,
        /// The size of a tile.
        points: [i64; 2],
    },
    /// Two loops count tiles, of which those on a diagonal run at once.
    DiagonalsOfTiles {
        /// Both loops, the outer one first.
        loops: [String; 2],
    },
    /// Updates go where data say: chunks of iterations run at once.
    Scattered {
        /// The loop.
        path: String,
        /// How many chunks there are.
        chunks: u64,
        /// Their turns take different times, since loops inside compute their bounds.
        is_uneven: bool,
    },
    /// To find out whether what a loop reads and what it updates are different elements would take
    /// about as long as the loop.
    ReadsAsMuch {
        /// The loop.
        path: String,
    },
    /// A loop never has enough to do to be worth sharing.
    Little {
        /// The loop.
        path: String,
    },
    /// No loop of a nest was found that could run at once, whatever is around it or inside.
    InOrder {
        /// The loops, outermost first.
        loops: Vec<String>,
    },
    /// Subscripts wrap around at the ends of an innermost loop: what does so comes apart, so that
    /// the rest can run in lanes.
    Wraps {
        /// The loop.
        path: String,
        /// So many of its first iterations.
        first: u64,
        /// So many of its last iterations.
        last: u64,
    },
    /// A step about what is inside of the loops that run at once, or in order.
    Inside {
        /// The step.
        step: Step,
        /// What it is expected to save, where that is what it is taken for.
        saving: Option<Saving>,
    },
    /// A step was tried and declined.
    Declined {
        /// The step.
        step: Step,
        /// Why.
        reason: Reason,
    },
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order {
                lines,
                is_written,
                is_kept,
            } => order(f, lines, *is_written, *is_kept),
            Self::Apart { path } => {
                comes_apart(f, path, "since a product is among it that is worth tiling")
            }
            Self::KeysFirst { path } => comes_apart(
                f,
                path,
                "so that what says where updates go is computed at once in any mode",
            ),
            Self::Across { path } => comes_apart(
                f,
                path,
                "and loops in it that go across memory go around it, since it walks along",
            ),
            Self::ThroughRows { path } => write!(
                f,
                "{path} and loops around it become one: rows follow each other in memory, so that lanes go on from one to the next"
            ),
            Self::Borders { path } => write!(
                f,
                "conditions hold in {path} but at its borders: what is there comes apart, so that the rest runs in lanes"
            ),
            Self::Records { path } => write!(
                f,
                "loops in {path} over the elements of records go away, so that lanes have a record each"
            ),
            Self::AtOnce {
                path,
                outer,
                marked,
            } => at_once(f, path, outer, marked),
            Self::Tiles {
                sizes,
                arrays,
                is_again,
                bytes,
                most,
                group,
            } => tiles(f, (sizes, arrays, group), *is_again, (*bytes, *most)),
            Self::Columns { path, points } => write!(
                f,
                "only {path} can run at once, which is the innermost loop: groups of {points} of its iterations go around the others"
            ),
            Self::Sums { path } => write!(
                f,
                "iterations of {path} only update what they share, so they run at once on private copies"
            ),
            Self::Pivot { path, at } => write!(
                f,
                "iterations of {path} meet in that of {at} alone, whose row all others read: those before it run at once, and those behind it"
            ),
            Self::Scratch { path, arrays } => write!(
                f,
                "each iteration of {path} fills {} before it reads it: all but the last run at once with one of their own, and the caller \
                 finds what the last one leaves",
                list(arrays)
            ),
            Self::Rows { path, pointers } => write!(
                f,
                "iterations of {path} are rows that do not meet if {} never falls: where a look at that tells so, they run at once",
                list(pointers)
            ),
            Self::Tickets { path, counters } => write!(
                f,
                "all that keeps iterations of {path} in order are the tickets that they take from {}: where several threads run, each part of {path} \
                 is told beforehand with which it begins, by a first pass that only counts",
                list(counters)
            ),
            Self::Panels { path, points } => write!(
                f,
                "iterations of {path} need those before them: what is settled in front of a group of {points} is used at once"
            ),
            Self::Diagonals {
                loops,
                vectors,
                skew,
                points,
            } => diagonals(f, loops, vectors, *skew, *points),
            Self::DiagonalsOfTiles {
                loops: [outer, inner],
            } => write!(
                f,
                "{outer} and {inner} count tiles, and both carry dependences: tiles that lie on a diagonal run at once"
            ),
            Self::Wraps { path, first, last } => write!(
                f,
                "subscripts of {path} wrap around: it runs in lanes but for the {first} first and {last} last iterations of a row"
            ),
            Self::Scattered {
                path,
                chunks,
                is_uneven,
            } => scattered(f, path, *chunks, *is_uneven),
            Self::ReadsAsMuch { path } => write!(
                f,
                "{path} reads what it updates as deep inside as it makes updates: to find out whether these are different elements would take \
                 about as long as the loop"
            ),
            Self::Little { path } => write!(
                f,
                "{path} always has too little to do to share it among threads"
            ),
            Self::InOrder { loops } => in_order(f, loops),
            Self::Inside { step, saving } => inside(f, step, saving.as_ref()),
            Self::Declined { step, reason } => {
                write!(f, "tried {step}: {}: {reason}", reason.verdict())
            }
        }
    }
}

fn comes_apart(f: &mut fmt::Formatter<'_>, path: &str, why: &str) -> fmt::Result {
    write!(
        f,
        "what {path} does comes apart, {why}; sums keep their order"
    )
}

fn at_once(
    f: &mut fmt::Formatter<'_>,
    path: &str,
    outer: &[String],
    marked: &[String],
) -> fmt::Result {
    write!(f, "{path} runs at once: no two of its iterations meet")?;
    if !marked.is_empty() {
        let marked = list(marked);
        write!(f, " but in {marked}, of which all set elements to the same")?;
    }
    match outer.is_empty() {
        true => f.write_str(", and it is the outermost loop of its nest"),
        false => write!(f, "; iterations of {} do, or are few", list(outer)),
    }
}

fn scattered(f: &mut fmt::Formatter<'_>, path: &str, chunks: u64, is_uneven: bool) -> fmt::Result {
    write!(
        f,
        "{path} updates what data say, so {chunks} chunks of it run at once, and how their updates meet is decided when it runs"
    )?;
    match is_uneven {
        true => f.write_str("; they are many, since loops inside compute their bounds"),
        false => Ok(()),
    }
}

fn inside(f: &mut fmt::Formatter<'_>, step: &Step, saving: Option<&Saving>) -> fmt::Result {
    match saving {
        Some(saving @ (Saving::Chains { .. } | Saving::Lines { .. })) => {
            write!(f, "{step}: {saving}")
        }
        Some(saving) => write!(f, "{step}: {}; {saving}", purpose(step)),
        None => write!(f, "{step}: {}", purpose(step)),
    }
}

fn tiles(
    f: &mut fmt::Formatter<'_>,
    (sizes, arrays, group): (&[(String, i64)], &[String], &Option<Size>),
    is_again: bool,
    (bytes, most): (u128, u128),
) -> fmt::Result {
    let each = sizes.iter().map(|(path, size)| format!("{path} = {size}"));
    let each: Vec<_> = each.collect();
    let why = match is_again {
        true => "would be fetched again for each iteration of the outermost loop",
        false => "would lose lines before all of their elements are used",
    };
    write!(
        f,
        "tiles of {}: {} {why}; a tile touches {} of {} that stay in the cache",
        each.join(", "),
        list(arrays),
        kib(bytes),
        kib(most)
    )?;
    match group {
        Some(group) => write!(f, " for {group} tiles of the outermost loop"),
        None => Ok(()),
    }
}

fn diagonals(
    f: &mut fmt::Formatter<'_>,
    [outer, inner]: &[String; 2],
    vectors: &[String],
    skew: i64,
    [rows, columns]: [i64; 2],
) -> fmt::Result {
    write!(
        f,
        "{outer} and {inner} both carry dependences, {}: tiles of {rows} by {columns} that lie on a diagonal run at once",
        vectors.join(" ")
    )?;
    match skew {
        0 => Ok(()),
        skew => write!(
            f,
            "; {inner} moves by {skew} for each iteration of {outer}, so that none goes back"
        ),
    }
}

fn in_order(f: &mut fmt::Formatter<'_>, loops: &[String]) -> fmt::Result {
    match loops {
        [path] => write!(
            f,
            "{path} runs in order: its iterations depend on each other, or to share them does not pay"
        ),
        loops => write!(
            f,
            "none of {} can run at once for all iterations of the others; loops inside are looked at by themselves",
            list(loops)
        ),
    }
}

fn order(
    f: &mut fmt::Formatter<'_>,
    lines: &[(String, f64)],
    is_written: bool,
    is_kept: bool,
) -> fmt::Result {
    let names: Vec<_> = lines.iter().map(|(name, _)| name.clone()).collect();
    let each = lines
        .iter()
        .map(|(name, lines)| format!("{name} {lines:.3}"));
    let each: Vec<_> = each.collect();
    let how = match (is_written, is_kept) {
        (true, true) => {
            "as they are written, since dependences allow no other order that would walk along memory better"
        }
        (true, false) => "as they are written",
        (false, _) => "in this order, so that the innermost walks along memory",
    };
    write!(
        f,
        "loops {} {how}; innermost, an iteration would touch so many cache lines: {}",
        list(&names),
        each.join(", ")
    )
}

/// What a step about loops inside is taken for.
fn purpose(step: &Step) -> &'static str {
    match step {
        Step::Separate(_) => {
            "a condition or the end of a tile changes there, and each part does without that"
        }
        Step::UnrollAndJam(_) => {
            "iterations that use the same elements of inner loops share what is loaded"
        }
        Step::ScalarReplace(_) => "elements that are used again stay in registers",
        Step::Narrow(_) => {
            "numbers of fewer bits give the same, and vectors have more lanes of them"
        }
        Step::Precompute(_) => {
            "what is put into elements is computed in the lanes of vectors, before it goes where data say"
        }
        Step::Coalesce(_) => {
            "the outer one may have too few iterations for all threads, so that those of both are shared"
        }
        Step::Vectorize(_) => "elements of several iterations are in the lanes of vectors",
        Step::Unroll(_) => {
            "indices are loaded ahead of their updates, and loops of few turns go away"
        }
        _ => "it pays and is legal",
    }
}

fn list(names: &[String]) -> String {
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => "nothing".to_owned(),
    }
}

fn kib(bytes: u128) -> String {
    format!("{} KiB", bytes.div_ceil(1024))
}

#[cfg(test)]
mod tests {
    use crate::test_support::kernel;
    use crate::{Event, Machine, Observer, auto};

    #[derive(Default)]
    struct Told(Vec<String>);

    impl Observer for Told {
        fn observe(&mut self, event: Event<'_>) {
            if let Event::Chosen { choice } = event {
                self.0.push(choice.to_string());
            }
        }
    }

    #[track_caller]
    fn tells(source: &str, expected: &[&str]) {
        let mut told = Told::default();
        auto(&kernel(source), &Machine::default(), &mut told);
        for expected in expected {
            let is_told = told.0.iter().any(|it| it.contains(expected));
            assert!(is_told, "{expected}: {:?}", told.0);
        }
    }

    #[test]
    fn what_is_done_to_nests_is_said() {
        tells(
            "kernel @product(n: i64, a: f64[n, n], b: f64[n, n], c: f64[n, n]) {
               affine.for i in 0..n { affine.for j in 0..n { affine.for k in 0..n {
                 c[i, j] reduce(add) a[i, k] * b[k, j]
               } } }
             }",
            &[
                "loops i, k and j in this order, so that the innermost walks along memory; innermost, an iteration would touch so many cache lines: i 2.000, k 1.125, j 0.250",
                "i runs at once: no two of its iterations meet, and it is the outermost loop of its nest",
                "tiles of i = 32, k = 64, j = 1024: b would be fetched again for each iteration of the outermost loop; a tile touches 512 KiB of 512 KiB that stay in the cache",
                "unroll_and_jam(i_p, 2): iterations that use the same elements of inner loops share what is loaded; an iteration is expected to load 0.75 and to store 0.25 elements instead of 1.25 and 0.25",
                "vectorize(j_p, 2): elements of several iterations are in the lanes of vectors; 1 vector of 2 lanes at once, so 2 iterations are expected to take the instructions of one",
            ],
        );
        tells(
            "kernel @heat(n: i64, t: i64, a: f64[n + 2]) {
               affine.for k in 0..t { affine.for i in 1..n + 1 { a[i] = a[i - 1] + a[i + 1] } }
             }",
            &[
                "k and i both carry dependences, (0, 1) (<, -1) (<, 0) (<, 1): tiles of 64 by 128 that lie on a diagonal run at once; i moves by 1 for each iteration of k, so that none goes back",
            ],
        );
    }

    #[test]
    fn what_makes_loops_run_in_lanes_is_said() {
        tells(
            "kernel @scaled(n: i64, p: f32[n, 3]) {
               affine.for i in 0..n { affine.for c in 0..3 { p[i, c] = p[i, c] * 0.5 } }
             }",
            &[
                "c and loops around it become one: rows follow each other in memory, so that lanes go on from one to the next",
            ],
        );
        tells(
            "kernel @turned(n: i64, m: f32[3, 3], p: f32[n, 3], q: f32[n, 3]) {
               affine.for i in 0..n {
                 alloc t: f32[3]
                 affine.for r in 0..3 { affine.for c in 0..3 { t[r] reduce(add) m[r, c] * p[i, c] } }
                 affine.for s in 0..3 { q[i, s] = t[s] }
               }
             }",
            &[
                "loops in i over the elements of records go away, so that lanes have a record each",
                "scalar_replace(t): elements that are used again stay in registers",
            ],
        );
        tells(
            "kernel @near(n: i64, a: f32[n], b: f32[n]) {
               affine.for i in 0..n {
                 var s: f32 = a[i]
                 affine.if (0 < i) { s reduce(add) a[i - 1] }
                 b[i] = s
               }
             }",
            &[
                "conditions hold in i but at its borders: what is there comes apart, so that the rest runs in lanes",
                "separate(i): a condition or the end of a tile changes there, and each part does without that",
            ],
        );
    }

    #[test]
    fn what_is_left_alone_is_said() {
        tells(
            "kernel @k(n: i64, x: f64[n]) { affine.for i in 0..100 { x[i] = exp(x[i]) } }",
            &["i always has too little to do to share it among threads"],
        );
        tells(
            "kernel @k(n: i64, x: f64[n]) { affine.for i in 1..n { x[i] = x[i - 1] * 0.5 } }",
            &[
                "i runs in order: its iterations depend on each other, or to share them does not pay",
            ],
        );
        tells(
            "kernel @k(n: i64, m: i64, seg: i32[n], out: i64[m]) {
               affine.for i in 0..n { out[seg[i]] reduce(add) out[0] }
             }",
            &[
                "i reads what it updates as deep inside as it makes updates: to find out whether these are different elements would take about \
                 as long as the loop",
            ],
        );
    }
}
