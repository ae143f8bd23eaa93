use crate::visit::{Loop, walk};
use crate::{IterId, Node};
use std::collections::HashSet;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

/// Statements that run one behind the other.
///
/// Clones of a [`Kernel`](crate::Kernel) share their blocks until one of them is written, which
/// copies those around the place alone: a step changes one nest of many, and takes time for that
/// one. A clone of a block is a block of its own, so that inside of one kernel every node has an
/// address of its own, by which analyses know it.
///
/// ```
/// use strew_affine::{Block, text};
///
/// let source = "kernel @k(n: i64, x: f64[n]) { affine.for i in 0..n { x[i] = 1.0 } x[0] = 2.0 }";
/// let mut kernel = text::parse(source).expect("kernel text").swap_remove(0);
/// let copy = kernel.clone();
/// assert!(std::ptr::eq(&kernel.body[0], &copy.body[0]));
/// kernel.body.pop();
/// assert_eq!((kernel.body.len(), copy.body.len()), (1, 2));
/// let own: Block = copy.body.clone();
/// assert!(!std::ptr::eq(&own[0], &copy.body[0]));
/// assert_eq!(kernel.body.loops().len(), 1);
/// kernel.body.clear();
/// assert!(kernel.body.loops().is_empty());
/// ```
#[derive(Default)]
pub struct Block(Arc<Content>);

#[derive(Clone, Default)]
struct Content {
    nodes: Vec<Node>,
    /// What was found when it was first asked for. Who writes a node, however deep, borrows the
    /// blocks around it for that, which forget it.
    loops: OnceLock<Vec<IterId>>,
}

impl Block {
    /// The iterators of the loops inside, however deep, in the order of the text. A search for one
    /// of many loops passes by blocks that do not hold it.
    pub fn loops(&self) -> &[IterId] {
        self.0.loops.get_or_init(|| {
            let mut loops = Vec::new();
            for node in self {
                loops.extend(Loop::of(node).map(Loop::iter));
                node.blocks().for_each(|it| loops.extend(it.loops()));
            }
            loops
        })
    }

    /// The same statements at the same addresses, for another kernel.
    pub(crate) fn shared(&self) -> Self {
        Self(self.0.clone())
    }

    /// Whether every node has an address of its own: not if some were taken out of a clone of a
    /// kernel that has them still.
    pub(crate) fn has_addresses(&self) -> bool {
        let mut known = HashSet::new();
        let mut are_own = true;
        walk(self, &mut |node, _| {
            are_own &= known.insert(std::ptr::from_ref(node));
        });
        are_own
    }
}

impl Clone for Block {
    fn clone(&self) -> Self {
        self.to_vec().into()
    }
}

impl Deref for Block {
    type Target = Vec<Node>;

    fn deref(&self) -> &Self::Target {
        &self.0.nodes
    }
}

impl DerefMut for Block {
    fn deref_mut(&mut self) -> &mut Self::Target {
        if Arc::get_mut(&mut self.0).is_none() {
            *self = self.iter().map(Node::shared).collect();
        }
        // Nobody else has it now, so this makes no copy.
        let content = Arc::make_mut(&mut self.0);
        content.loops.take();
        &mut content.nodes
    }
}

impl PartialEq for Block {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.nodes.fmt(f)
    }
}

impl From<Vec<Node>> for Block {
    fn from(nodes: Vec<Node>) -> Self {
        Self(Arc::new(Content {
            nodes,
            loops: OnceLock::new(),
        }))
    }
}

impl From<Block> for Vec<Node> {
    fn from(mut block: Block) -> Self {
        std::mem::take(&mut *block)
    }
}

impl<const N: usize> From<[Node; N]> for Block {
    fn from(nodes: [Node; N]) -> Self {
        Vec::from(nodes).into()
    }
}

impl FromIterator<Node> for Block {
    fn from_iter<T: IntoIterator<Item = Node>>(nodes: T) -> Self {
        nodes.into_iter().collect::<Vec<_>>().into()
    }
}

impl IntoIterator for Block {
    type Item = Node;
    type IntoIter = std::vec::IntoIter<Node>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'b> IntoIterator for &'b Block {
    type Item = &'b Node;
    type IntoIter = std::slice::Iter<'b, Node>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'b> IntoIterator for &'b mut Block {
    type Item = &'b mut Node;
    type IntoIter = std::slice::IterMut<'b, Node>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
