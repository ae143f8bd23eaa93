use super::{IndexExpr, IndexingError, IndexingMap, Variable, VariableKind};
use std::collections::HashMap;

impl IndexingMap {
    /// The simplified map without the variables that need not be there: those that occur nowhere,
    /// those with one value, which stands in their place, and range and runtime variables that are
    /// another variable plus a constant. The variables that are left keep their order and their own
    /// names.
    pub fn without_unused(&self) -> Self {
        let mut map = self.simplified();
        loop {
            if map.known_empty {
                return Self::known_empty();
            }
            let next = map
                .clone()
                .without_points()
                .without_equals()
                .without_unmentioned();
            let next = next.simplified();
            if next == map {
                return map;
            }
            map = next;
        }
    }

    /// The variables that occur neither in a result nor in a constraint.
    pub fn unused_variables(&self) -> Vec<Variable> {
        let is_unused = |variable: &Variable| !self.expressions().any(|it| it.mentions(*variable));
        self.variables().filter(is_unused).collect()
    }

    fn without_unmentioned(self) -> Self {
        let unused = self.unused_variables();
        self.without(&unused)
    }

    fn without_points(self) -> Self {
        let point = |variable| {
            let value = self.declaration(variable)?.bounds.as_point()?;
            Some((variable, IndexExpr::from(value)))
        };
        let points: HashMap<_, _> = self.variables().filter_map(point).collect();
        self.replaced(&points).unwrap_or(self)
    }

    /// Replaces one variable that a constraint makes equal to another one but for a constant.
    fn without_equals(self) -> Self {
        let equal = self.constraints.iter().find_map(|it| {
            let difference = it.bounds.as_point()?;
            let IndexExpr::Sum(sum) = &it.expr else {
                return None;
            };
            let [left, right] = sum.terms() else {
                return None;
            };
            if left.coefficient.checked_add(right.coefficient) != Some(0)
                || sum.constant() != 0
                || left.coefficient.abs() != 1
            {
                return None;
            }
            let (left_variable, right_variable) =
                (left.expr.as_variable()?, right.expr.as_variable()?);
            // `left - right = difference`, or the other way round.
            let difference = difference.checked_mul(left.coefficient)?;
            let (kept, dropped, offset) = if left_variable < right_variable {
                (left_variable, right_variable, difference.checked_neg()?)
            } else {
                (right_variable, left_variable, difference)
            };
            let replacement = IndexExpr::from(kept).offset(offset).ok()?;
            (dropped.kind != VariableKind::Dimension).then_some((dropped, replacement))
        });
        let Some((dropped, replacement)) = equal else {
            return self;
        };
        let bounds = self.declaration(dropped).map(|it| it.bounds);
        let replaced = self.replaced(&HashMap::from([(dropped, replacement.clone())]));
        match (replaced, bounds) {
            (Ok(map), Some(bounds)) => map.constrained(replacement, bounds).unwrap_or(self),
            _ => self,
        }
    }

    /// Replaces variables in the results and constraints. They stay declared.
    fn replaced(&self, by: &HashMap<Variable, IndexExpr>) -> Result<Self, IndexingError> {
        let replacement = |variable| {
            by.get(&variable)
                .cloned()
                .unwrap_or_else(|| variable.into())
        };
        let mut map = Self {
            constraints: Vec::new(),
            ..self.clone()
        };
        for it in &self.constraints {
            map.add_constraint(it.expr.substitute(&replacement)?, it.bounds);
        }
        let results = self.results.iter().map(|it| it.substitute(&replacement));
        map.with_results(results.collect::<Result<_, _>>()?)
    }

    /// Takes variables that do not occur off the lists.
    fn without(self, unused: &[Variable]) -> Self {
        let mut left = HashMap::new();
        let mut map = self.clone();
        for kind in VariableKind::ALL {
            let mut declarations = Vec::new();
            for (position, declaration) in self.declarations(kind).iter().enumerate() {
                let variable = Variable::new(kind, position);
                if !unused.contains(&variable) {
                    let moved = Variable::new(kind, declarations.len());
                    left.insert(variable, IndexExpr::from(moved));
                    declarations.push(declaration.clone());
                }
            }
            *map.declarations_mut(kind) = declarations;
        }
        let moved = |variable: Variable| left.get(&variable).cloned().unwrap_or(0.into());
        let results: Result<Vec<_>, _> = self
            .results
            .iter()
            .map(|it| it.substitute(&moved))
            .collect();
        let constraints: Result<Vec<_>, _> = self
            .constraints
            .iter()
            .map(|it| {
                let expr = it.expr.substitute(&moved)?;
                Ok::<_, IndexingError>(super::Constraint { expr, ..*it })
            })
            .collect();
        match (results, constraints) {
            (Ok(results), Ok(constraints)) => Self {
                results,
                constraints,
                ..map
            },
            _ => self,
        }
    }

    /// Whether both are the same map when their variables are given the same names and both are
    /// simplified.
    pub fn is_equal_up_to_names(&self, other: &Self) -> bool {
        let (left, right) = (self.simplified(), other.simplified());
        if left.known_empty || right.known_empty {
            return left.known_empty == right.known_empty;
        }
        left.unnamed() == right.unnamed()
    }

    /// The map with the names that the kinds and positions of its variables give them.
    pub fn unnamed(mut self) -> Self {
        for kind in VariableKind::ALL {
            for declaration in self.declarations_mut(kind) {
                declaration.name = None;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use crate::indexing::test_maps::map;

    #[track_caller]
    fn leaves(text: &str, expected: &str) {
        assert_eq!(map(text).without_unused().to_string(), expected);
    }

    #[test]
    fn variables_that_do_nothing_go() {
        leaves(
            "(d0, d1, d2)[s0, s1]{rt0, rt1} -> (d1 + rt1, s1), domain: d0 in [0, 9], d1 in [0, 5], d2 in [3, 3], s0 in [0, 9], s1 in [0, 2], rt0 in [0, 1], rt1 in [0, 7]",
            "(d0)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 5], s0 in [0, 2], rt0 in [0, 7]",
        );
        leaves(
            "(d0, d1) -> (d0 + d1), domain: d0 in [0, 9], d1 in [3, 3]",
            "(d0) -> (d0 + 3), domain: d0 in [0, 9]",
        );
        leaves(
            "(i, j) -> (j), domain: i in [0, 9], j in [0, 3], i mod 2 in [0, 0]",
            "(i, j) -> (j), domain: i in [0, 8], j in [0, 3], i mod 2 in [0, 0]",
        );
    }

    #[test]
    fn equal_symbols_become_one() {
        leaves(
            "(d0)[s0, s1] -> (d0 + s0 + s1), domain: d0 in [0, 9], s0 in [0, 5], s1 in [2, 9], s0 - s1 in [0, 0]",
            "(d0)[s0] -> (d0 + s0 * 2), domain: d0 in [0, 9], s0 in [2, 5]",
        );
        leaves(
            "(d0)[s0] -> (s0 floordiv 2), domain: d0 in [0, 9], s0 in [0, 5], s0 - d0 in [1, 1]",
            "(d0) -> (d0 ceildiv 2), domain: d0 in [0, 4]",
        );
        leaves(
            "(d0) -> (d0), domain: d0 in [0, 9], d0 mod 4 in [7, 7]",
            "known empty",
        );
    }

    #[test]
    fn names_do_not_tell_maps_apart() {
        let named =
            map("(i, j){k} -> (k + j * 4 + i), domain: i in [0, 9], j in [0, 3], k in [0, 1]");
        let default = map(
            "(d0, d1){rt0} -> (d0 + 4 * d1 + rt0), domain: d0 in [0, 9], d1 in [0, 3], rt0 in [0, 1]",
        );
        assert!(named.is_equal_up_to_names(&default));
        let swapped = map(
            "(d0, d1){rt0} -> (d1 + 4 * d0 + rt0), domain: d0 in [0, 9], d1 in [0, 3], rt0 in [0, 1]",
        );
        assert!(!named.is_equal_up_to_names(&swapped));
    }
}
