//! Loops and statements.

use super::token::Attributes;
use super::{Checked, Division, Known, ReadError, Reader, Token, forall, labels, name_of};
use crate::{
    AffineExpr, AffineFor, Bound, Expr, Forall, Iter, IterId, Local, LocalId, Node, Private,
    ScfFor, Span, Type,
};

impl<'t> Reader<'_, 't> {
    /// The statements up to the brace that ends them, and what is yielded or returned there.
    pub(super) fn block(&mut self) -> Checked<(Vec<Node>, Option<Expr>)> {
        let mut nodes = Vec::new();
        let mut end = None;
        while !self.tokens.is("}") {
            match self.tokens.peek() {
                Some(Token::Value(name)) => {
                    self.tokens.next();
                    self.tokens.expect("=")?;
                    self.definition(name, &mut nodes)?;
                }
                Some(Token::Word(word @ ("return" | "scf.yield"))) => {
                    let span = self.tokens.here();
                    self.tokens.next();
                    if word == "return" {
                        self.kernel.result_span = span;
                    }
                    if let Some(Token::Value(_)) = self.tokens.peek() {
                        end = Some(self.expr()?);
                        self.tokens.expect(":")?;
                        self.tokens.word()?;
                    }
                }
                Some(Token::Word("scf.condition")) => {
                    self.tokens.next();
                    self.tokens.expect("(")?;
                    end = Some(self.expr()?);
                    self.tokens.expect(")")?;
                }
                Some(Token::Word(word)) => {
                    let span = self.tokens.here();
                    self.tokens.next();
                    self.operation(word, span, &mut nodes)?;
                }
                _ => return Err(self.tokens.wanted("an operation")),
            }
        }
        Ok((nodes, end))
    }

    /// `{ … }`
    fn braces(&mut self) -> Checked<Vec<Node>> {
        self.tokens.expect("{")?;
        let (nodes, _) = self.block()?;
        self.tokens.expect("}")?;
        Ok(nodes)
    }

    /// The body of a loop: in later turns, what is set there is set before all of it.
    fn turn(&mut self) -> Checked<Vec<Node>> {
        self.forget();
        self.braces()
    }

    fn otherwise(&mut self) -> Checked<Vec<Node>> {
        match self.tokens.take("else") {
            true => self.braces(),
            false => Ok(Vec::new()),
        }
    }

    pub(super) fn definition(&mut self, name: &'t str, nodes: &mut Vec<Node>) -> Checked<()> {
        let span = self.tokens.here();
        let (word, _) = self.tokens.word()?;
        let known = match word {
            "memref.alloca" => {
                self.tokens.expect("(")?;
                self.tokens.expect(")")?;
                let attributes = self.tokens.attributes()?;
                self.tokens.expect(":")?;
                self.tokens.memref()?;
                Known::Slot {
                    name: name_of(&attributes).unwrap_or_else(|| name.to_owned()),
                    is_element: attributes.iter().any(|(key, _)| *key == "strew.element"),
                    local: None,
                }
            }
            "memref.alloc" => return self.alloc(name, span, nodes),
            "memref.subview" => self.subview()?,
            "memref.load" => self.load(false)?,
            "affine.load" => self.load(true)?,
            _ => self.value(word, span)?,
        };
        let known = match (known, self.called.take()) {
            (Known::Expr(value), Some(called)) => {
                let ty = value.ty(&self.kernel);
                let local = self.declare((&called, span), ty, (false, false));
                self.label(span);
                nodes.push(Node::Declare { local, value });
                Known::Expr(Expr::Local(local))
            }
            (other, _) => other,
        };
        if !known.is_moderate() {
            return Err(ReadError::new(span, "this is larger than strew reads"));
        }
        if self.reads(&known) {
            self.current.push(name);
        }
        self.known.insert(name, known);
        Ok(())
    }

    pub(super) fn declare(
        &mut self,
        (name, span): (&str, Span),
        ty: Type,
        (mutable, is_element): (bool, bool),
    ) -> LocalId {
        self.kernel.locals.alloc(Local {
            name: name.to_owned(),
            ty,
            mutable,
            is_element,
            span,
        })
    }

    fn operation(&mut self, word: &str, span: Span, nodes: &mut Vec<Node>) -> Checked<()> {
        match word {
            "affine.for" => nodes.push(self.affine_for()?),
            "scf.for" => nodes.push(self.scf_for(span)?),
            "scf.forall" => nodes.push(self.forall()?),
            "affine.if" => {
                let known = &self.known;
                let conditions = self.tokens.set(&|name| index_of(known, name))?;
                let then = self.braces()?;
                let otherwise = self.otherwise()?;
                nodes.push(Node::AffineIf {
                    conditions,
                    then: then.into(),
                    otherwise: otherwise.into(),
                });
            }
            "scf.if" => nodes.push(self.scf_if()?),
            "scf.while" => nodes.push(self.scf_while()?),
            "memref.store" => self.store(false, span, nodes)?,
            "affine.store" => self.store(true, span, nodes)?,
            "cf.assert" => self.assertion(span)?,
            "memref.dealloc" => {
                self.tokens.value()?;
                self.tokens.expect(":")?;
                self.tokens.memref()?;
            }
            "linalg.fill" => {
                self.fill()?;
            }
            _ => {
                let why = format!("strew does not read `{word}`");
                return Err(ReadError::new(span, why));
            }
        }
        Ok(())
    }

    fn assertion(&mut self, span: Span) -> Checked<()> {
        let (name, _) = self.tokens.value()?;
        self.tokens.expect(",")?;
        let message = self.tokens.text()?;
        match (self.known.get(name), message) {
            (Some(Known::Condition(condition)), "an assumption does not hold") => {
                self.kernel.assumptions.push(condition.clone());
                Ok(())
            }
            (_, "division by zero") => Ok(()),
            (Some(Known::InRange), _) => Ok(()),
            _ => Err(ReadError::new(span, "strew prints no such assertion")),
        }
    }

    fn iterator(&mut self, name: &'t str) -> IterId {
        let iter = self.kernel.iters.alloc(Iter {
            name: name.to_owned(),
            labels: Vec::new(),
            span: Span::default(),
        });
        let known = Known::Index(iter.into(), Division::None);
        self.known.insert(name, known);
        iter
    }

    /// Gives a loop the name and the labels that stand behind it.
    fn describe(&mut self, iter: IterId, attributes: &Attributes<'_>) {
        let iter = &mut self.kernel.iters[iter];
        iter.labels = labels(attributes);
        if let Some(name) = name_of(attributes) {
            iter.name = name;
        }
    }

    fn bound(&mut self, word: &str) -> Checked<Bound> {
        if let Some(Token::Number(_)) = self.tokens.peek() {
            return Ok(AffineExpr::from(self.tokens.integer()?).into());
        }
        // What `mlir-opt` makes of a map that changes nothing.
        if let Some(Token::Value(_)) = self.tokens.peek() {
            return Ok(self.index()?.into());
        }
        self.tokens.take(word);
        let known = &self.known;
        Ok(Bound(self.tokens.map(&|name| index_of(known, name))?))
    }

    fn affine_for(&mut self) -> Checked<Node> {
        let (name, _) = self.tokens.value()?;
        self.tokens.expect("=")?;
        let lower = self.bound("max")?;
        self.tokens.expect("to")?;
        let upper = self.bound("min")?;
        let step = match self.tokens.take("step") {
            true => self.tokens.integer()?,
            false => 1,
        };
        self.counted(name, (lower, upper, step))
    }

    fn counted(
        &mut self,
        name: &'t str,
        (lower, upper, step): (Bound, Bound, i64),
    ) -> Checked<Node> {
        let merged = (
            std::mem::take(&mut self.privates),
            std::mem::take(&mut self.rows),
        );
        let iter = self.iterator(name);
        let body = self.turn()?;
        let attributes = self.tokens.attributes()?;
        self.describe(iter, &attributes);
        let lanes = self.lanes(&attributes)?;
        let of = |key: &str| attributes.iter().find(|(known, _)| *known == key);
        if let (Some((_, clauses)), Some(count)) = (of("strew.speculative"), upper.as_single()) {
            let (mut privates, rows) = merged;
            privates.extend(self.speculative(clauses)?);
            let strategy = of("strew.strategy")
                .map_or("auto", |(_, it)| *it)
                .to_owned();
            let made = forall(iter, count.clone(), privates, strategy);
            return self.merged(
                Forall {
                    body: body.into(),
                    ..made
                },
                rows,
            );
        }
        Ok(Node::AffineFor(AffineFor {
            iter,
            lower,
            upper,
            step,
            lanes,
            body: body.into(),
        }))
    }

    /// How many iterations of a loop run at once, as its attributes say.
    fn lanes(&self, attributes: &[(&str, &str)]) -> Checked<u32> {
        let mut attributes = attributes.iter();
        match attributes.find(|(key, _)| *key == "strew.lanes") {
            Some((_, value)) => value.parse().map_err(|_| self.tokens.wanted("lanes")),
            None => Ok(1),
        }
    }

    fn scf_for(&mut self, span: Span) -> Checked<Node> {
        let (name, _) = self.tokens.value()?;
        self.tokens.expect("=")?;
        let (lower, _) = self.tokens.value()?;
        self.tokens.expect("to")?;
        let (upper, _) = self.tokens.value()?;
        self.tokens.expect("step")?;
        let step = self.index()?;
        let step = step.as_constant().unwrap_or(0);
        let ends = [lower, upper].map(|it| self.known.get(it).cloned());
        if let [Some(lower), Some(upper)] = &ends
            && let Some((lower, upper)) = self.computed(lower, upper)
        {
            let iter = self.iterator(name);
            let body = self.turn()?;
            let attributes = self.tokens.attributes()?;
            self.describe(iter, &attributes);
            return Ok(Node::ScfFor(ScfFor {
                iter,
                lower,
                upper,
                step,
                lanes: self.lanes(&attributes)?,
                body: body.into(),
            }));
        }
        match ends {
            [Some(lower), Some(upper)] => match (alternatives(lower), alternatives(upper)) {
                (Some(lower), Some(upper)) => self.counted(name, (lower, upper, step)),
                _ => Err(ReadError::new(span, "these bounds are no indices")),
            },
            _ => Err(ReadError::new(span, "these bounds are not known")),
        }
    }

    /// Both bounds as values of 64 bits, if one of them is computed.
    fn computed(&self, lower: &Known, upper: &Known) -> Option<(Expr, Expr)> {
        let is_index = |it: &Known| matches!(it, Known::Index(..));
        if is_index(lower) && is_index(upper) {
            return None;
        }
        let value = |known: &Known| match known {
            Known::Wide(expr) => match expr.ty(&self.kernel) {
                Type::I64 => Some(expr.clone()),
                // What `mlir-opt` makes of a conversion to 64 bits.
                Type::I8 | Type::I16 | Type::I32 => {
                    Some(Expr::Cast(Type::I64, Box::new(expr.clone())))
                }
                _ => None,
            },
            Known::Index(expr, _) => expr.as_constant().map(Expr::i64),
            _ => None,
        };
        value(lower).zip(value(upper))
    }

    fn forall(&mut self) -> Checked<Node> {
        self.tokens.expect("(")?;
        let (name, _) = self.tokens.value()?;
        self.tokens.expect(")")?;
        self.tokens.expect("in")?;
        self.tokens.expect("(")?;
        let count = self.index()?;
        self.tokens.expect(")")?;
        let privates = std::mem::take(&mut self.privates);
        let rows = std::mem::take(&mut self.rows);
        let iter = self.iterator(name);
        let body = self.turn()?;
        let mut strategy = String::new();
        let attributes = self.tokens.attributes()?;
        self.describe(iter, &attributes);
        for (key, value) in attributes {
            if key == "strew.strategy" {
                strategy = value.to_owned();
            }
        }
        let made = forall(iter, count, privates, strategy);
        self.merged(
            Forall {
                body: body.into(),
                ..made
            },
            rows,
        )
    }

    /// The forall whose buffers are the rows `rows`. How they are merged follows from their
    /// combiners.
    fn merged(&mut self, made: Forall, rows: Vec<&'t str>) -> Checked<Node> {
        for name in rows.into_iter().rev() {
            self.tokens.skip_to_end_of(name)?;
        }
        Ok(Node::Forall(made))
    }

    /// What stands in `strew.speculative`.
    fn speculative(&self, clauses: &str) -> Checked<Vec<Private>> {
        let clauses = super::unquoted(clauses);
        let clauses = clauses.split("\n\n").filter(|it| !it.is_empty());
        let clauses = clauses.map(|clause| {
            let mut lines = clause.split('\n');
            let combiner = self.combiner(lines.next().unwrap_or_default(), Span::default())?;
            let targets = lines.map(|it| self.target(it, Span::default()));
            let targets = targets.collect::<Checked<Vec<_>>>()?;
            Ok(Private::speculative(targets, combiner))
        });
        clauses.collect()
    }

    fn scf_if(&mut self) -> Checked<Node> {
        let (name, span) = self.tokens.value()?;
        let known = self.known.get(name).cloned();
        let then = self.braces()?;
        let otherwise = self.otherwise()?;
        Ok(match known {
            Some(Known::Conditions(conditions)) => Node::AffineIf {
                conditions,
                then: then.into(),
                otherwise: otherwise.into(),
            },
            Some(Known::Expr(condition)) => Node::ScfIf {
                condition,
                then: then.into(),
                otherwise: otherwise.into(),
                span,
            },
            _ => return Err(ReadError::new(span, format!("`%{name}` is no condition"))),
        })
    }

    fn scf_while(&mut self) -> Checked<Node> {
        for mark in [":", "(", ")", "->", "(", ")", "{"] {
            self.tokens.expect(mark)?;
        }
        self.forget();
        let (_, condition) = self.block()?;
        self.tokens.expect("}")?;
        self.tokens.expect("do")?;
        let body = self.turn()?;
        let condition =
            condition.ok_or_else(|| self.tokens.wanted("`scf.condition` before this"))?;
        Ok(Node::ScfWhile {
            condition,
            body: body.into(),
            span: Span::default(),
        })
    }
}

/// The bound that an index is.
fn alternatives(known: Known) -> Option<Bound> {
    match known {
        Known::Index(expr, _) => Some(expr.into()),
        Known::Extreme(all) => Some(Bound(all)),
        _ => None,
    }
}

pub(super) fn index_of(
    known: &std::collections::HashMap<&str, Known>,
    name: &str,
) -> Option<AffineExpr> {
    match known.get(name) {
        Some(Known::Index(expr, _)) => Some(expr.clone()),
        _ => None,
    }
}
