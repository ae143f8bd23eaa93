//! What generated code makes of the updates of a forall.

/// What the body of a forall does with its updates of private buffers. Everything else is the same
/// in all shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum BodyShape {
    /// It combines them into the buffers.
    Direct,
    /// The same, but an element that is updated several times in a row is kept in a register
    /// meanwhile: a rounded sum then does not wait for memory each time. The order of combination
    /// is that of [`Direct`](Self::Direct).
    RunLength,
    /// The same, but of an element that is updated several times in a row up to
    /// [`PARTIALS`](super::PARTIALS) partial values are kept, the first of them beginning with the
    /// element and the others with the identity. Statements combine into them by turns, as they
    /// stand in the body, so that one does not wait for the one before. They are combined,
    /// neighbours first, when another element is updated.
    Partials,
    /// It combines them into [`TABLES`](super::TABLES) buffers by turns, one after the other as its
    /// statements stand: updates that follow each other then do not wait for each other, wherever
    /// they go. Behind the distances stands that in bytes from each buffer to the next.
    Tables,
    /// It combines each into the buffer in one step, so that several threads may run it on the same
    /// buffers; for buffers that are merged with no other.
    Atomic,
    /// It combines them into the buffers, and before it loads an element it sees to it that the
    /// [page](super::Pages) that this lies in was filled. The addresses of the pages stand behind
    /// the distances, one for each buffer; that of the first of those that are merged together
    /// counts.
    Paged,
    /// [`Paged`](Self::Paged) and [`RunLength`](Self::RunLength) at once.
    PagedRunLength,
    /// [`Paged`](Self::Paged) and [`Partials`](Self::Partials) at once.
    PagedPartials,
    /// [`Paged`](Self::Paged) and [`Tables`](Self::Tables) at once: a page is filled in all tables.
    /// The distance from each table to the next stands behind the addresses of the pages.
    PagedTables,
    /// It makes only those of some columns, the last subscripts of two-dimensional buffers or more:
    /// the turns of the loops over columns whose numbers are at least the first and below the
    /// second of two that stand behind the distances.
    Columns,
    /// It makes only those of some rows of two-dimensional buffers or more: each loop over columns
    /// turns if its row [belongs](super::owner_of_row) to the first of three numbers that stand
    /// behind the distances. The second is how many owners there are, and rows that follow each
    /// other belong to one in blocks of a power of two, whose logarithm is the third.
    Rows,
    /// It evaluates them and checks where they go, and combines them into nothing: a body that ends
    /// without a failure does so in every other shape. It touches no buffers, so it is handed none.
    Check,
    /// The same, and it notes where they go, in [`Bounds`](super::Bounds) for each of the buffers
    /// that are merged together, whose address stands in the place of that of the first of them.
    Bounds,
    /// It finds out at once for all of its iterations, from the least and the largest of the
    /// indices that they may read, whether any of them can fail, and widens the
    /// [`Bounds`](super::Bounds) of [`Bounds`](Self::Bounds) by where their updates
    /// may go, but for [`Bounds::falls`](super::Bounds::falls) and
    /// [`Bounds::last`](super::Bounds::last). Where it cannot tell it makes them
    /// [`Bounds::ALL`](super::Bounds::ALL).
    Scan,
    /// It combines those of some elements into the buffers, and leaves the others out: of each
    /// buffer the elements whose numbers, row by row, are at least the first and below the second
    /// of two numbers. The first ones stand behind the distances, and behind them the second ones;
    /// those of the first of the buffers that are merged together count. If the number behind them
    /// is not 0, then updates never fall back, and it may end once those of all buffers have gone
    /// beyond.
    Within,
    /// [`Within`](Self::Within) and [`RunLength`](Self::RunLength) at once.
    WithinRunLength,
    /// It evaluates them and appends their keys to a [`Stream`](super::Stream) for each of the
    /// buffers that are merged together, whose address stands in the place of that of the first of
    /// them.
    Emit,
    /// It puts each, its value and the end of its key, into the line of its range, of
    /// [`Lines`](super::Lines) for each of the buffers that are merged together, whose address
    /// stands in the place of that of the first of them.
    Sorted,
    /// The same for who knows the keys: it puts values alone, each into the line of the next of
    /// [`Lines::ranges`](super::Lines::ranges), and evaluates nothing that only the keys need.
    Values,
    /// Of a body that reads targets: it marks the elements that it reads and may update, and
    /// perhaps some more, in [`Call::marks`](super::Call::marks), and does nothing else. Several
    /// threads may run it with the same marks. It is handed no buffers. In
    /// [`Call::updates`](super::Call::updates) it counts, about, how often loops with updates turn
    /// whose bounds are computed.
    Marks,
    /// [`Direct`](Self::Direct) for a body that reads targets, with buffers that are none of them:
    /// what it reads is what they hold meanwhile, and it ends with
    /// [`Status::Met`](super::Status::Met) before the first update of an element that is marked in
    /// [`Call::marks`](super::Call::marks).
    Unmarked,
    /// The same where nothing has a mark, and nothing is looked for.
    Apart,
    /// [`Sorted`](Self::Sorted) for a body that reads targets, which hold what they did before the
    /// loop meanwhile: it ends with [`Status::Met`](super::Status::Met) before the first update of
    /// an element that is marked in [`Call::marks`](super::Call::marks).
    SortedUnmarked,
    /// [`Direct`](Self::Direct) for several threads that run it on the same buffers at once, each
    /// with elements of its own: it leaves alone what it does not update.
    Shared,
}

impl BodyShape {
    /// All of them.
    pub const ALL: [Self; 24] = [
        Self::Direct,
        Self::RunLength,
        Self::Partials,
        Self::Tables,
        Self::Atomic,
        Self::Paged,
        Self::PagedRunLength,
        Self::PagedPartials,
        Self::PagedTables,
        Self::Columns,
        Self::Rows,
        Self::Check,
        Self::Bounds,
        Self::Scan,
        Self::Within,
        Self::WithinRunLength,
        Self::Emit,
        Self::Sorted,
        Self::Values,
        Self::Marks,
        Self::Unmarked,
        Self::Apart,
        Self::SortedUnmarked,
        Self::Shared,
    ];
}
