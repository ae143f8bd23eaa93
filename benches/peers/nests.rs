//! The kernels of tests/nests for one thread, as they are written in Rust: a library that the peers
//! are linked with.

#[path = "nests/arguments.rs"]
mod arguments;
#[path = "nests/products.rs"]
mod products;
#[path = "nests/solvers.rs"]
mod solvers;
#[path = "nests/statistics.rs"]
mod statistics;
#[path = "nests/stencils.rs"]
mod stencils;
#[path = "nests/vectors.rs"]
mod vectors;

use arguments::{Arguments, Slot};
use std::ffi::{CStr, c_char};

/// What runs a kernel.
type Run = extern "C" fn(*const Slot);

macro_rules! kernels {
    ($($module:ident::$kernel:ident)*) => {
        fn find(name: &[u8]) -> Option<Run> {
            $(
                if name == stringify!($kernel).as_bytes() {
                    extern "C" fn run(slots: *const Slot) {
                        // SAFETY: the driver hands over the arguments of the kernel that was found.
                        $module::$kernel(&unsafe { Arguments::new(slots) });
                    }
                    return Some(run);
                }
            )*
            None
        }
    };
}

kernels! {
    vectors::atax vectors::bicg vectors::bodies vectors::gemv vectors::gemv_transposed vectors::gesummv
    vectors::softmax vectors::transpose
    products::doitgen products::mttkrp products::product_batched products::product_ijk products::product_ikj
    products::product_jki products::product_transposed products::syr2k products::syrk
    solvers::cholesky solvers::floyd_warshall solvers::gram_schmidt solvers::lu solvers::trmm solvers::trsm
    solvers::trsv
    statistics::common_subsequence statistics::correlation statistics::covariance statistics::prefix_sums
    stencils::convolution_3 stencils::convolution_7 stencils::fdtd_2d stencils::heat_3d stencils::jacobi_1d
    stencils::jacobi_2d stencils::seidel_2d
}

/// What runs the kernel of this name.
///
/// # Safety
/// The name ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn by_rustc(kernel: *const c_char) -> Option<Run> {
    // SAFETY: that of this function.
    find(unsafe { CStr::from_ptr(kernel) }.to_bytes())
}
