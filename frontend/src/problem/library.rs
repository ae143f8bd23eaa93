//! Functions of C's libraries, and of those that often come with them, that no kernel can call:
//! what to write instead.

/// What a function is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Allocation,
    Release,
    Fill,
    Copy,
    Comparison,
    Output,
    Input,
    Termination,
    Random,
    Sorting,
    Threads,
    Text,
    Time,
    Arguments,
    Complex,
    Hint,
    Expectation,
    Intrinsic,
    Floats,
}

const FUNCTIONS: [(Purpose, &[&str]); 17] = [
    (
        Purpose::Allocation,
        &[
            "malloc",
            "calloc",
            "realloc",
            "alloca",
            "aligned_alloc",
            "posix_memalign",
            "_mm_malloc",
        ],
    ),
    (Purpose::Release, &["free", "_mm_free"]),
    (Purpose::Fill, &["memset", "bzero"]),
    (Purpose::Copy, &["memcpy", "memmove", "bcopy"]),
    (Purpose::Comparison, &["memcmp", "bcmp"]),
    (
        Purpose::Output,
        &[
            "printf", "fprintf", "sprintf", "snprintf", "puts", "fputs", "putchar", "putc",
            "fputc", "fwrite", "perror", "fflush",
        ],
    ),
    (
        Purpose::Input,
        &[
            "scanf", "fscanf", "sscanf", "getchar", "getc", "fgetc", "fgets", "fread", "fopen",
            "fclose", "getenv",
        ],
    ),
    (
        Purpose::Termination,
        &[
            "exit",
            "abort",
            "_Exit",
            "_exit",
            "quick_exit",
            "longjmp",
            "setjmp",
            "raise",
        ],
    ),
    (
        Purpose::Random,
        &[
            "rand", "srand", "random", "srandom", "drand48", "lrand48", "srand48", "rand_r",
            "erand48",
        ],
    ),
    (Purpose::Sorting, &["qsort", "qsort_r", "bsearch"]),
    (
        Purpose::Text,
        &[
            "strlen", "strcmp", "strncmp", "strcpy", "strncpy", "strcat", "strchr", "strstr",
            "strtol", "strtod", "atoi", "atof", "atol",
        ],
    ),
    (
        Purpose::Time,
        &[
            "time",
            "clock",
            "clock_gettime",
            "gettimeofday",
            "omp_get_wtime",
            "difftime",
        ],
    ),
    (
        Purpose::Arguments,
        &["va_start", "va_arg", "va_end", "va_copy"],
    ),
    (
        Purpose::Complex,
        &[
            "cabs", "creal", "cimag", "conj", "carg", "cexp", "csqrt", "cpow",
        ],
    ),
    (
        Purpose::Hint,
        &[
            "__builtin_prefetch",
            "__builtin_assume",
            "__builtin_assume_aligned",
            "__builtin_unreachable",
            "__assume",
            "_mm_prefetch",
        ],
    ),
    (Purpose::Expectation, &["__builtin_expect_with_probability"]),
    (
        Purpose::Floats,
        &[
            "ldexp",
            "ldexpf",
            "scalbn",
            "scalbnf",
            "scalbln",
            "scalblnf",
            "frexp",
            "frexpf",
            "modf",
            "modff",
            "ilogb",
            "ilogbf",
            "remquo",
            "remquof",
            "nexttoward",
            "nexttowardf",
            "nan",
            "nanf",
            "fpclassify",
            "isnormal",
        ],
    ),
];

const PREFIXES: [(&str, Purpose); 6] = [
    ("omp_", Purpose::Threads),
    ("pthread_", Purpose::Threads),
    ("_mm", Purpose::Intrinsic),
    ("__builtin_", Purpose::Intrinsic),
    ("__atomic_", Purpose::Threads),
    ("__sync_", Purpose::Threads),
];

fn purpose(function: &str) -> Option<Purpose> {
    let mut named = FUNCTIONS
        .iter()
        .filter(|(_, names)| names.contains(&function));
    let mut prefixed = PREFIXES
        .iter()
        .filter(|(prefix, _)| function.starts_with(prefix));
    let named = named.next().map(|(purpose, _)| *purpose);
    named.or_else(|| prefixed.next().map(|(_, purpose)| *purpose))
}

/// Whether there is something to say about `function` beyond that it is unknown.
pub(crate) fn is_known(function: &str) -> bool {
    purpose(function).is_some()
}

/// Whether `function` sets elements to what is there already, or to nothing.
pub(crate) fn moves_memory(function: &str) -> bool {
    matches!(purpose(function), Some(Purpose::Copy | Purpose::Fill))
}

/// What to write instead of a call of `function`, of whose arguments those that are names are
/// given.
pub(super) fn instead_of(function: &str, names: &[Option<String>]) -> String {
    let name = |index: usize, other: &str| {
        let name = names.get(index).cloned().flatten();
        name.unwrap_or_else(|| other.to_owned())
    };
    let fixed = match purpose(function) {
        Some(Purpose::Fill) => {
            let array = name(0, "a");
            return format!(
                "write the bytes as a number of elements, `n * sizeof *{array}`, or the loop: `for (int64_t i = 0; i < n; i++) {array}[i] = 0;`"
            );
        }
        Some(Purpose::Copy) => {
            let (to, from) = (name(0, "to"), name(1, "from"));
            return format!(
                "write the bytes as a number of elements of one type, `n * sizeof *{to}`, or the loop: `for (int64_t i = 0; i < n; i++) {to}[i] = {from}[i];`"
            );
        }
        Some(Purpose::Allocation) => {
            "let it begin a pointer, `double *t = malloc(n * sizeof *t);`, declare a local array, `double t[n];`, or make it a parameter"
        }
        Some(Purpose::Release) => "leave it out: a local array lives as long as its block",
        Some(Purpose::Comparison) => "write the loop that compares the elements",
        Some(Purpose::Output) => {
            "leave it out: results are handed over in array parameters, or returned"
        }
        Some(Purpose::Input) => "read the data before the call, and hand it over in parameters",
        Some(Purpose::Termination) => "write `return`: a kernel ends, the program goes on",
        Some(Purpose::Random) => {
            "hand random numbers over in an array, or compute them from the position with integer operators"
        }
        Some(Purpose::Sorting) => "sort before or after the call of the kernel",
        Some(Purpose::Threads) => {
            "leave it out: strew keeps parallel updates apart, and the call says how many threads there are"
        }
        Some(Purpose::Text) => "hand over numbers, and lengths as parameters",
        Some(Purpose::Time) => "measure around the call of the kernel",
        Some(Purpose::Arguments) => "hand the values over in an array and their number",
        Some(Purpose::Complex) => {
            "compute with real and imaginary parts, which have arrays or members of their own"
        }
        Some(Purpose::Hint) => "leave it out",
        Some(Purpose::Expectation) => "write the first argument alone",
        Some(Purpose::Floats) => {
            "compute it with functions from floats to a float, as `exp2`, `logb` and `trunc` are, and with `isnan`, `isinf` and `isfinite`"
        }
        Some(Purpose::Intrinsic) | None => "write it with C's operators, for one element",
    };
    fixed.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_name_or_prefix() {
        assert_eq!(purpose("omp_get_wtime"), Some(Purpose::Time));
        assert_eq!(purpose("omp_get_num_threads"), Some(Purpose::Threads));
        assert_eq!(purpose("__builtin_popcount"), Some(Purpose::Intrinsic));
        assert_eq!(purpose("_mm256_add_pd"), Some(Purpose::Intrinsic));
        assert_eq!(purpose("ldexp"), Some(Purpose::Floats));
        assert_eq!(purpose("frobnicate"), None);
    }
}
