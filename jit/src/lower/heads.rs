//! Heads of rows that keys pick, asked for in time.
//!
//! `for (k = row[v[q]]; k < row[v[q] + 1]; k++) … col[k] …`, as in a push from the nodes of a
//! frontier, waits for the pointer, and then for the first elements behind it: processors foresee
//! neither. A turn asks for the pointers of the key [`POINTERS`] behind its own, and with the
//! pointer of the one [`ELEMENTS`] behind it, which has come by then, for what it points at. What
//! is further along a row they foresee.

use super::ahead::is_iter;
use super::function::FunctionLowering;
use super::loops::Counted;
use crate::facts::Checks;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use strew_affine::changed::Changed;
use strew_affine::visit::{for_each_load, for_each_load_of, walk};
use strew_affine::{Access, ArrayId, Expr, Node, ScfFor, Subscript};

/// So many turns ahead.
const POINTERS: i64 = 16;

/// So many for what pointers lead to, since these must be there.
const ELEMENTS: i64 = 8;

/// What a turn needs that a key picks, of loops of which each turn has a loop over a row.
#[derive(Default)]
struct Heads {
    /// The arrays of the keys.
    keys: Vec<ArrayId>,
    /// Elements that a key picks, with the key in the place of scalars.
    picked: Vec<Access>,
    rows: Vec<Row>,
}

/// A row that begins where an element says that a key picks.
struct Row {
    pointer: Access,
    /// What is read along it.
    arrays: Vec<ArrayId>,
}

impl Heads {
    /// Takes note of `element`, which the key picks.
    fn pick(&mut self, (element, key): (Access, Access)) {
        if !self.keys.contains(&key.array) {
            self.keys.push(key.array);
        }
        self.picked.push(element);
    }

    fn arrays(&self) -> impl Iterator<Item = ArrayId> {
        let picked = self.picked.iter().map(|it| it.array);
        picked.chain(self.rows.iter().flat_map(|it| it.arrays.iter().copied()))
    }
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Asks for what later turns than that of `iter` begin with.
    pub(super) fn prefetch_heads(&mut self, counted: &Counted<'k>, iter: Value) {
        // Elsewhere an element that nobody reads could leave 64 bits, and a turn that has no key
        // could be below zero.
        if self.program.checks != Checks::Computed {
            return;
        }
        let heads = self.heads(counted);
        if heads.rows.is_empty() {
            return;
        }
        let Some(pays) = self.any_is_far(heads.arrays()) else {
            return;
        };
        let ins = &mut self.builder;
        let [elements, pointers] = [ELEMENTS, POINTERS].map(|it| ins.ins().iadd_imm_s(iter, it));
        self.ask_where_keys(&heads.keys, pays, pointers, |function| {
            function.in_later_turn(counted.iter, &heads.keys, pointers, |function| {
                let picked = heads.picked.iter();
                picked.for_each(|it| function.ask_for_element(it));
            });
            function.in_later_turn(counted.iter, &heads.keys, elements, |function| {
                heads.rows.iter().for_each(|it| function.ask_for_head(it));
            });
        });
        self.iters.insert(counted.iter, iter);
    }

    fn ask_for_head(&mut self, row: &Row) {
        let (Some(subscript), Some(pointers)) = (
            row.pointer.subscripts.first(),
            self.arrays.get(row.pointer.array).cloned(),
        ) else {
            return;
        };
        let Some(extent) = pointers.extents.first() else {
            return;
        };
        let index = self.subscript_value(&row.pointer, subscript);
        let is_there = IntCC::UnsignedLessThan;
        let is_there = self.builder.ins().icmp(is_there, index, *extent);
        self.ask_where(is_there, |function| {
            let first = function.read_at(&row.pointer, index);
            for array in &row.arrays {
                if let Some(address) = function.address_at(*array, first) {
                    function.ask_for_line(address);
                }
            }
        });
    }

    fn heads(&self, counted: &Counted<'k>) -> Heads {
        let mut heads = Heads::default();
        for node in counted.body {
            match node {
                Node::ScfFor(inner) => self.head_of(inner, counted, &mut heads),
                Node::ScfWhile { body, .. } => self.heads_of_while(body, counted, &mut heads),
                _ => {}
            }
        }
        if heads.rows.is_empty() {
            return heads;
        }
        let inside = Changed::by(counted.body).but(|_| true);
        walk(counted.body, &mut |node, _| {
            for_each_load_of(node, &mut |access| {
                let mut known = heads.picked.iter();
                if known.any(|it| it.array == access.array) {
                    return;
                }
                let picked = self.picked_element(access, counted);
                if let Some(picked) = picked.filter(|it| inside.place_stays(&it.0)) {
                    heads.pick(picked);
                }
            });
        });
        heads
    }

    /// The row that `inner` goes along, if an element that a key picks says where it begins.
    fn head_of(&self, inner: &'k ScfFor, counted: &Counted<'k>, heads: &mut Heads) {
        let is_along = |it: &Access| {
            let first = it.subscripts.first();
            first.is_some_and(|it| is_iter(it, inner.iter))
        };
        let arrays = arrays_read(&inner.body, &is_along);
        self.row_from(&inner.lower, arrays, counted, heads);
    }

    /// The rows that scalars go along in a `while` loop of `body`, from where elements say that a
    /// key picks.
    fn heads_of_while(&self, body: &'k [Node], counted: &Counted<'k>, heads: &mut Heads) {
        for node in counted.body {
            let Node::Declare { local, value } = node else {
                continue;
            };
            let is_along = |it: &Access| {
                let along = Subscript::Computed(Expr::Local(*local));
                it.subscripts.first() == Some(&along)
            };
            let arrays = arrays_read(body, &is_along);
            self.row_from(value, arrays, counted, heads);
        }
    }

    /// The row of elements of `arrays` that begins at `first`.
    fn row_from(
        &self,
        first: &Expr,
        arrays: Vec<ArrayId>,
        counted: &Counted<'k>,
        heads: &mut Heads,
    ) {
        let mut first = first.clone();
        if arrays.is_empty() || !self.write_out(&mut first, counted) {
            return;
        }
        if let Expr::Load(access) = first.without_widening(self.program.kernel)
            && let [_] = access.subscripts.as_slice()
            && let Some((pointer, key)) = self.picked_element(access, counted)
        {
            heads.rows.push(Row {
                pointer: pointer.clone(),
                arrays,
            });
            heads.pick((pointer, key));
        }
    }
}

/// The arrays that `body` reads elements of that are `meant`, each once.
fn arrays_read(body: &[Node], meant: &impl Fn(&Access) -> bool) -> Vec<ArrayId> {
    let mut arrays = Vec::new();
    walk(body, &mut |node, _| {
        for expr in node.expressions() {
            for_each_load(expr, &mut |access| {
                if meant(access) && !arrays.contains(&access.array) {
                    arrays.push(access.array);
                }
            });
        }
    });
    arrays
}
