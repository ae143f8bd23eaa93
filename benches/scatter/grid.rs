//! The cells, chosen once: kernel, type of what is updated, bytes of all outputs, and order of the
//! keys.

/// `x8` behind a type: rows of eight. K08 is two kernels, forward and backward.
const NAMES: &[&str] = &[
    "k01/u32/8KiB/uniform",
    "k01/u32/8KiB/zipf",
    "k01/u32/8KiB/sorted",
    "k01/u32/8KiB/constant",
    "k01/u32/8KiB/two",
    "k01/u32/256KiB/uniform",
    "k01/u32/256KiB/zipf",
    "k01/u32/4MiB/uniform",
    "k01/u32/4MiB/sorted",
    "k01/u32/4MiB/clustered",
    "k01/u32/12MiB/uniform",
    "k01/u32/64MiB/uniform",
    "k01/u32/64MiB/zipf",
    "k02/f64/8KiB/uniform",
    "k02/f64/8KiB/zipf",
    "k02/f64/8KiB/sorted",
    "k02/f64/8KiB/constant",
    "k02/f64/8KiB/two",
    "k02/f64/8KiB/clustered",
    "k02/f64/256KiB/uniform",
    "k02/f64/256KiB/zipf",
    "k02/f64/256KiB/sorted",
    "k02/f64/256KiB/constant",
    "k02/f64/256KiB/two",
    "k02/f64/256KiB/clustered",
    "k02/f64/4MiB/uniform",
    "k02/f64/4MiB/zipf",
    "k02/f64/4MiB/sorted",
    "k02/f64/4MiB/constant",
    "k02/f64/4MiB/two",
    "k02/f64/4MiB/clustered",
    "k02/f64/12MiB/uniform",
    "k02/f64/12MiB/zipf",
    "k02/f64/12MiB/sorted",
    "k02/f64/12MiB/clustered",
    "k02/f64/64MiB/uniform",
    "k02/f64/64MiB/zipf",
    "k02/f64/64MiB/sorted",
    "k02/f64/64MiB/constant",
    "k02/f64/64MiB/two",
    "k02/f64/64MiB/clustered",
    "k02/f64/256MiB/uniform",
    "k02/f64/256MiB/zipf",
    "k02/f64/256MiB/sorted",
    "k02/f64/256MiB/clustered",
    "k02/f32/8KiB/uniform",
    "k02/f32/8KiB/constant",
    "k02/f32/8KiB/two",
    "k02/f32/4MiB/uniform",
    "k02/f32/4MiB/sorted",
    "k02/f32/64MiB/uniform",
    "k02/f32/64MiB/zipf",
    "k02/i32/8KiB/uniform",
    "k02/i32/8KiB/two",
    "k02/i32/256KiB/uniform",
    "k02/i32/4MiB/uniform",
    "k02/i32/4MiB/sorted",
    "k02/i32/64MiB/uniform",
    "k02/i32/64MiB/zipf",
    "k03/f32x8/8KiB/uniform",
    "k03/f32x8/8KiB/sorted",
    "k03/f32x8/4MiB/uniform",
    "k03/f32x8/4MiB/zipf",
    "k03/f32x8/64MiB/uniform",
    "k03/f32x8/64MiB/sorted",
    "k03/f32x64/256KiB/uniform",
    "k03/f32x64/4MiB/uniform",
    "k03/f32x64/12MiB/zipf",
    "k03/f32x64/64MiB/uniform",
    "k03/f32x64/64MiB/sorted",
    "k03/f32x64/256MiB/uniform",
    "k04/f32/8KiB/uniform",
    "k04/f32/256KiB/uniform",
    "k04/f32/256KiB/sorted",
    "k04/f32/4MiB/zipf",
    "k04/f32/12MiB/uniform",
    "k04/f32/64MiB/uniform",
    "k05/f64/256KiB/rmat",
    "k05/f64/4MiB/rmat",
    "k05/f64/4MiB/banded",
    "k05/f64/12MiB/uniform",
    "k05/f64/64MiB/rmat",
    "k05/f64/64MiB/uniform",
    "k06/f32/256KiB/rmat",
    "k06/f32/4MiB/rmat",
    "k06/f32/64MiB/rmat",
    "k06/f32/64MiB/uniform",
    "k07/i64/8KiB/rmat",
    "k07/i64/256KiB/rmat",
    "k07/i64/4MiB/rmat",
    "k08f/f64/256KiB/rmat",
    "k08f/f64/4MiB/rmat",
    "k08f/f64/64MiB/rmat",
    "k08b/f64/4MiB/rmat",
    "k08b/f64/64MiB/rmat",
    "k09/f64/4MiB/natural",
    "k09/f64/4MiB/shuffled",
    "k09/f64/12MiB/natural",
    "k09/f64/64MiB/natural",
    "k09/f64/64MiB/renumbered",
    "k09/f64/64MiB/shuffled",
    "k10/f64/8KiB/uniform",
    "k10/f64/256KiB/uniform",
    "k10/f64/4MiB/uniform",
    "k10/f64/4MiB/drifted",
    "k10/f64/4MiB/sorted",
    "k10/f64/64MiB/uniform",
    "k10/f64/64MiB/drifted",
    "k10/f64/64MiB/sorted",
    "k11/f64x16/2KiB/blobs",
    "k11/f64x16/32KiB/blobs",
    "k11/f64x64/8KiB/blobs",
    "k11/f64x64/128KiB/blobs",
    "k12/f64/256KiB/rmat",
    "k12/f64/4MiB/natural",
    "k12/f64/4MiB/shuffled",
    "k12/f64/4MiB/lattice",
    "k12/f64/12MiB/lattice",
    "k12/f64/64MiB/natural",
    "k12/f64/64MiB/shuffled",
    "k12/f64/64MiB/rmat",
];

/// A row of the grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) name: &'static str,
    /// The kernel's short name.
    pub(crate) kernel: &'static str,
    /// The type of what is updated.
    pub(crate) element: &'static str,
    /// How many elements follow each other in a row; one where there are no rows.
    pub(crate) width: usize,
    /// Of all outputs.
    pub(crate) bytes: usize,
    /// The order of keys, or the kind of graph or mesh.
    pub(crate) input: &'static str,
}

impl Cell {
    fn parse(name: &'static str) -> Option<Self> {
        let mut parts = name.split('/');
        let mut next = || parts.next();
        let (kernel, element, bytes, input) = (next()?, next()?, next()?, next()?);
        let (element, width) = match element.split_once('x') {
            Some((element, width)) => (element, width.parse().ok()?),
            None => (element, 1),
        };
        Some(Self {
            name,
            kernel,
            element,
            width,
            bytes: bytes_of(bytes)?,
            input,
        })
    }

    /// What the C peers call this kernel.
    pub(crate) fn peer(&self) -> String {
        format!("{}_{}", self.kernel, self.element)
    }

    fn is_float(&self) -> bool {
        self.element.starts_with('f')
    }

    /// Whether an element is updated again at once, or soon: one addition waits for the other.
    fn repeats(&self) -> bool {
        let is_large = self.bytes > 12 << 20;
        match self.input {
            "constant" | "two" => true,
            "sorted" => self.kernel == "k02" && !is_large,
            _ => false,
        }
    }
}

fn bytes_of(text: &str) -> Option<usize> {
    let (number, shift) = match text.strip_suffix("KiB") {
        Some(number) => (number, 10),
        None => (text.strip_suffix("MiB")?, 20),
    };
    Some(number.parse::<usize>().ok()? << shift)
}

/// All cells.
///
/// # Errors
/// A name that is none.
pub(crate) fn cells() -> Result<Vec<Cell>, String> {
    let cell = |name: &&'static str| Cell::parse(name).ok_or_else(|| format!("bad cell `{name}`"));
    NAMES.iter().map(cell).collect()
}

/// Cells that are spoken of together; a cell may belong to several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    All,
    InCache,
    Middle,
    Beyond,
    HotFloats,
    PageRank,
    KMeans,
}

impl Group {
    pub(crate) const ALL: [Self; 7] = [
        Self::All,
        Self::InCache,
        Self::Middle,
        Self::Beyond,
        Self::HotFloats,
        Self::PageRank,
        Self::KMeans,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::All => "all cells",
            Self::InCache => "in-cache uniform",
            Self::Middle => "4 to 12 MiB",
            Self::Beyond => "64 and 256 MiB",
            Self::HotFloats => "sorted, constant, two-key floats",
            Self::PageRank => "PageRank, 64 MiB",
            Self::KMeans => "k-means",
        }
    }

    pub(crate) fn contains(self, cell: &Cell) -> bool {
        let scatters = !matches!(cell.input, "sorted" | "constant" | "two");
        let mebibytes = cell.bytes >> 20;
        match self {
            Self::All => true,
            Self::InCache => mebibytes == 0 && cell.input == "uniform",
            Self::Middle => (4..=12).contains(&mebibytes) && scatters,
            Self::Beyond => mebibytes >= 64 && scatters && cell.kernel != "k06",
            Self::HotFloats => cell.is_float() && cell.repeats(),
            Self::PageRank => cell.kernel == "k06" && mebibytes >= 64,
            Self::KMeans => cell.kernel == "k11",
        }
    }
}
