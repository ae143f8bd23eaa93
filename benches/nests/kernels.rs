//! The kernels, of `tests/nests`, and the sizes that they are measured in.

/// What an array of floats holds before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Anything from 0 to 1.
    Any,
    /// The same, and square matrices have a diagonal that outweighs their rows: they can be
    /// decomposed, and solved for.
    Dominant,
}

/// A kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nest {
    /// In cells; the function may serve several.
    pub(crate) name: &'static str,
    pub(crate) function: &'static str,
    pub(crate) source: &'static str,
    pub(crate) contents: Contents,
    /// The scalars, in their order, that make all arrays together about as large as the first
    /// cache, the second, and much more; for kernels that do much with each element no more than
    /// take a second or two.
    pub(crate) scalars: [&'static [f64]; 3],
}

impl Nest {
    /// How often a product of matrices multiplies and adds in a size; of other kernels `None`.
    pub(crate) fn operations(&self, level: usize) -> Option<f64> {
        match self.scalars[level] {
            [n, m, k] if self.name.starts_with("product") => Some(2.0 * n * m * k),
            _ => None,
        }
    }
}

/// What the scalars are chosen for.
pub(crate) const LEVELS: [&str; 3] = ["L1", "L2", "memory"];

macro_rules! nests {
    ($($name:ident = $function:ident $contents:ident [$($scalars:expr),*];)*) => {
        /// All of them.
        pub(crate) const NESTS: &[Nest] = &[$(Nest {
            name: stringify!($name),
            function: stringify!($function),
            source: include_str!(concat!("../../tests/nests/", stringify!($function), ".c")),
            contents: Contents::$contents,
            scalars: [$(&$scalars),*],
        }),*];
    };
}

nests! {
    product_ijk = product_ijk Any [[32.0, 32.0, 32.0], [160.0, 160.0, 160.0], [1024.0, 1024.0, 1024.0]];
    product_ikj = product_ikj Any [[32.0, 32.0, 32.0], [160.0, 160.0, 160.0], [1024.0, 1024.0, 1024.0]];
    product_jki = product_jki Any [[32.0, 32.0, 32.0], [160.0, 160.0, 160.0], [1024.0, 1024.0, 1024.0]];
    product_tall = product_ijk Any [[128.0, 8.0, 16.0], [2048.0, 8.0, 16.0], [524288.0, 16.0, 16.0]];
    product_transposed = product_transposed Any [[32.0, 32.0, 32.0], [160.0, 160.0, 160.0], [1024.0, 1024.0, 1024.0]];
    product_batched = product_batched Any [[16.0], [256.0], [65536.0]];
    gemv = gemv Any [[48.0, 48.0], [224.0, 224.0], [4096.0, 4096.0]];
    gemv_transposed = gemv_transposed Any [[48.0, 48.0], [224.0, 224.0], [4096.0, 4096.0]];
    atax = atax Any [[48.0, 48.0], [224.0, 224.0], [4096.0, 4096.0]];
    bicg = bicg Any [[48.0, 48.0], [224.0, 224.0], [4096.0, 4096.0]];
    gesummv = gesummv Any [[36.0, 36.0, 1.5, 1.2], [160.0, 160.0, 1.5, 1.2], [3000.0, 3000.0, 1.5, 1.2]];
    syrk = syrk Any [[36.0, 36.0, 1.5, 1.2], [192.0, 192.0, 1.5, 1.2], [1024.0, 1024.0, 1.5, 1.2]];
    syr2k = syr2k Any [[32.0, 32.0, 1.5], [160.0, 160.0, 1.5], [1024.0, 1024.0, 1.5]];
    trmm = trmm Any [[36.0, 36.0], [192.0, 192.0], [1024.0, 1024.0]];
    trsv = trsv Dominant [[48.0], [224.0], [4096.0]];
    trsm = trsm Dominant [[36.0, 36.0], [192.0, 192.0], [1024.0, 1024.0]];
    cholesky = cholesky Dominant [[48.0], [224.0], [1500.0]];
    lu = lu Dominant [[48.0], [224.0], [1500.0]];
    gram_schmidt = gram_schmidt Any [[36.0, 36.0], [192.0, 192.0], [768.0, 768.0]];
    covariance = covariance Any [[36.0, 36.0], [192.0, 192.0], [1024.0, 768.0]];
    correlation = correlation Any [[36.0, 36.0], [192.0, 192.0], [1024.0, 768.0]];
    doitgen = doitgen Any [[6.0, 12.0, 20.0], [20.0, 24.0, 64.0], [128.0, 256.0, 128.0]];
    mttkrp = mttkrp Any [[10.0, 10.0, 10.0, 16.0], [32.0, 32.0, 32.0, 32.0], [256.0, 200.0, 180.0, 32.0]];
    floyd_warshall = floyd_warshall Any [[48.0], [224.0], [1024.0]];
    common_subsequence = common_subsequence Any [[80.0, 80.0], [320.0, 320.0], [4096.0, 4096.0]];
    jacobi_1d = jacobi_1d Any [[20.0, 1600.0], [20.0, 28000.0], [10.0, 4000000.0]];
    jacobi_2d = jacobi_2d Any [[10.0, 36.0], [10.0, 160.0], [10.0, 2048.0]];
    heat_3d = heat_3d Any [[10.0, 11.0], [10.0, 30.0], [10.0, 160.0]];
    seidel_2d = seidel_2d Any [[10.0, 52.0], [10.0, 224.0], [10.0, 2048.0]];
    fdtd_2d = fdtd_2d Any [[10.0, 30.0, 30.0], [10.0, 130.0, 130.0], [10.0, 1600.0, 1600.0]];
    convolution_3 = convolution_3 Any [[36.0, 36.0], [160.0, 160.0], [2048.0, 2048.0]];
    convolution_7 = convolution_7 Any [[36.0, 36.0], [160.0, 160.0], [2048.0, 2048.0]];
    transpose = transpose Any [[36.0, 36.0], [160.0, 160.0], [2048.0, 2048.0]];
    prefix_sums = prefix_sums Any [[36.0, 36.0], [160.0, 160.0], [2048.0, 2048.0]];
    softmax = softmax Any [[36.0, 36.0], [160.0, 160.0], [2048.0, 2048.0]];
    bodies = bodies Any [[400.0, 0.01], [6000.0, 0.01], [12000.0, 0.01]];
}
