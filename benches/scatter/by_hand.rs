//! What an expert writes by hand with rayon: one private buffer a thread, then one pass that adds
//! them up.

use crate::THREADS;
use crate::data::{Elements, Problem, Slice, Value};
use rayon::prelude::*;
use std::ops::{AddAssign, Range};

/// Runs the problem; `None` where nobody has written it by hand.
pub(crate) fn run(kernel: &str, problem: &Problem, outputs: &mut [Elements]) -> Option<()> {
    match kernel {
        "k01" => histogram(problem, outputs),
        "k02" => scatter_add::<f64>(problem, outputs)
            .or_else(|| scatter_add::<f32>(problem, outputs))
            .or_else(|| scatter_add::<i32>(problem, outputs)),
        "k03" => segment_sum(problem, outputs),
        "k04" => segment_argmax(problem, outputs),
        "k05" => product(problem, outputs),
        "k06" => pagerank(problem, outputs),
        "k09" => assemble(problem, outputs),
        "k10" => deposit(problem, outputs),
        "k11" => kmeans(problem, outputs),
        "k12" => flux(problem, outputs),
        _ => None,
    }
}

/// What each thread makes of its share of `0..n`, in order.
fn shares<P: Send>(n: usize, share: impl Fn(Range<usize>) -> P + Sync) -> Vec<P> {
    let bound = |number: usize| n * number / THREADS;
    let numbers = (0..THREADS).into_par_iter();
    numbers
        .map(|number| share(bound(number)..bound(number + 1)))
        .collect()
}

/// Runs `body` on each share of `0..n` with a private copy of `out`, and adds the copies up.
fn private<T>(n: usize, out: &mut [T], body: impl Fn(Range<usize>, &mut [T]) + Sync)
where
    T: AddAssign + Copy + Default + Send + Sync,
{
    let length = out.len();
    let parts = shares(n, |range| {
        let mut part = vec![T::default(); length];
        body(range, &mut part);
        part
    });
    parts.iter().for_each(|part| add(out, part));
}

fn add<T: AddAssign + Copy + Send + Sync>(out: &mut [T], part: &[T]) {
    let pairs = out.par_iter_mut().with_min_len(4096).zip(part);
    pairs.for_each(|(out, part)| *out += *part);
}

fn output<T: Slice>(outputs: &mut [Elements], at: usize) -> Option<&mut [T]> {
    T::of_mut(outputs.get_mut(at)?)
}

fn histogram(problem: &Problem, outputs: &mut [Elements]) -> Option<()> {
    let samples = problem.slice::<f32>("x")?;
    let single = |name: &str| match problem.find(name) {
        Some(Value::Single(value)) => Some(*value),
        _ => None,
    };
    let (low, inverse) = (single("lo")?, single("inv")?);
    let last = problem.size("m")? as i32 - 1;
    private(samples.len(), output::<u32>(outputs, 0)?, |range, out| {
        for x in &samples[range] {
            let bin = ((x - low) * inverse) as i32;
            out[bin.clamp(0, last) as usize] += 1;
        }
    });
    Some(())
}

fn scatter_add<T>(problem: &Problem, outputs: &mut [Elements]) -> Option<()>
where
    T: Slice + AddAssign + Copy + Default + Send + Sync,
{
    let (keys, weights) = (problem.slice::<i32>("idx")?, problem.slice::<T>("w")?);
    private(keys.len(), output::<T>(outputs, 0)?, |range, out| {
        for (key, weight) in keys[range.clone()].iter().zip(&weights[range]) {
            out[*key as usize] += *weight;
        }
    });
    Some(())
}

fn segment_sum(problem: &Problem, outputs: &mut [Elements]) -> Option<()> {
    let (segments, x) = (problem.slice::<i32>("seg")?, problem.slice::<f32>("x")?);
    let d = problem.size("d")?;
    private(segments.len(), output::<f32>(outputs, 0)?, |range, out| {
        let rows = x[range.start * d..range.end * d].chunks_exact(d);
        for (segment, row) in segments[range].iter().zip(rows) {
            let begin = *segment as usize * d;
            let sums = out[begin..begin + d].iter_mut();
            sums.zip(row).for_each(|(sum, x)| *sum += *x);
        }
    });
    Some(())
}

fn segment_argmax(problem: &Problem, outputs: &mut [Elements]) -> Option<()> {
    let (segments, x) = (problem.slice::<i32>("seg")?, problem.slice::<f32>("x")?);
    let [Elements::F32(best), Elements::I64(at)] = outputs else {
        return None;
    };
    let length = best.len();
    let parts = shares(segments.len(), |range| {
        let mut part = vec![(f32::NEG_INFINITY, 0_i64); length];
        for number in range {
            let entry = &mut part[segments[number] as usize];
            if x[number] > entry.0 {
                *entry = (x[number], number as i64);
            }
        }
        part
    });
    for part in parts {
        let pairs = best.par_iter_mut().zip(at.par_iter_mut()).zip(part);
        pairs.with_min_len(4096).for_each(|((best, at), part)| {
            if part.0 > *best {
                (*best, *at) = part;
            }
        });
    }
    Some(())
}

fn product(problem: &Problem, outputs: &mut [Elements]) -> Option<()> {
    let (row, col) = (problem.slice::<i64>("row")?, problem.slice::<i32>("col")?);
    let (values, x) = (problem.slice::<f64>("val")?, problem.slice::<f64>("x")?);
    let bounds = balanced(row);
    private(THREADS, output::<f64>(outputs, 0)?, |range, out| {
        for r in bounds[range.start]..bounds[range.end] {
            let entries = row[r] as usize..row[r + 1] as usize;
            for (col, value) in col[entries.clone()].iter().zip(&values[entries]) {
                out[*col as usize] += value * x[r];
            }
        }
    });
    Some(())
}

/// Rows at which each thread's share of the entries begins, and the last one's ends.
fn balanced(row: &[i64]) -> Vec<usize> {
    let entries = row.last().copied().unwrap_or_default();
    let bound = |number: usize| {
        let least = entries * number as i64 / THREADS as i64;
        row.partition_point(|begin| *begin < least)
    };
    let mut bounds: Vec<_> = (0..THREADS).map(bound).collect();
    bounds.push(row.len().saturating_sub(1));
    bounds
}

fn pagerank(problem: &Problem, outputs: &mut [Elements]) -> Option<()> {
    let (row, sinks) = (problem.slice::<i64>("row")?, problem.slice::<i32>("dst")?);
    let Some(Value::Single(damp)) = problem.find("damp") else {
        return None;
    };
    let [Elements::F32(rank), Elements::F32(next)] = outputs else {
        return None;
    };
    let bounds = balanced(row);
    for _ in 0..problem.size("iters")? {
        let start = (1.0 - damp) / rank.len() as f32;
        next.par_iter_mut().for_each(|it| *it = start);
        private(THREADS, next, |range, next| {
            for v in bounds[range.start]..bounds[range.end] {
                let edges = row[v] as usize..row[v + 1] as usize;
                let share = damp * rank[v] / edges.len() as f32;
                for sink in &sinks[edges] {
                    next[*sink as usize] += share;
                }
            }
        });
        let pairs = rank.par_iter_mut().with_min_len(4096).zip(&*next);
        pairs.for_each(|(rank, next)| *rank = *next);
    }
    Some(())
}

fn assemble(problem: &Problem, outputs: &mut [Elements]) -> Option<()> {
    let (triangles, _) = problem.slice::<i32>("tri")?.as_chunks::<3>();
    let (positions, _) = problem.slice::<f64>("xy")?.as_chunks::<2>();
    let (slots, _) = problem.slice::<i32>("slot")?.as_chunks::<9>();
    let [Elements::F64(entries), Elements::F64(loads)] = outputs else {
        return None;
    };
    let lengths = (entries.len(), loads.len());
    let parts = shares(triangles.len(), |range| {
        let mut part = (vec![0.0; lengths.0], vec![0.0; lengths.1]);
        for (nodes, slots) in triangles[range.clone()].iter().zip(&slots[range]) {
            let at = nodes.map(|node| positions[node as usize]);
            triangle(&at, nodes, slots, &mut part);
        }
        part
    });
    for part in &parts {
        add(entries, &part.0);
        add(loads, &part.1);
    }
    Some(())
}

/// Adds what one triangle gives to the matrix and to the loads.
fn triangle(
    at: &[[f64; 2]; 3],
    nodes: &[i32; 3],
    slots: &[i32; 9],
    (entries, loads): &mut (Vec<f64>, Vec<f64>),
) {
    let sides = [0, 1, 2].map(|i| {
        let (j, k) = (at[(i + 1) % 3], at[(i + 2) % 3]);
        [j[1] - k[1], k[0] - j[0]]
    });
    let [first, second, _] = sides;
    let area = 0.5 * (first[0] * second[1] - second[0] * first[1]).abs();
    for (i, side) in sides.iter().enumerate() {
        loads[nodes[i] as usize] += area / 3.0;
        for (j, other) in sides.iter().enumerate() {
            let product = side[0] * other[0] + side[1] * other[1];
            entries[slots[3 * i + j] as usize] += product / (4.0 * area);
        }
    }
}

fn deposit(problem: &Problem, outputs: &mut [Elements]) -> Option<()> {
    let (x, y) = (problem.slice::<f64>("px")?, problem.slice::<f64>("py")?);
    let charges = problem.slice::<f64>("q")?;
    let width = problem.size("nx")?;
    private(charges.len(), output::<f64>(outputs, 0)?, |range, out| {
        let places = x[range.clone()].iter().zip(&y[range.clone()]);
        for ((x, y), charge) in places.zip(&charges[range]) {
            let (i, j) = (*x as i32, *y as i32);
            let (fx, fy) = (x - f64::from(i), y - f64::from(j));
            let low = j as usize * width + i as usize;
            out[low] += charge * (1.0 - fx) * (1.0 - fy);
            out[low + 1] += charge * fx * (1.0 - fy);
            out[low + width] += charge * (1.0 - fx) * fy;
            out[low + width + 1] += charge * fx * fy;
        }
    });
    Some(())
}

fn kmeans(problem: &Problem, outputs: &mut [Elements]) -> Option<()> {
    let d = problem.size("d")?;
    let points = problem.slice::<f32>("x")?;
    let centres = problem.slice::<f32>("cen")?;
    let [Elements::F64(sums), Elements::I64(counts)] = outputs else {
        return None;
    };
    let lengths = (sums.len(), counts.len());
    let parts = shares(problem.size("n")?, |range| {
        let mut part = (vec![0.0_f64; lengths.0], vec![0_i64; lengths.1]);
        for point in points[range.start * d..range.end * d].chunks_exact(d) {
            let nearest = nearest(point, centres);
            part.1[nearest] += 1;
            let sums = part.0[nearest * d..(nearest + 1) * d].iter_mut();
            sums.zip(point).for_each(|(sum, x)| *sum += f64::from(*x));
        }
        part
    });
    for part in &parts {
        add(sums, &part.0);
        add(counts, &part.1);
    }
    Some(())
}

fn nearest(point: &[f32], centres: &[f32]) -> usize {
    let (mut nearest, mut best) = (0, f32::INFINITY);
    for (number, centre) in centres.chunks_exact(point.len()).enumerate() {
        let pairs = point.iter().zip(centre);
        let distance = pairs.fold(0.0, |sum, (x, c)| sum + (x - c) * (x - c));
        if distance < best {
            (nearest, best) = (number, distance);
        }
    }
    nearest
}

fn flux(problem: &Problem, outputs: &mut [Elements]) -> Option<()> {
    let (from, to) = (problem.slice::<i32>("ei")?, problem.slice::<i32>("ej")?);
    let (values, factors) = (problem.slice::<f64>("u")?, problem.slice::<f64>("g")?);
    private(factors.len(), output::<f64>(outputs, 0)?, |range, out| {
        let edges = from[range.clone()].iter().zip(&to[range.clone()]);
        for ((from, to), factor) in edges.zip(&factors[range]) {
            let (from, to) = (*from as usize, *to as usize);
            let flux = factor * (values[from] - values[to]);
            out[from] -= flux;
            out[to] += flux;
        }
    });
    Some(())
}
