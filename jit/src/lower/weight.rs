//! What takes as long as many statements.

use strew_affine::visit::Loop;
use strew_affine::{Expr, Function, Node};

/// The quickest functions of the library take as long as so many statements: `expf` 3 ns, where an
/// update takes less than 1; `atan2f` takes 25.
const CALL: i64 = 4;

/// As how many statements more than they are what `nodes` call counts, loops in them left out.
pub(super) fn calls(nodes: &[Node]) -> i64 {
    let outside_of_loops = nodes.iter().filter(|it| Loop::of(it).is_none());
    let each = outside_of_loops.map(|node| {
        let inside = node.blocks().map(|it| calls(it));
        own_calls(node) + inside.sum::<i64>()
    });
    each.sum()
}

/// The same for what `node` computes itself.
pub(super) fn own_calls(node: &Node) -> i64 {
    node.expressions().into_iter().map(calls_in).sum()
}

fn calls_in(expr: &Expr) -> i64 {
    let operands = expr.operands().into_iter().map(calls_in);
    let own = match expr {
        Expr::Call(function, _) if is_computed(*function) => CALL,
        _ => 0,
    };
    operands.sum::<i64>() + own
}

/// Whether it takes many instructions: there is none that does it, nor a few.
fn is_computed(function: Function) -> bool {
    use Function::{Fdim, Logb, Nextafter};
    !function.is_inline() && !matches!(function, Fdim | Logb | Nextafter)
}
