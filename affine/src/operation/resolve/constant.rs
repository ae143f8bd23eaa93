//! The values of constants, as far as positions are made of them.

use crate::operation::shape::Shape;
use crate::operation::text::tree;

/// The integer that all elements of a constant are, if that is what they are.
pub(super) fn constant(shape: &Shape, operands: &[tree::Operand<'_>]) -> Option<i64> {
    let Shape::Array(array) = shape else {
        return None;
    };
    let [operand] = operands else {
        return None;
    };
    if !array.element.is_integer() {
        return None;
    }
    match &operand.value {
        tree::OperandValue::Word(word) => word.text.parse().ok(),
        tree::OperandValue::Literal(trees, _) => {
            let mut elements = Vec::new();
            collect_elements(trees, &mut elements)?;
            let first: i64 = elements.first()?.parse().ok()?;
            let count = i64::try_from(elements.len()).ok()?;
            let is_whole = count == array.element_count();
            let same = elements.iter().all(|it| it.parse() == Ok(first));
            (is_whole && same).then_some(first)
        }
    }
}

/// The words of nested braces; `None` when something else stands there.
fn collect_elements<'a>(trees: &[tree::Tree<'a>], elements: &mut Vec<&'a str>) -> Option<()> {
    for tree in trees {
        match &tree.kind {
            tree::TreeKind::Word(text) => elements.push(text),
            tree::TreeKind::Mark(",") => {}
            tree::TreeKind::Group('{', inner) => collect_elements(inner, elements)?,
            tree::TreeKind::Mark(_) | tree::TreeKind::Group(..) => return None,
        }
    }
    Some(())
}
