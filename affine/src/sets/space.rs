/// What the columns of a set stand for: parameters first, then dimensions. A conjunction may have
/// further columns behind these, its existentials.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Space {
    parameters: Vec<String>,
    dimensions: Vec<String>,
    /// How many of the dimensions are inputs, if the set is a relation.
    inputs: Option<usize>,
}

impl Space {
    /// The space of sets of points with these names.
    pub fn new(parameters: Vec<String>, dimensions: Vec<String>) -> Self {
        Self {
            parameters,
            dimensions,
            inputs: None,
        }
    }

    /// The space of relations between points: its dimensions are those of the first, then those of
    /// the second.
    pub fn relation(parameters: Vec<String>, inputs: Vec<String>, outputs: Vec<String>) -> Self {
        let count = inputs.len();
        Self {
            parameters,
            dimensions: [inputs, outputs].concat(),
            inputs: Some(count),
        }
    }

    /// The names of the parameters.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// The names of the dimensions.
    pub fn dimensions(&self) -> &[String] {
        &self.dimensions
    }

    /// How many of the dimensions are inputs, if the set is a relation.
    pub fn inputs(&self) -> Option<usize> {
        self.inputs
    }

    /// The number of parameters and dimensions, which is the first column of an existential.
    pub fn width(&self) -> usize {
        self.parameters.len() + self.dimensions.len()
    }

    /// The column of a parameter.
    pub fn parameter(&self, position: usize) -> usize {
        position
    }

    /// The column of a dimension.
    pub fn dimension(&self, position: usize) -> usize {
        self.parameters.len() + position
    }

    /// The name of a column that is no existential.
    pub fn name(&self, column: usize) -> Option<&str> {
        let mut names = self.parameters.iter().chain(&self.dimensions);
        names.nth(column).map(String::as_str)
    }

    /// Whether two sets can be taken together: they have as many parameters and dimensions. Names
    /// may differ.
    pub fn is_compatible(&self, other: &Self) -> bool {
        self.parameters.len() == other.parameters.len()
            && self.dimensions.len() == other.dimensions.len()
            && self.inputs == other.inputs
    }

    /// The space without the dimensions `removed`, which come one after the other.
    pub(super) fn without(&self, removed: std::ops::Range<usize>) -> Self {
        let all = self.dimensions.iter().enumerate();
        let kept = all.filter(|(position, _)| !removed.contains(position));
        let gone_inputs = |inputs: usize| (0..inputs).filter(|it| removed.contains(it)).count();
        Self {
            parameters: self.parameters.clone(),
            dimensions: kept.map(|(_, name)| name.clone()).collect(),
            inputs: self.inputs.map(|inputs| inputs - gone_inputs(inputs)),
        }
    }
}
