use super::{Declaration, IndexExpr, IndexingError, IndexingMap, Variable, VariableKind};
use std::collections::HashSet;

impl IndexingMap {
    /// The map that applies `self` and then `second` to the results. Its range variables are those
    /// of `second` followed by those of `self`, and so are its runtime variables. Its domain is
    /// where `self` is defined and `second` is defined on the results. It is not simplified.
    ///
    /// # Errors
    /// `second` has another number of dimensions than `self` has results; a constant leaves 64
    /// bits, a divisor becomes zero where the composition may be defined; the composition is too
    /// deep or too large.
    pub fn then(&self, second: &Self) -> Result<Self, IndexingError> {
        if self.known_empty || second.known_empty {
            return Ok(Self::known_empty());
        }
        if second.dimensions.len() != self.results.len() {
            return Err(IndexingError::WrongCount {
                expected: second.dimensions.len(),
                found: self.results.len(),
            });
        }
        self.check_growth(second)?;
        let ours = |variable: Variable| {
            let before = match variable.kind {
                VariableKind::Dimension => 0,
                VariableKind::Range | VariableKind::Runtime => {
                    second.declarations(variable.kind).len()
                }
            };
            IndexExpr::from(Variable::new(variable.kind, variable.position + before))
        };
        let through = |expr: &IndexExpr| expr.substitute(&ours);
        let results = self.results.iter().map(through);
        let results: Vec<_> = results.collect::<Result<_, _>>()?;
        let theirs = |variable: Variable| match variable.kind {
            VariableKind::Dimension => results[variable.position].clone(),
            VariableKind::Range | VariableKind::Runtime => variable.into(),
        };
        let mut names = Names::of(&self.dimensions);
        let mut composed = Self::new(
            self.dimensions.clone(),
            names.joined(&second.ranges, &self.ranges),
            names.joined(&second.runtimes, &self.runtimes),
            Vec::new(),
            Vec::new(),
        )?;
        for it in &self.constraints {
            composed.add_constraint(through(&it.expr)?, it.bounds);
        }
        for (result, dimension) in results.iter().zip(&second.dimensions) {
            composed.add_constraint(result.clone(), dimension.bounds);
        }
        let mut failed = None;
        for it in &second.constraints {
            match it.expr.substitute(&theirs) {
                Ok(expr) => composed.add_constraint(expr, it.bounds),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        let results = second.results.iter().map(|it| it.substitute(&theirs));
        match (failed, results.collect::<Result<_, _>>()) {
            (None, Ok(results)) => composed.with_results(results),
            // Where nothing is defined, nothing is divided by zero.
            (Some(IndexingError::DivisionByZero), _)
            | (None, Err(IndexingError::DivisionByZero))
                if composed.simplified().is_known_empty() =>
            {
                Ok(Self::known_empty())
            }
            (Some(error), _) | (None, Err(error)) => Err(error),
        }
    }

    /// Refuses a composition that would be too large before anything of it is built.
    fn check_growth(&self, second: &Self) -> Result<(), IndexingError> {
        let sizes: Vec<_> = self.results.iter().map(|it| it.size().nodes).collect();
        let mut nodes = self.size().nodes + sizes.iter().sum::<usize>();
        for expr in second.expressions() {
            nodes = nodes.saturating_add(expr.size().nodes);
            expr.for_each_variable(&mut |variable| {
                if variable.kind == VariableKind::Dimension {
                    let size = sizes.get(variable.position).copied();
                    nodes = nodes.saturating_add(size.unwrap_or(0));
                }
            });
        }
        if nodes > super::MAX_SIZE {
            Err(IndexingError::TooLarge)
        } else {
            Ok(())
        }
    }
}

/// The names that are taken: a name that two variables bring is kept for the first of them.
struct Names(HashSet<String>);

impl Names {
    fn of(declarations: &[Declaration]) -> Self {
        let names = declarations.iter().filter_map(|it| it.name.clone());
        Self(names.collect())
    }

    fn joined(&mut self, first: &[Declaration], second: &[Declaration]) -> Vec<Declaration> {
        let all = first.iter().chain(second).cloned();
        let unique = all.map(|mut declaration| {
            let name = declaration.name.take();
            declaration.name = name.filter(|it| self.0.insert(it.clone()));
            declaration
        });
        unique.collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::indexing::test_maps::map;
    use crate::indexing::{IndexExpr, IndexingError, IndexingMap};

    #[test]
    fn the_variables_of_the_second_map_come_first() {
        let first = map("(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 7]");
        let second = map(
            "(d0, d1)[s0, s1] -> (d1, d0, s1, s0), domain: d0 in [0, 4], d1 in [0, 5], s0 in [0, 6], s1 in [0, 1]",
        );
        assert_eq!(
            first.then(&second).map(|it| it.to_string()),
            Ok("(d0)[s0, s1, s2] -> (s2, d0, s1, s0), domain: d0 in [0, 4], s0 in [0, 6], s1 in [0, 1], s2 in [0, 5]".to_owned())
        );
    }

    #[test]
    fn composition_is_application_one_after_the_other() {
        let first = map(
            "(i){key} -> (i * 2 + key, i mod 3), domain: i in [0, 6], key in [0, 3], i + key in [1, 7]",
        );
        let second = map(
            "(i, j)[key] -> (i floordiv (key + 1), j - i), domain: i in [2, 9], j in [0, 1], key in [0, 2], (i + j) mod 2 in [0, 0]",
        );
        let composed = first.then(&second).expect("a map");
        assert_eq!(composed.variable_names(), ["i", "key", "rt0"]);
        for i in -1..8 {
            for s in -1..4 {
                for rt in -1..5 {
                    let there = first.evaluate(&[i, rt]).expect("a value");
                    let there =
                        there.and_then(|it| second.evaluate(&[it[0], it[1], s]).expect("a value"));
                    assert_eq!(composed.evaluate(&[i, s, rt]), Ok(there));
                }
            }
        }
    }

    #[test]
    fn what_is_divided_by_zero_nowhere_is_empty() {
        let zero = map("(d0) -> (0), domain: d0 in [0, 3]");
        for inverse in [
            "(d0) -> (5 floordiv d0), domain: d0 in [1, 4]",
            "(d0) -> (5 mod d0), domain: d0 in [-4, 4], d0 * d0 in [1, 16]",
            "(d0) -> (d0), domain: d0 in [1, 4], 7 floordiv d0 in [0, 3]",
        ] {
            let composed = zero.then(&map(inverse));
            assert_eq!(composed, Ok(IndexingMap::known_empty()), "{inverse}");
        }
        let meets = map("(d0) -> (5 floordiv d0), domain: d0 in [0, 4]");
        assert_eq!(zero.then(&meets), Err(IndexingError::DivisionByZero));
    }

    #[test]
    fn what_cannot_be_composed_is_refused() {
        let pair = map("(d0) -> (d0, d0), domain: d0 in [0, 9]");
        let wrong = IndexingError::WrongCount {
            expected: 1,
            found: 2,
        };
        assert_eq!(pair.then(&pair), Err(wrong));
        let empty = IndexingMap::known_empty();
        assert_eq!(pair.then(&empty), Ok(empty.clone()));
        let mut doubled = map("(d0) -> (d0 + d0), domain: d0 in [0, 9]");
        let error = loop {
            match doubled.then(&doubled) {
                Ok(next) => doubled = next,
                Err(error) => break error,
            }
        };
        assert_eq!(error, IndexingError::TooLarge);
        let step = map("(d0) -> ((d0 + 1) mod 7), domain: d0 in [0, 9]");
        let mut nested = step.clone();
        let error = loop {
            match nested.then(&step) {
                Ok(next) => nested = next,
                Err(error) => break error,
            }
        };
        assert_eq!(error, IndexingError::TooDeep);
        let largest = IndexExpr::dimension(0)
            .scaled(i64::MAX)
            .expect("an expression");
        let largest = IndexingMap::from_sizes(vec![largest], &[10], &[]).expect("a map");
        let twice = map("(d0) -> (d0 * 2), domain: d0 in [0, 9]");
        assert_eq!(largest.then(&twice), Err(IndexingError::Overflow));
        assert_eq!(largest.evaluate(&[2]), Err(IndexingError::Overflow));
    }
}
