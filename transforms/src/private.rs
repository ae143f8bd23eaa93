//! Scalars and arrays of which each iteration of a loop gets its own.

use crate::copy::Copying;
use crate::scalars;
use crate::tree::replace_loop;
use crate::witness::{self, Reader};
use crate::{LoopPath, Reason};
use std::collections::BTreeSet;
use strew_affine::dependence::{Analyzed, Level, Privacy, Site, Target, Witness};
use strew_affine::interpret::Touched;
use strew_affine::visit::{self, AccessKind, Loop};
use strew_affine::{AffineFor, Expr, Kernel, Node, Overflow, Span, Value};

/// The scalars and local arrays from outside of the loop in which its iterations meet and of which
/// they can have their own. A copy of an array in which they do not meet would be made and filled
/// with zeros for nothing.
pub(crate) fn privatizable<'k>(analyzed: &Analyzed<'k>, target: &'k AffineFor) -> Vec<Target> {
    let written = written_from_outside(analyzed.kernel(), target);
    private_of(analyzed, target, written)
}

/// Those of `written` of which the iterations can have their own.
fn private_of<'k>(
    analyzed: &Analyzed<'k>,
    target: &'k AffineFor,
    written: Vec<Target>,
) -> Vec<Target> {
    let meets = |target: Target, iter| {
        let of_it = |one: &Site<'_>, _: &Site<'_>| one.target == target;
        matches!(target, Target::Local(_)) || !analyzed.are_apart(iter, of_it)
    };
    let private = |it: &Target| {
        privacy(analyzed, target, *it) == Some(Privacy::Private) && meets(*it, target.iter)
    };
    written.into_iter().filter(private).collect()
}

/// That iterations of the loop can have `variable` of their own; and whether they have already.
pub(crate) fn check_private(
    kernel: &Kernel,
    of: &AffineFor,
    path: &LoopPath,
    variable: Target,
) -> Result<bool, Reason> {
    let analyzed = Analyzed::new(kernel);
    let name = || variable.name(kernel).to_owned();
    let mut sites = analyzed.sites().iter();
    let is_written = sites.any(|it| {
        let mut levels = it.levels();
        it.target == variable && it.writes() && levels.any(|it| it.iter() == Some(of.iter))
    });
    if !is_written {
        return Err(Reason::NotWritten {
            array: name(),
            path: path.clone(),
        });
    }
    let span = |site: usize| {
        let site = analyzed.sites().get(site);
        site.map_or(Span::default(), |it| it.span)
    };
    let path = path.clone();
    Err(match privacy(&analyzed, of, variable) {
        None | Some(Privacy::Private) => return Ok(false),
        Some(Privacy::Own) => return Ok(true),
        Some(Privacy::IsParameter { is_written_behind }) => {
            let (written, witness) = seen(kernel, of, variable);
            Reason::SeenByCaller {
                path,
                name: name(),
                written,
                // What is written again may be all that the caller would see.
                witness: witness.filter(|_| !is_written_behind),
            }
        }
        Some(Privacy::ReadsOlder(read)) => {
            let (written, witness) = left(kernel, of, variable, Reader::Iteration);
            Reason::ReadsOlder {
                path,
                name: name(),
                written,
                span: span(read),
                witness,
            }
        }
        Some(Privacy::ReadBehind(read)) => {
            let (written, witness) = left(kernel, of, variable, Reader::Rest);
            Reason::ReadBehind {
                path,
                name: name(),
                written,
                span: span(read),
                witness,
            }
        }
    })
}

/// A write to `variable`, a parameter, in a run that shows it, and where it stands.
fn seen(kernel: &Kernel, of: &AffineFor, variable: Target) -> Shown {
    let Target::Array(array) = variable else {
        return (None, None);
    };
    let found = witness::find_ends(kernel, of.iter, array, |ends| {
        ends.are_same() && ends.either(|it| it.kind != AccessKind::Read)
    });
    found
        .map(|((_, span), _, witness)| (span, Box::new(witness)))
        .unzip()
}

/// Where a write stands, and a run that shows it.
type Shown = (Option<Span>, Option<Box<Witness>>);

/// What an iteration leaves in `variable` for `reader`, in a run that shows it, and where it does.
fn left(kernel: &Kernel, of: &AffineFor, variable: Target, reader: Reader) -> Shown {
    let watched = match variable {
        Target::Local(local) => Touched::Local(local),
        Target::Array(array) => Touched::Array(array),
    };
    let lives_on = kernel.body.iter().any(|node| match (node, variable) {
        (Node::Declare { local, .. }, Target::Local(it)) => *local == it,
        (Node::Alloc { array }, Target::Array(it)) => *array == it,
        _ => false,
    });
    let found = witness::find_left(kernel, of.iter, watched, (reader, lives_on));
    let (written, witness) = found.unzip();
    (written, witness.map(Box::new))
}

/// Whether iterations of the loop can have `target` of their own; `None` where nothing in it
/// touches anything.
pub(crate) fn privacy<'k>(
    analyzed: &Analyzed<'k>,
    of: &'k AffineFor,
    target: Target,
) -> Option<Privacy> {
    let mut sites = analyzed.sites().iter();
    let depth = sites.find_map(|it| it.levels().position(|it| it.iter() == Some(of.iter)))?;
    let level = Level::Loop(Loop::Affine(of));
    Some(analyzed.privacy(level, depth, target))
}

/// The scalars and local arrays that live outside of the loop and are written in it.
fn written_from_outside(kernel: &Kernel, target: &AffineFor) -> Vec<Target> {
    let scalars = scalars::set_in(target).into_iter();
    let scalars: BTreeSet<_> = scalars.map(|(local, _)| Target::Local(local)).collect();
    let own = visit::allocated_arrays(&target.body);
    let mut arrays = BTreeSet::new();
    visit::walk(&target.body, &mut |node, _| {
        arrays.extend(node.written_elements().map(|it| it.array));
    });
    // Mostly there are no others, and the kernel need not be looked through.
    arrays.retain(|it| !own.contains(it) && kernel.array_params().all(|param| param != *it));
    if !arrays.is_empty() {
        let allocated = visit::allocated_arrays(&kernel.body);
        arrays.retain(|it| allocated.contains(it));
    }
    scalars
        .into_iter()
        .chain(arrays.into_iter().map(Target::Array))
        .collect()
}

/// The kernel in which each iteration of the loop makes its own of `targets`, which nobody else
/// looks at.
pub(crate) fn privatized(
    kernel: &Kernel,
    target: &AffineFor,
    targets: &[Target],
) -> Result<Kernel, Overflow> {
    let mut prepared = kernel.clone();
    let mut copying = Copying::default();
    let mut body = Vec::new();
    for it in targets {
        body.push(match *it {
            Target::Local(local) => {
                let anew = copying.new_local(&mut prepared, local, "p");
                prepared.locals[anew].is_element = false;
                let value = Expr::Constant(Value::zero(kernel.locals[local].ty));
                Node::Declare { local: anew, value }
            }
            Target::Array(array) => Node::Alloc {
                array: copying.new_array(&mut prepared, array, "p"),
            },
        });
    }
    body.extend(copying.block(&target.body)?);
    let replacement = vec![Node::AffineFor(AffineFor {
        body: body.into(),
        ..target.clone()
    })];
    replace_loop(&mut prepared.body, target.iter, replacement);
    Ok(prepared)
}

/// The kernel in which each iteration of the loop has its own of all that it can, if there is
/// something.
pub(crate) fn with_own(kernel: &Kernel, target: &AffineFor) -> Result<Option<Kernel>, Overflow> {
    let written = written_from_outside(kernel, target);
    if written.is_empty() {
        return Ok(None);
    }
    let targets = private_of(&Analyzed::new(kernel), target, written);
    let is_any = !targets.is_empty();
    is_any
        .then(|| privatized(kernel, target, &targets))
        .transpose()
}
