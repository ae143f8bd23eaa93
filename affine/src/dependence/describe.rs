//! Accesses as indexing maps, for people: iterators are dimensions, what is read from other arrays
//! are runtime variables, sizes stand by their names.

use super::analyzed::Analyzed;
use super::frame::Position;
use super::site::{Around, Level, Site, Target};
use crate::indexing::{IndexExpr, IndexingError, Variable, VariableKind};
use crate::visit::Loop;
use crate::{
    Access, AffineExpr, AffineFor, ArrayId, Condition, Relation as Compares, ScalarId, Subscript,
    Variable as Named,
};

/// An access as an indexing map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessMap {
    /// The map, with bounds over the sizes:
    /// `(i){rt0} -> (rt0), domain: i in [0, n - 1], rt0 in [0, m - 1]`. With constant sizes it is
    /// one that [`parse_map`](crate::indexing::parse_map) reads.
    pub map: String,
    /// Its runtime variables.
    pub runtime: Vec<RuntimeVariable>,
}

/// Where a runtime variable is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeVariable {
    /// Its name in the map.
    pub name: String,
    /// The array that holds it; `None` when it is computed in another way.
    pub array: Option<ArrayId>,
    /// The map to the element that holds it, if that is a map of the iterators.
    pub map: Option<String>,
}

impl Analyzed<'_> {
    /// The map of an access; `None` for scalars, for what touches all elements, and where a number
    /// leaves 64 bits.
    pub fn access_map(&self, site: &Site<'_>) -> Option<AccessMap> {
        let Target::Array(array) = site.target else {
            return None;
        };
        site.access?;
        let mut description = Description::of(self, site);
        let positions = self.frame.positions.get(site.order)?;
        let extents = &self.kernel().arrays[array].extents;
        let mut results = Vec::new();
        for (position, extent) in positions.iter().zip(extents) {
            results.push(description.result(position, extent).ok()?);
        }
        description.finished(&results)
    }
}

struct Description<'a> {
    analyzed: &'a Analyzed<'a>,
    /// The names of the dimensions.
    dimensions: Vec<String>,
    parameters: Vec<ScalarId>,
    around: Vec<Around<'a>>,
    runtime: Vec<RuntimeVariable>,
    bounds: Vec<String>,
}

type Checked<T> = Result<T, IndexingError>;

impl<'a> Description<'a> {
    fn of(analyzed: &'a Analyzed<'a>, site: &Site<'a>) -> Self {
        let kernel = analyzed.kernel();
        let iterators = site.levels().filter_map(Level::iter);
        Self {
            analyzed,
            dimensions: iterators.map(|it| kernel.iters[it].name.clone()).collect(),
            parameters: kernel.scalars.iter().map(|(id, _)| id).collect(),
            around: site.around.clone(),
            runtime: Vec::new(),
            bounds: Vec::new(),
        }
    }

    /// Sizes are range variables here, whose names are printed.
    fn expression(&self, expr: &AffineExpr) -> Checked<IndexExpr> {
        let kernel = self.analyzed.kernel();
        IndexExpr::from_affine(expr, &|variable| match variable {
            Named::Iter(iter) => {
                let name = &kernel.iters[iter].name;
                let place = self.dimensions.iter().position(|it| it == name);
                Variable::new(VariableKind::Dimension, place.unwrap_or(usize::MAX))
            }
            Named::Param(id) => {
                let place = self.parameters.iter().position(|it| *it == id);
                Variable::new(VariableKind::Range, place.unwrap_or(usize::MAX))
            }
        })
    }

    /// What a subscript comes to in the loops around: those of views and of coalesced loops are
    /// quotients and remainders.
    fn folded(&self, expr: &AffineExpr) -> AffineExpr {
        let loops = self.around.iter().filter_map(|it| match it {
            Around::Level(Level::Loop(around)) => Some(*around),
            Around::Level(Level::While(_)) | Around::Data(..) | Around::Affine { .. } => None,
        });
        expr.folded(&loops.collect::<Vec<_>>())
    }

    fn text(&self, expr: &IndexExpr) -> String {
        let kernel = self.analyzed.kernel();
        expr.text(&|variable: Variable| {
            let found = match variable.kind {
                VariableKind::Dimension => self.dimensions.get(variable.position).cloned(),
                VariableKind::Range => {
                    let id = self.parameters.get(variable.position);
                    id.map(|it| kernel.scalars[*it].name.clone())
                }
                VariableKind::Runtime => None,
            };
            found.unwrap_or_else(|| variable.default_name())
        })
    }

    fn result(&mut self, position: &Position<'a>, extent: &AffineExpr) -> Checked<IndexExpr> {
        let last = self.expression(extent)?.offset(-1)?;
        match position {
            Position::Affine(expr) => self.expression(&self.folded(expr)),
            Position::Indirect(load, offset) => {
                let offset = self.expression(offset)?;
                let value = self.element(load);
                let (low, high) = (IndexExpr::from(0).minus(&offset)?, last.minus(&offset)?);
                self.bound(&value, &low, &high);
                value.plus(&offset)
            }
            Position::Computed(_) | Position::Any => {
                let value = self.runtime(None, None);
                self.bound(&value, &0.into(), &last);
                Ok(value)
            }
        }
    }

    fn runtime(&mut self, array: Option<ArrayId>, map: Option<String>) -> IndexExpr {
        let position = self.runtime.len();
        let value = IndexExpr::runtime(position);
        self.runtime.push(RuntimeVariable {
            name: value.to_string(),
            array,
            map,
        });
        value
    }

    fn element(&mut self, access: &Access) -> IndexExpr {
        let results = access.subscripts.iter().map(|it| match it {
            Subscript::Affine(expr) => {
                let expr = self.expression(&self.folded(expr)).ok();
                expr.map(|it| self.text(&it))
            }
            Subscript::Computed(_) => None,
        });
        let results: Option<Vec<String>> = results.collect();
        let dimensions = self.dimensions.join(", ");
        let map = results.map(|it| format!("({dimensions}) -> ({})", it.join(", ")));
        self.runtime(Some(access.array), map)
    }

    fn bound(&mut self, value: &IndexExpr, low: &IndexExpr, high: &IndexExpr) {
        let (value, low, high) = (self.text(value), self.text(low), self.text(high));
        self.bounds.push(format!("{value} in [{low}, {high}]"));
    }

    fn finished(mut self, results: &[IndexExpr]) -> Option<AccessMap> {
        let of_values = std::mem::take(&mut self.bounds);
        for around in self.around.clone() {
            self.domain(&around).ok()?;
        }
        self.bounds.extend(of_values);
        let results: Vec<String> = results.iter().map(|it| self.text(it)).collect();
        let mut map = format!("({})", self.dimensions.join(", "));
        if !self.runtime.is_empty() {
            let names: Vec<&str> = self.runtime.iter().map(|it| it.name.as_str()).collect();
            map += &format!("{{{}}}", names.join(", "));
        }
        map += &format!(" -> ({})", results.join(", "));
        if !self.bounds.is_empty() {
            map += &format!(", domain: {}", self.bounds.join(", "));
        }
        Some(AccessMap {
            map,
            runtime: self.runtime,
        })
    }

    fn domain(&mut self, around: &Around<'a>) -> Checked<()> {
        match around {
            Around::Level(Level::Loop(Loop::Affine(affine))) => self.affine_loop(affine),
            Around::Level(Level::Loop(Loop::Forall(forall))) => {
                let iter = self.expression(&forall.iter.into())?;
                let last = self.expression(&forall.count)?.offset(-1)?;
                self.bound(&iter, &0.into(), &last);
                Ok(())
            }
            Around::Level(Level::Loop(Loop::Scf(scf))) => {
                let rows = self.analyzed.frame.rows.get(&scf.iter).cloned();
                if let Some([(lower, _), (upper, _)]) = rows {
                    let iter = self.expression(&scf.iter.into())?;
                    let (low, high) = (self.element(lower), self.element(upper));
                    self.bound(&iter, &low, &high.offset(-1)?);
                }
                Ok(())
            }
            Around::Level(Level::While(_)) | Around::Data(..) => Ok(()),
            Around::Affine { conditions, holds } => self.conditions(conditions, *holds),
        }
    }

    fn affine_loop(&mut self, affine: &AffineFor) -> Checked<()> {
        let iter = self.expression(&affine.iter.into())?;
        let lower = affine.lower.0.iter().map(|it| self.expression(it));
        let lower = IndexExpr::greatest(lower.collect::<Checked<Vec<_>>>()?);
        let upper = affine
            .upper
            .0
            .iter()
            .map(|it| self.expression(it)?.offset(-1));
        let upper = IndexExpr::least(upper.collect::<Checked<Vec<_>>>()?);
        self.bound(&iter, &lower, &upper);
        if affine.step > 1 {
            let steps = iter.minus(&lower)?.modulo(&affine.step.into())?;
            self.bound(&steps, &0.into(), &0.into());
        }
        Ok(())
    }

    /// Conditions of which one does not hold, nobody knows which, are left out.
    fn conditions(&mut self, conditions: &[Condition], holds: bool) -> Checked<()> {
        if !holds && conditions.len() > 1 {
            return Ok(());
        }
        for condition in conditions {
            let right = self.expression(&condition.right)?;
            let difference = right.minus(&self.expression(&condition.left)?)?;
            let (low, high) = match (condition.relation, holds) {
                (Compares::LessOrEqual, true) => (0, i64::MAX),
                (Compares::Less, true) => (1, i64::MAX),
                (Compares::LessOrEqual, false) => (i64::MIN, -1),
                (Compares::Less, false) => (i64::MIN, 0),
                (Compares::Equal, true) => (0, 0),
                (Compares::Equal, false) => continue,
            };
            self.bound(&difference, &low.into(), &high.into());
        }
        Ok(())
    }
}
