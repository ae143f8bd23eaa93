//! Combiners that are functions of the program that uses strew.

use strew_affine::{Combiner, Declared, Host, Kernel, Node, Value};
use strew_jit::Element;

/// The combiner that a function of the host is.
pub(crate) fn by_host<T: Element>(
    name: String,
    identity: T,
    function: impl Fn(T, T) -> T + Send + Sync + 'static,
) -> Combiner {
    let on_values = move |held: Value, incoming: Value| {
        function(T::from_value(held), T::from_value(incoming)).to_value()
    };
    let host = Host::new(name.as_str(), T::TYPE, on_values);
    let identity = Some(identity.to_value());
    Combiner::new(Declared::by_host(name, T::TYPE, Some(host), identity))
}

/// `kernel` with the functions of `host` in place of the combiners that its text leaves to a host;
/// those of another type are none.
pub(crate) fn bind(mut kernel: Kernel, host: &[Combiner]) -> Kernel {
    if !host.is_empty() {
        bind_nodes(&mut kernel.body, host);
    }
    kernel
}

fn bind_nodes(nodes: &mut [Node], host: &[Combiner]) {
    for node in nodes {
        match node {
            Node::Reduce { combiner, .. } => bind_combiner(combiner, host),
            Node::Forall(forall) => {
                for private in &mut forall.privates {
                    bind_combiner(&mut private.combiner, host);
                }
            }
            _ => {}
        }
        for block in node.blocks_mut() {
            bind_nodes(block, host);
        }
    }
}

fn bind_combiner(combiner: &mut Combiner, host: &[Combiner]) {
    let Some(declared) = combiner.declaration().filter(|it| it.is_of_host()) else {
        return;
    };
    let (name, ty) = (combiner.name().to_owned(), declared.element());
    let mut given = host.iter().filter(|it| it.name() == name);
    let given = given.find_map(|it| it.declaration()?.host());
    if let Some(given) = given.filter(|it| it.element() == ty) {
        let given = Some(given.clone());
        *combiner = Combiner::new(Declared::by_host(name, ty, given, declared.neutral()));
    }
}
