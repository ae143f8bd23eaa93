use crate::sets::{Conjunction, Row, Set, Space};
use std::fmt::{self, Display, Formatter};

impl Display for Set {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = names(self.space());
        let count = self.space().parameters().len();
        let (parameters, dimensions) = names.split_at_checked(count).unwrap_or_default();
        if !parameters.is_empty() {
            write!(f, "[{}] -> ", parameters.join(", "))?;
        }
        let tuple = match self
            .space()
            .inputs()
            .and_then(|it| dimensions.split_at_checked(it))
        {
            Some((inputs, outputs)) => {
                format!("[{}] -> [{}]", inputs.join(", "), outputs.join(", "))
            }
            None => format!("[{}]", dimensions.join(", ")),
        };
        if self.conjunctions().is_empty() {
            return write!(f, "{{ {tuple} : false }}");
        }
        let parts = self.conjunctions().iter().map(|it| {
            let formula = formula(it, &names);
            if formula.is_empty() {
                tuple.clone()
            } else {
                format!("{tuple} : {formula}")
            }
        });
        write!(f, "{{ {} }}", parts.collect::<Vec<_>>().join("; "))
    }
}

/// The names of the columns, changed where another one has them.
fn names(space: &Space) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in space.parameters().iter().chain(space.dimensions()) {
        let mut name = name.clone();
        while names.contains(&name) {
            name.push('\'');
        }
        names.push(name);
    }
    names
}

fn formula(conjunction: &Conjunction, names: &[String]) -> String {
    let width = conjunction.width();
    let mut names = names.to_vec();
    for number in 0..conjunction.existentials() {
        let mut name = format!("e{number}");
        while names.contains(&name) {
            name.push('\'');
        }
        names.push(name);
    }
    let (mut outside, mut inside) = (Vec::new(), Vec::new());
    let mut bound = vec![false; names.len()];
    for row in conjunction.equalities() {
        match multiple(conjunction, row) {
            Some((rest, divisor)) => {
                outside.push(format!("{} = 0", remainder(&rest, divisor, &names)))
            }
            None => place(
                row,
                width,
                &mut bound,
                &mut outside,
                &mut inside,
                equality(row, &names),
            ),
        }
    }
    for row in conjunction.inequalities() {
        let text = inequality(row, &names);
        place(row, width, &mut bound, &mut outside, &mut inside, text);
    }
    if !inside.is_empty() {
        let bound = names.iter().zip(bound).skip(width);
        let bound: Vec<&str> = bound
            .filter(|(_, is_bound)| *is_bound)
            .map(|(name, _)| name.as_str())
            .collect();
        outside.push(format!(
            "exists {} : {}",
            bound.join(", "),
            inside.join(" and ")
        ));
    }
    outside.join(" and ")
}

fn place(
    row: &Row,
    width: usize,
    bound: &mut [bool],
    outside: &mut Vec<String>,
    inside: &mut Vec<String>,
    text: String,
) {
    let mut is_inside = false;
    for (column, _) in row.terms().filter(|(column, _)| *column >= width) {
        is_inside = true;
        if let Some(slot) = bound.get_mut(column) {
            *slot = true;
        }
    }
    if is_inside {
        inside.push(text);
    } else {
        outside.push(text);
    }
}

/// The rest of an equality and the divisor, when it says no more than that the rest is a multiple.
fn multiple(conjunction: &Conjunction, row: &Row) -> Option<(Row, i128)> {
    let mut existentials = row.terms().filter(|(it, _)| *it >= conjunction.width());
    let (column, divisor) = existentials.next()?;
    let is_alone = existentials.next().is_none();
    let rows = conjunction
        .equalities()
        .iter()
        .chain(conjunction.inequalities());
    let uses = rows.filter(|it| it.coefficient(column) != 0).count();
    if !is_alone || uses != 1 || divisor == i128::MIN {
        return None;
    }
    let mut rest = row.clone();
    rest.set(column, 0);
    if rest.sign() < 0 {
        rest = rest.negated().ok()?;
    }
    Some((rest, divisor.abs()))
}

fn remainder(rest: &Row, divisor: i128, names: &[String]) -> String {
    let is_simple = rest.constant() == 0 && rest.terms().count() == 1;
    let text = sum(rest.terms(), rest.constant(), names);
    match rest.terms().next() {
        Some((_, 1)) if is_simple => format!("{text} mod {divisor}"),
        _ => format!("({text}) mod {divisor}"),
    }
}

/// `a = b`, each side a sum of what is positive.
fn equality(row: &Row, names: &[String]) -> String {
    let (left, right) = sides(row, names, row.constant());
    format!("{left} = {right}")
}

fn inequality(row: &Row, names: &[String]) -> String {
    let has_negative = row.terms().any(|(_, coefficient)| coefficient < 0);
    if row.constant() == -1 && has_negative {
        let (greater, less) = sides(row, names, 0);
        return format!("{less} < {greater}");
    }
    let (greater, less) = sides(row, names, row.constant());
    let has_positive = row.terms().any(|(_, coefficient)| coefficient > 0);
    if has_positive && !has_negative {
        format!("{greater} >= {less}")
    } else {
        format!("{less} <= {greater}")
    }
}

/// What is added, and what is taken away, in `row` with another constant.
fn sides(row: &Row, names: &[String], constant: i128) -> (String, String) {
    let positive = row.terms().filter(|(_, it)| *it > 0);
    let negative = row.terms().filter(|(_, it)| *it < 0);
    let negative = negative.map(|(column, it)| (column, it.saturating_neg()));
    let (added, taken) = (constant.max(0), constant.saturating_neg().max(0));
    // The constant of `x - 3 = 0` belongs to the other side, and so does that of `-x + 3`.
    (sum(positive, added, names), sum(negative, taken, names))
}

fn sum(terms: impl Iterator<Item = (usize, i128)>, constant: i128, names: &[String]) -> String {
    let mut text = String::new();
    let named = terms.map(|(column, coefficient)| {
        let name = names.get(column).map_or("?", String::as_str);
        let size = coefficient.unsigned_abs();
        let term = if size == 1 {
            name.to_owned()
        } else {
            format!("{size} {name}")
        };
        (coefficient < 0, term)
    });
    let constant = (constant != 0).then(|| (constant < 0, constant.unsigned_abs().to_string()));
    for (is_negative, term) in named.chain(constant) {
        match (text.is_empty(), is_negative) {
            (true, false) => {}
            (true, true) => text.push('-'),
            (false, false) => text.push_str(" + "),
            (false, true) => text.push_str(" - "),
        }
        text.push_str(&term);
    }
    if text.is_empty() {
        text.push('0');
    }
    text
}
