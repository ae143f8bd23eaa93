use super::skip::Skips;
use super::{Argument, BadArguments, Fault, ForallOrder, Machine, Stop};
use crate::visit::allocated_arrays;
use crate::{
    Array, ArrayId, Kernel, Math, Overflow, Parameter, RecordId, ScalarId, Type, Value, Variable,
};
use la_arena::ArenaMap;

/// The arrays of a run: copies, so that a stop leaves the arguments as they were.
#[derive(Default)]
pub(super) struct Memory {
    arrays: ArenaMap<ArrayId, Storage>,
}

struct Storage {
    extents: Vec<i64>,
    cells: Vec<Value>,
}

impl Memory {
    pub(super) fn insert(&mut self, array: ArrayId, extents: Vec<i64>, cells: Vec<Value>) {
        self.arrays.insert(array, Storage { extents, cells });
    }

    pub(super) fn take(&mut self, array: ArrayId) -> Vec<Value> {
        self.arrays
            .remove(array)
            .map(|it| it.cells)
            .unwrap_or_default()
    }

    pub(super) fn cells(&self, array: ArrayId) -> &[Value] {
        self.arrays.get(array).map_or(&[], |it| &it.cells)
    }

    pub(super) fn cells_mut(&mut self, array: ArrayId) -> &mut [Value] {
        self.arrays
            .get_mut(array)
            .map_or(&mut [], |it| &mut it.cells)
    }

    pub(super) fn cell_mut(&mut self, array: ArrayId, position: usize) -> Option<&mut Value> {
        self.cells_mut(array).get_mut(position)
    }

    pub(super) fn extents(&self, array: ArrayId) -> &[i64] {
        self.arrays.get(array).map_or(&[], |it| &it.extents)
    }
}

impl<'k> Machine<'k> {
    pub(super) fn new(
        kernel: &'k Kernel,
        arguments: &[Argument],
        fuel: u64,
        order: ForallOrder,
        math: &'k dyn Math,
    ) -> Result<Self, Stop> {
        let passed: Vec<_> = kernel.passed_params().collect();
        if passed.len() != arguments.len() {
            return Err(Stop::Arguments(BadArguments::Count {
                expected: passed.len(),
                found: arguments.len(),
            }));
        }
        let mut machine = Self {
            kernel,
            scalars: ArenaMap::default(),
            memory: Memory::default(),
            iters: ArenaMap::default(),
            locals: ArenaMap::default(),
            running: Vec::new(),
            whiles: Vec::new(),
            fuel,
            order,
            math,
            watch: None,
            skips: Skips::default(),
            disjoint: Vec::new(),
        };
        // Extents are over scalars that may come later.
        for (param, argument) in passed.iter().zip(arguments) {
            if let Parameter::Scalar(scalar) = *param {
                machine.bind_scalar(scalar, argument)?;
            }
        }
        machine.infer_sizes(&passed, arguments);
        machine.check_assumptions()?;
        for (param, argument) in passed.iter().zip(arguments) {
            match (*param, argument) {
                (Parameter::Scalar(_), _) => {}
                (Parameter::Array(array), Argument::Array(cells)) => {
                    machine.bind_array(array, cells)?;
                }
                (Parameter::Array(array), _) => {
                    let declared = &kernel.arrays[array];
                    return Err(wrong_type(&declared.name, declared.element));
                }
                (Parameter::Record(record), _) => machine.bind_record(record, argument)?,
            }
        }
        for array in allocated_arrays(&kernel.body) {
            machine.shape(&kernel.arrays[array])?;
        }
        Ok(machine)
    }

    fn bind_scalar(&mut self, scalar: ScalarId, argument: &Argument) -> Result<(), Stop> {
        let declared = &self.kernel.scalars[scalar];
        match argument {
            Argument::Scalar(value) if value.ty() == declared.ty => {
                self.scalars.insert(scalar, *value);
                Ok(())
            }
            _ => Err(wrong_type(&declared.name, declared.ty)),
        }
    }

    fn infer_sizes(&mut self, passed: &[Parameter], arguments: &[Argument]) {
        let elements = |array: ArrayId| {
            let mut pairs = passed.iter().zip(arguments);
            let cells = pairs.find_map(|(param, argument)| match (param, argument) {
                (Parameter::Array(it), Argument::Array(cells)) if *it == array => Some(cells),
                (Parameter::Record(record), Argument::Record(fields)) => {
                    let mut own = self.kernel.records[*record].fields.iter();
                    fields.get(own.position(|it| *it == array)?)
                }
                _ => None,
            });
            cells.map_or(0, |cells| cells.len() as u64)
        };
        let value = |scalar| self.variable(Variable::Param(scalar));
        for (scalar, size) in self.kernel.inferred_sizes(&elements, &value) {
            self.scalars.insert(scalar, Value::i64(size));
        }
    }

    fn check_assumptions(&self) -> Result<(), Stop> {
        let value = |scalar| self.variable(Variable::Param(scalar));
        match self.kernel.broken_assumption(&value) {
            None => Ok(()),
            Some(condition) => Err(Stop::Fault(Fault::assumption(self.kernel, condition))),
        }
    }

    fn bind_record(&mut self, record: RecordId, argument: &Argument) -> Result<(), Stop> {
        let declared = &self.kernel.records[record];
        match argument {
            Argument::Record(fields) if fields.len() == declared.fields.len() => {
                let mut pairs = declared.fields.iter().zip(fields);
                pairs.try_for_each(|(field, cells)| self.bind_array(*field, cells))
            }
            _ => Err(Stop::Arguments(BadArguments::Record {
                parameter: declared.name.clone(),
                fields: declared.fields.len(),
            })),
        }
    }

    /// Writes what the parameter holds to the argument it was given.
    pub(super) fn give_back(&self, param: &Parameter, argument: &mut Argument) {
        match (*param, argument) {
            (Parameter::Array(array), Argument::Array(cells)) => {
                cells.clone_from_slice(self.memory.cells(array));
            }
            (Parameter::Record(record), Argument::Record(fields)) => {
                let arrays = &self.kernel.records[record].fields;
                for (array, cells) in arrays.iter().zip(fields) {
                    cells.clone_from_slice(self.memory.cells(*array));
                }
            }
            _ => {}
        }
    }

    fn bind_array(&mut self, array: ArrayId, cells: &[Value]) -> Result<(), Stop> {
        let declared = &self.kernel.arrays[array];
        if cells.iter().any(|cell| cell.ty() != declared.element) {
            return Err(wrong_type(&declared.name, declared.element));
        }
        let (extents, expected) = self.shape(declared)?;
        let found = i64::try_from(cells.len());
        if !found.is_ok_and(|it| declared.takes(it, expected)) {
            return Err(Stop::Arguments(BadArguments::Length {
                array: declared.name.clone(),
                expected,
                found: cells.len(),
            }));
        }
        self.memory.insert(array, extents, cells.to_vec());
        Ok(())
    }

    /// Makes `array` anew, with `value` in all its elements.
    pub(super) fn fill(&mut self, array: ArrayId, value: Value) -> Result<(), Stop> {
        let (extents, elements) = self.shape(&self.kernel.arrays[array])?;
        let elements = usize::try_from(elements).map_err(|_| Stop::OutOfFuel)?;
        self.burn(elements as u64)?;
        self.memory.insert(array, extents, vec![value; elements]);
        Ok(())
    }

    /// The extents of an array and the number of its elements.
    pub(super) fn shape(&self, array: &Array) -> Result<(Vec<i64>, i64), Stop> {
        let mut extents = Vec::with_capacity(array.extents.len());
        let mut elements = 1_i64;
        for extent in &array.extents {
            let extent = self.affine(extent)?;
            if extent < 0 {
                return Err(Stop::Arguments(BadArguments::Extent {
                    array: array.name.clone(),
                    extent,
                }));
            }
            elements = elements.checked_mul(extent).ok_or(Overflow)?;
            extents.push(extent);
        }
        Ok((extents, elements))
    }
}

fn wrong_type(parameter: &str, expected: Type) -> Stop {
    Stop::Arguments(BadArguments::Type {
        parameter: parameter.to_owned(),
        expected,
    })
}
