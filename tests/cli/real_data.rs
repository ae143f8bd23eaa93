//! Kernels on real data, against plain loops.

use crate::{data, read, strew};

#[test]
fn arrival_delays_per_destination_are_those_of_a_plain_loop() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("delay.npy");
    let outcome = strew(&[
        "run",
        "examples/kernels/segment_sum.c",
        "--in",
        "seg=examples/data/flights_dest.npy",
        "--in",
        "x=examples/data/flights_arr_delay.npy",
        "--set",
        "m=104",
        "--out",
        &format!("out={}", out.display()),
    ]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
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
    assert_eq!(read::<f64>(out), sums);
}

#[test]
fn departures_per_hour_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("hours.npy");
    let outcome = strew(&[
        "run",
        "examples/kernels/histogram.c",
        "--in",
        "key=examples/data/flights_hour.npy",
        "--set",
        "m=24",
        "--out",
        &format!("h={}", out.display()),
    ]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let mut counts = vec![0; 24];
    for hour in read::<i32>(data("flights_hour.npy")) {
        counts[usize::try_from(hour).expect("an hour")] += 1;
    }
    assert_eq!(read::<i32>(out), counts);
}

#[test]
fn worst_delays_per_destination_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("worst.npy");
    let outcome = strew(&[
        "run",
        "examples/kernels/segment_max.c",
        "--in",
        "seg=examples/data/flights_dest.npy",
        "--in",
        "x=examples/data/flights_arr_delay.npy",
        "--set",
        "m=104",
        "--out",
        &format!("out={}", out.display()),
    ]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let mut worst = vec![0.0_f32; 104];
    let keys = read::<i32>(data("flights_dest.npy"));
    for (key, delay) in keys.iter().zip(read::<f32>(data("flights_arr_delay.npy"))) {
        let held = &mut worst[usize::try_from(*key).expect("a key")];
        *held = if delay > *held { delay } else { *held };
    }
    assert_eq!(read::<f32>(out), worst);
}

#[test]
fn the_normals_of_the_bunny_are_scattered_to_three_vertices() {
    let folder = tempfile::tempdir().expect("a folder");
    let normals = |name: &str, more: &[&str]| -> Vec<f32> {
        let out = folder.path().join(name);
        let to = format!("normal={}", out.display());
        let usual = [
            "run",
            "examples/kernels/vertex_normals.c",
            "--in",
            "tri=examples/data/bunny_triangles.npy",
            "--in",
            "pos=examples/data/bunny_positions.npy",
            "--out",
            &to,
        ];
        let outcome = strew(&[&usual, more].concat());
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        read(out)
    };
    let expected = bunny_normals();
    assert_eq!(normals("exact.npy", &["--mode", "exact"]), expected);
    let stable = normals("1.npy", &["--threads", "1"]);
    for threads in ["2", "4", "8"] {
        assert_eq!(normals(threads, &["--threads", threads]), stable);
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
