//! Kernels on real data, against plain loops.

use crate::{Outcome, data, read, strew};

/// `strew run` of an example with `more`: what it says, and what it leaves in the array `name`.
#[track_caller]
fn ran<T: npyz::Deserialize>(kernel: &str, more: &[&str], name: &str) -> (Outcome, Vec<T>) {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out.npy");
    let kernel = format!("examples/kernels/{kernel}.c");
    let to = format!("{name}={}", out.display());
    let outcome = strew(&[&["run", &kernel, "--out", &to], more].concat());
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    (outcome, read(out))
}

/// The delays of flights, by destination.
const DELAYS: [&str; 6] = [
    "--in",
    "seg=examples/data/flights_dest.npy",
    "--in",
    "x=examples/data/flights_arr_delay.npy",
    "--set",
    "m=104",
];

#[test]
fn arrival_delays_per_destination_are_those_of_a_plain_loop() {
    let (outcome, found) = ran::<f64>("segment_sum", &DELAYS, "out");
    for word in [
        "segment_sum",
        "schedule",
        "strategy",
        "thread",
        "compiled",
        "ran",
        "updates/s",
    ] {
        assert!(
            outcome.stderr.contains(word),
            "no {word} in:\n{}",
            outcome.stderr
        );
    }
    let (keys, delays) = (
        read::<i32>(data("flights_dest.npy")),
        read::<f32>(data("flights_arr_delay.npy")),
    );
    let mut sums = vec![0.0_f64; 104];
    for (key, delay) in keys.iter().zip(&delays) {
        sums[usize::try_from(*key).expect("a key")] += f64::from(*delay);
    }
    // Delays are whole minutes, so that every sum is exact in any order.
    assert_eq!(found, sums);
}

#[test]
fn departures_per_hour_are_counted() {
    let hours = [
        "--in",
        "key=examples/data/flights_hour.npy",
        "--set",
        "m=24",
    ];
    let (_, found) = ran::<i32>("histogram", &hours, "h");
    let mut counts = vec![0; 24];
    for hour in read::<i32>(data("flights_hour.npy")) {
        counts[usize::try_from(hour).expect("an hour")] += 1;
    }
    assert_eq!(found, counts);
}

#[test]
fn worst_delays_per_destination_are_found() {
    let (_, found) = ran::<f32>("segment_max", &DELAYS, "out");
    let mut worst = vec![0.0_f32; 104];
    let keys = read::<i32>(data("flights_dest.npy"));
    for (key, delay) in keys.iter().zip(read::<f32>(data("flights_arr_delay.npy"))) {
        let held = &mut worst[usize::try_from(*key).expect("a key")];
        *held = if delay > *held { delay } else { *held };
    }
    assert_eq!(found, worst);
}

#[test]
fn the_normals_of_the_bunny_are_scattered_to_three_vertices() {
    let normals = |flag: &str, value: &str| -> Vec<f32> {
        let bunny = [
            "--in",
            "tri=examples/data/bunny_triangles.npy",
            "--in",
            "pos=examples/data/bunny_positions.npy",
            flag,
            value,
        ];
        ran("vertex_normals", &bunny, "normal").1
    };
    let expected = bunny_normals();
    assert_eq!(normals("--mode", "exact"), expected);
    let stable = normals("--threads", "1");
    for threads in ["2", "4", "8"] {
        assert_eq!(normals("--threads", threads), stable);
    }
    let largest = expected
        .iter()
        .fold(0.0, |largest: f32, it| largest.max(it.abs()));
    for (found, expected) in stable.iter().zip(&expected) {
        assert!(
            (found - expected).abs() <= 1e-5 * largest,
            "{found}, expected {expected}"
        );
    }
}

/// The same sums by a plain loop, operation by operation.
fn bunny_normals() -> Vec<f32> {
    let positions: Vec<f32> = read(data("bunny_positions.npy"));
    let vertex = |index: i32| -> [f32; 3] {
        let start = 3 * usize::try_from(index).expect("a vertex");
        [0, 1, 2].map(|axis| positions[start + axis])
    };
    let mut normals = vec![0.0; positions.len()];
    for triangle in read::<i32>(data("bunny_triangles.npy")).chunks_exact(3) {
        let [a, b, c] = [0, 1, 2].map(|corner| vertex(triangle[corner]));
        let edge = |to: [f32; 3]| [0, 1, 2].map(|axis| to[axis] - a[axis]);
        let (u, v) = (edge(b), edge(c));
        let cross = [
            u[1] * v[2] - u[2] * v[1],
            u[2] * v[0] - u[0] * v[2],
            u[0] * v[1] - u[1] * v[0],
        ];
        for index in triangle {
            for axis in 0..3 {
                normals[3 * *index as usize + axis] += cross[axis];
            }
        }
    }
    normals
}
