//! Buffers and scalars that change: what is loaded from them and stored to them.

use super::index::in_range;
use super::statement::index_of;
use super::{Checked, Division, Known, Pending, ReadError, Reader, Token, labels, name_of};
use crate::combiner::Combiner;
use crate::{
    Access, AffineExpr, Array, ArrayId, Expr, Node, Operand, Place, Private, Span, Subscript, Type,
};

impl<'t> Reader<'_, 't> {
    pub(super) fn alloc(
        &mut self,
        name: &'t str,
        span: Span,
        nodes: &mut Vec<Node>,
    ) -> Checked<()> {
        let mut sizes = Vec::new();
        self.tokens.expect("(")?;
        while !self.tokens.take(")") {
            sizes.push(self.index()?);
            self.tokens.take(",");
        }
        let attributes = self.tokens.attributes()?;
        self.tokens.expect(":")?;
        let (dimensions, _) = self.tokens.memref()?;
        let mut sizes = sizes.into_iter();
        let extents = dimensions.into_iter();
        let extents = extents.map(|it| it.map_or_else(|| sizes.next(), |it| Some(it.into())));
        let extents: Option<Vec<AffineExpr>> = extents.collect();
        let extents = extents.ok_or_else(|| ReadError::new(span, "a size is missing here"))?;
        let of = |key: &str| {
            let mut all = attributes.iter();
            all.find(|it| it.0 == key).map(|it| it.1)
        };
        // Whatever is allocated is filled, which tells the type of its elements.
        while let Some(Token::Value(constant)) = self.tokens.peek() {
            self.tokens.next();
            self.tokens.expect("=")?;
            self.definition(constant, nodes)?;
        }
        self.tokens.expect("linalg.fill")?;
        let element = self.fill()?;
        let mut array = Array {
            name: name_of(&attributes).unwrap_or_else(|| name.to_owned()),
            element,
            extents,
            length: None,
            field: None,
            span: Span::default(),
        };
        let (Some(buffer), Some(target), Some(combiner)) =
            (of("strew.buffer"), of("strew.target"), of("strew.combiner"))
        else {
            let array = self.kernel.arrays.alloc(array);
            nodes.push(Node::Alloc { array });
            self.known.insert(name, Known::Array(array));
            return Ok(());
        };
        let target = self.target(&super::unquoted(target), span)?;
        array.name = super::unquoted(buffer);
        // The first dimension is the iteration.
        array.extents = array.extents.split_off(1.min(array.extents.len()));
        let array = self.kernel.arrays.alloc(array);
        self.known.insert(name, Known::Rows(array));
        self.rows.push(name);
        let combiner = self.combiner(combiner, span)?;
        match self.privates.last_mut() {
            Some(last) if last.buffers.len() < last.combiner.parts() => {
                last.buffers.push(array);
                last.targets.push(target);
            }
            _ => self.privates.push(Private {
                buffers: vec![array],
                targets: vec![target],
                combiner,
            }),
        }
        Ok(())
    }

    /// The array called `name`.
    pub(super) fn target(&self, name: &str, span: Span) -> Checked<ArrayId> {
        let found = self.kernel.arrays.iter().find(|(_, it)| it.name == name);
        let known = found.map(|(id, _)| id);
        known.ok_or_else(|| ReadError::new(span, format!("`{name}` is no buffer")))
    }

    pub(super) fn combiner(&self, name: &str, span: Span) -> Checked<Combiner> {
        let name = super::unquoted(name);
        let mut declared = self.combiners.iter();
        let found = declared.find(|it| it.to_string() == name).cloned();
        let found = found.or_else(|| Combiner::from_name(&name));
        found.ok_or_else(|| ReadError::new(span, format!("there is no combiner `{name}`")))
    }

    /// `ins(%0 : f64) outs(%t : memref<?xf64>)`: the type of the value.
    pub(super) fn fill(&mut self) -> Checked<Type> {
        self.tokens.expect("ins")?;
        self.tokens.expect("(")?;
        let value = self.expr()?;
        self.tokens.expect(":")?;
        self.tokens.word()?;
        for mark in [")", "outs", "("] {
            self.tokens.expect(mark)?;
        }
        self.tokens.value()?;
        self.tokens.expect(":")?;
        self.tokens.memref()?;
        self.tokens.expect(")")?;
        Ok(value.ty(&self.kernel))
    }

    /// The row of an iteration is its private buffer.
    pub(super) fn subview(&mut self) -> Checked<Known> {
        let (name, span) = self.tokens.value()?;
        let Some(Known::Rows(array)) = self.known.get(name).cloned() else {
            return Err(ReadError::new(span, "these are no rows of private buffers"));
        };
        while self.tokens.take("[") {
            while !self.tokens.take("]") {
                if self.tokens.next().is_none() {
                    return Err(self.tokens.wanted("`]`"));
                }
            }
        }
        self.tokens.expect(":")?;
        self.tokens.memref()?;
        self.tokens.expect("to")?;
        self.tokens.memref()?;
        Ok(Known::Array(array))
    }

    /// `%a[%i, %j]`, and the span of the name.
    fn place(&mut self, is_affine: bool) -> Checked<(&'t str, Vec<Subscript>, Span)> {
        let (name, span) = self.tokens.value()?;
        self.tokens.expect("[")?;
        let mut subscripts = Vec::new();
        while !self.tokens.take("]") {
            let subscript = if is_affine {
                let known = &self.known;
                Subscript::Affine(self.tokens.affine(&|name| index_of(known, name))?)
            } else {
                let (name, span) = self.tokens.value()?;
                match self.current_value(name, span)? {
                    Some(Known::Index(expr, _)) => Subscript::Affine(expr),
                    Some(Known::Wide(expr)) => Subscript::Computed(expr),
                    _ => return Err(ReadError::new(span, format!("`%{name}` is no index"))),
                }
            };
            subscripts.push(subscript);
            self.tokens.take(",");
        }
        Ok((name, subscripts, span))
    }

    pub(super) fn load(&mut self, is_affine: bool) -> Checked<Known> {
        let (name, subscripts, span) = self.place(is_affine)?;
        let attributes = self.tokens.attributes()?;
        self.tokens.expect(":")?;
        self.tokens.memref()?;
        let place = match self.known.get(name).cloned() {
            Some(Known::Array(array)) => Place::Element(Access {
                array,
                subscripts,
                span: Span::default(),
            }),
            Some(Known::Slot {
                local: Some(local), ..
            }) => Place::Local(local),
            _ => {
                return Err(ReadError::new(
                    span,
                    format!("`%{name}` cannot be read here"),
                ));
            }
        };
        let combiner = attributes.iter().find(|(key, _)| *key == "strew.reduce");
        if let Some((_, combiner)) = combiner {
            let combiner = self.combiner(combiner, span)?;
            let pending = self.pending.get_or_insert_with(|| Pending {
                combiner,
                span,
                places: Vec::new(),
                combined: Vec::new(),
            });
            pending.places.push(place);
            let part = pending.places.len() - 1;
            return Ok(Known::Expr(Expr::Operand(Operand::Held(part))));
        }
        Ok(Known::Expr(match place {
            Place::Element(access) => Expr::Load(access),
            Place::Local(local) => Expr::Local(local),
        }))
    }

    pub(super) fn store(
        &mut self,
        is_affine: bool,
        span: Span,
        nodes: &mut Vec<Node>,
    ) -> Checked<()> {
        let value = self.expr()?;
        self.tokens.expect(",")?;
        let (name, subscripts, _) = self.place(is_affine)?;
        let attributes = self.tokens.attributes()?;
        self.labels.extend(labels(&attributes));
        self.tokens.expect(":")?;
        self.tokens.memref()?;
        let none = Span::default();
        let place = match self.known.get(name).cloned() {
            Some(Known::Array(array)) => Place::Element(Access {
                array,
                subscripts,
                span: none,
            }),
            Some(Known::Slot {
                local: Some(local), ..
            }) => Place::Local(local),
            Some(Known::Slot {
                name: called,
                is_element,
                local: None,
            }) => {
                let ty = value.ty(&self.kernel);
                let local = self.declare((&called, span), ty, (true, is_element));
                let slot = Known::Slot {
                    name: called,
                    is_element,
                    local: Some(local),
                };
                self.known.insert(name, slot);
                self.label(span);
                nodes.push(Node::Declare { local, value });
                return Ok(());
            }
            _ => return Err(ReadError::new(span, format!("`%{name}` cannot be set"))),
        };
        match self.pending.take() {
            None => {
                self.label(span);
                nodes.push(Node::Assign { place, value, span });
                self.forget();
            }
            Some(mut pending) => {
                if pending.places.get(pending.combined.len()) != Some(&place) {
                    let why = "a reduction sets the places that it has read, in their order";
                    return Err(ReadError::new(span, why));
                }
                pending.combined.push(value);
                if pending.combined.len() < pending.places.len() {
                    self.pending = Some(pending);
                } else {
                    self.label(pending.span);
                    nodes.push(self.reduction(pending)?);
                    self.forget();
                }
            }
        }
        Ok(())
    }

    /// What came to the places, from what they became.
    fn reduction(&mut self, pending: Pending) -> Checked<Node> {
        let Pending {
            combiner,
            span,
            places,
            combined,
        } = pending;
        let types: Vec<Type> = places.iter().map(|it| it.ty(&self.kernel)).collect();
        let bodies = combiner.bodies(&types).unwrap_or_default();
        let mut values = vec![None; places.len()];
        let mut fits = bodies.len() == combined.len();
        for (body, made) in bodies.iter().zip(&combined) {
            fits &= matches(body, made, &mut values);
        }
        let values: Option<Vec<Expr>> = values.into_iter().collect();
        match values.filter(|_| fits) {
            Some(values) => Ok(Node::Reduce {
                places,
                combiner,
                values,
                span,
            }),
            None => {
                let why = format!("this does not combine by `{combiner}`, as its attribute says");
                Err(ReadError::new(span, why))
            }
        }
    }

    /// The next value, as an affine expression.
    pub(super) fn index(&mut self) -> Checked<AffineExpr> {
        let (name, span) = self.tokens.value()?;
        let found = index_of(&self.known, name);
        found.ok_or_else(|| ReadError::new(span, format!("`%{name}` is no index")))
    }

    /// What `name` stands for, if that is still so.
    pub(super) fn current_value(&self, name: &str, span: Span) -> Checked<Option<Known>> {
        match self.known.get(name) {
            Some(Known::Stale) => Err(ReadError::new(
                span,
                format!(
                    "`%{name}` was read before something was set: strew names such values by `strew.name`"
                ),
            )),
            known => Ok(known.cloned()),
        }
    }

    /// The next value, as an expression.
    pub(super) fn expr(&mut self) -> Checked<Expr> {
        let (name, span) = self.tokens.value()?;
        match self.current_value(name, span)? {
            Some(Known::Expr(expr)) => Ok(expr),
            Some(_) => Err(ReadError::new(span, format!("`%{name}` is no number here"))),
            None => Err(ReadError::new(span, format!("`%{name}` is not known"))),
        }
    }

    pub(super) fn quotient(
        &mut self,
        span: Span,
        (left, right): (AffineExpr, AffineExpr),
    ) -> Checked<Known> {
        let quotient = in_range(span, left.floordiv(&right))?;
        Ok(Known::Index(quotient, Division::Quotient(left, right)))
    }
}

/// Whether `made` is `body` for some incoming values, which are found out.
fn matches(body: &Expr, made: &Expr, incoming: &mut [Option<Expr>]) -> bool {
    if let Expr::Operand(Operand::Incoming(part)) = body {
        return match incoming.get_mut(*part) {
            Some(Some(known)) => known == made,
            Some(unknown) => {
                *unknown = Some(made.clone());
                true
            }
            None => false,
        };
    }
    let (parts, others) = (body.operands(), made.operands());
    if parts.is_empty() {
        return body == made;
    }
    let same = match (body, made) {
        (Expr::Unary(left, _), Expr::Unary(right, _)) => left == right,
        (Expr::Binary(left, ..), Expr::Binary(right, ..)) => left == right,
        (Expr::Compare(left, ..), Expr::Compare(right, ..)) => left == right,
        (Expr::Cast(left, _), Expr::Cast(right, _)) => left == right,
        (Expr::Call(left, _), Expr::Call(right, _)) => left == right,
        _ => std::mem::discriminant(body) == std::mem::discriminant(made),
    };
    same && parts.len() == others.len()
        && parts
            .into_iter()
            .zip(others)
            .all(|(body, made)| matches(body, made, incoming))
}
