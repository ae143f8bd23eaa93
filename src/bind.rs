use crate::argument::{ArgumentError, name_of};
use crate::program::{Kernel, Ran};
use crate::settings::settings_methods;
use crate::sizes::{Shape, Sizes, infer, representative};
use crate::{Error, Report};
use strew_affine::{ArrayId, Parameter, ScalarId, Type, Value};
use strew_jit::{
    Argument, ArgumentKind, ArrayElement, ArrayMut, ArrayRef, Element, ElementType, Records,
};

/// A call whose arguments are given by name. Sizes that are left out follow from the arrays.
///
/// Whatever is wrong with the arguments is said by [`run`](Self::run), all of it at once.
#[derive(Debug)]
pub struct Bind<'a> {
    kernel: Kernel,
    given: Vec<(String, Given<'a>)>,
    shapes: Vec<(String, Vec<u64>)>,
}

#[derive(Debug)]
struct Given<'a> {
    argument: Argument<'a>,
    kind: ArgumentKind,
    /// Of an array; 0 for a scalar.
    elements: u64,
}

/// What the arguments say about sizes.
struct Told {
    scalars: Vec<(ScalarId, Value)>,
    shapes: Vec<(ArrayId, Shape)>,
}

impl Told {
    fn infer(&self, kernel: &strew_affine::Kernel) -> Result<Sizes, Vec<ArgumentError>> {
        infer(kernel, &self.scalars, &self.shapes)
    }
}

impl<'a> Bind<'a> {
    pub(crate) fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            given: Vec::new(),
            shapes: Vec::new(),
        }
    }

    /// Gives the scalar parameter `name` its value, which must have the parameter's type.
    pub fn scalar<T: Element>(self, name: &str, value: T) -> Self {
        self.value(name, value.to_value())
    }

    /// Gives the scalar parameter `name` a value whose type is known at run time only.
    pub fn value(self, name: &str, value: Value) -> Self {
        let kind = ArgumentKind::Scalar(value.ty());
        self.give(name, Argument::Scalar(value), kind, 0)
    }

    /// Gives an array that the kernel does not write, row by row.
    pub fn array<T: ArrayElement>(self, name: &str, elements: &'a [T]) -> Self {
        let argument = Argument::Read(ArrayRef::new(elements));
        self.give(
            name,
            argument,
            ArgumentKind::Read(T::layout().element_type()),
            elements.len(),
        )
    }

    /// Gives an array that the kernel writes, row by row.
    pub fn array_mut<T: ArrayElement>(self, name: &str, elements: &'a mut [T]) -> Self {
        let length = elements.len();
        let argument = Argument::Write(ArrayMut::new(elements));
        self.give(
            name,
            argument,
            ArgumentKind::Write(T::layout().element_type()),
            length,
        )
    }

    /// Gives records that the kernel does not write, whose layout is known at run time only.
    pub fn records(self, name: &str, records: &'a Records) -> Self {
        let kind = ArgumentKind::Read(ElementType::Record(records.layout().clone()));
        let argument = Argument::Read(records.as_array());
        self.give(name, argument, kind, records.len())
    }

    /// Gives records that the kernel writes, whose layout is known at run time only.
    pub fn records_mut(self, name: &str, records: &'a mut Records) -> Self {
        let kind = ArgumentKind::Write(ElementType::Record(records.layout().clone()));
        let length = records.len();
        let argument = Argument::Write(records.as_array_mut());
        self.give(name, argument, kind, length)
    }

    /// Gives the dimensions of the array `name`, outermost first. Of use where its length alone does not tell the sizes.
    pub fn shape(mut self, name: &str, dimensions: &[u64]) -> Self {
        self.shapes.push((name.to_owned(), dimensions.to_vec()));
        self
    }

    fn give(
        mut self,
        name: &str,
        argument: Argument<'a>,
        kind: ArgumentKind,
        elements: usize,
    ) -> Self {
        let elements = elements as u64;
        let given = Given {
            argument,
            kind,
            elements,
        };
        self.given.push((name.to_owned(), given));
        self
    }

    /// The sizes that follow from what was given so far; arrays may still be missing.
    ///
    /// # Errors
    /// Arguments that do not fit the parameters or each other, and sizes that nothing tells.
    pub fn sizes(&self) -> Result<Sizes, Error> {
        self.check_names()
            .and_then(|()| self.told()?.infer(self.kernel.ir()))
            .map_err(|errors| self.kernel.argument_error(errors))
    }

    /// Runs the kernel. The value of one that returns something is in the report of [`run_with_report`](Self::run_with_report).
    ///
    /// # Errors
    /// Missing, unknown, mistyped and misshapen arguments, a fault while running, a call that was stopped or refused. All arrays
    /// are then as they were before.
    pub fn run(self) -> Result<(), Error> {
        self.execute().map(drop)
    }

    /// Runs the kernel and tells how.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn run_with_report(self) -> Result<Report, Error> {
        let kernel = self.kernel.clone();
        Ok(kernel.report(self.execute()?))
    }

    fn execute(self) -> Result<Ran, Error> {
        let checked = self.check_names().and_then(|()| self.check_presence());
        let told = checked.and_then(|()| self.told());
        let told = told.map_err(|errors| self.kernel.argument_error(errors))?;
        let infer = |kernel: &Kernel| {
            let sizes = told.infer(kernel.ir());
            sizes.map_err(|errors| kernel.argument_error(errors))
        };
        if !self.gives_all_sizes() {
            let sizes = infer(&self.kernel)?;
            let (kernel, mut arguments) = self.into_arguments(&sizes);
            return kernel.run(&mut arguments);
        }
        // The call checks them; only what is wrong with them is said better here.
        let (kernel, mut arguments) = self.into_arguments(&Sizes::default());
        match kernel.run(&mut arguments) {
            Err(error @ Error::Arguments(_)) => Err(infer(&kernel).err().unwrap_or(error)),
            other => other,
        }
    }

    /// Whether there is nothing to infer, and nothing about shapes to check.
    fn gives_all_sizes(&self) -> bool {
        let is_scalar = |kind: &ArgumentKind| matches!(kind, ArgumentKind::Scalar(_));
        let wanted = self.kernel.passed().filter(|(_, kind)| is_scalar(kind));
        let given = self.given.iter().filter(|(_, it)| is_scalar(&it.kind));
        self.shapes.is_empty() && given.count() == wanted.count()
    }

    /// Every name given is that of a parameter, is given once, and has its kind.
    fn check_names(&self) -> Result<(), Vec<ArgumentError>> {
        let kind_of = |name: &str| {
            let mut passed = self.kernel.passed();
            passed.find(|(it, _)| *it == name).map(|(_, kind)| kind)
        };
        let mut errors = Vec::new();
        for (position, (name, given)) in self.given.iter().enumerate() {
            let earlier = self.given.iter().take(position);
            if earlier.into_iter().any(|(it, _)| it == name) {
                errors.push(ArgumentError::Repeated {
                    parameter: name.clone(),
                });
            }
            match kind_of(name) {
                None => errors.push(self.unknown(name)),
                Some(expected) if *expected != given.kind => errors.push(ArgumentError::Type {
                    parameter: name.clone(),
                    expected: expected.clone(),
                    found: given.kind.clone(),
                }),
                Some(_) => {}
            }
        }
        let strangers = self.shapes.iter().filter(|(name, _)| {
            !matches!(
                kind_of(name),
                Some(ArgumentKind::Read(_) | ArgumentKind::Write(_))
            )
        });
        errors.extend(strangers.map(|(name, _)| self.unknown(name)));
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }

    fn unknown(&self, name: &str) -> ArgumentError {
        ArgumentError::Unknown {
            name: name.to_owned(),
            parameters: self.kernel.parameters(),
        }
    }

    /// Every array is there; scalars may follow from the arrays.
    fn check_presence(&self) -> Result<(), Vec<ArgumentError>> {
        let missing = self.kernel.passed().filter(|(name, kind)| {
            !matches!(kind, ArgumentKind::Scalar(_)) && self.given.iter().all(|(it, _)| it != name)
        });
        let errors: Vec<_> = missing
            .map(|(parameter, expected)| ArgumentError::Missing {
                parameter: parameter.to_owned(),
                expected: expected.clone(),
            })
            .collect();
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }

    fn told(&self) -> Result<Told, Vec<ArgumentError>> {
        let mut scalars: Vec<(ScalarId, Value)> = Vec::new();
        let mut shapes: Vec<(ArrayId, Shape)> = Vec::new();
        let kernel = self.kernel.ir();
        for parameter in &kernel.params {
            let name = name_of(kernel, *parameter);
            let given = self.given.iter().find(|(it, _)| it == name);
            match (*parameter, given.map(|(_, given)| given)) {
                (
                    Parameter::Scalar(scalar),
                    Some(Given {
                        argument: Argument::Scalar(value),
                        ..
                    }),
                ) => {
                    scalars.push((scalar, *value));
                }
                (Parameter::Array(_) | Parameter::Record(_), given) => {
                    let length = given.map(|given| given.elements);
                    let shape = self.shape_of(name, length)?;
                    shapes.extend(representative(kernel, *parameter).zip(shape));
                }
                (Parameter::Scalar(_), _) => {}
            }
        }
        Ok(Told { scalars, shapes })
    }

    /// The shape of the array `name`, from its dimensions if they were given, else from its length.
    fn shape_of(
        &self,
        name: &str,
        length: Option<u64>,
    ) -> Result<Option<Shape>, Vec<ArgumentError>> {
        let Some((_, dimensions)) = self.shapes.iter().find(|(it, _)| it == name) else {
            return Ok(length.map(Shape::Elements));
        };
        let count = dimensions
            .iter()
            .try_fold(1_u64, |all, it| all.checked_mul(*it));
        if length.is_some() && count != length {
            return Err(vec![ArgumentError::Length {
                parameter: name.to_owned(),
                dimensions: dimensions.clone(),
                found: length.unwrap_or_default(),
            }]);
        }
        Ok(Some(Shape::Dimensions(dimensions.clone())))
    }

    /// The kernel, and the arguments in the order of its parameters, inferred sizes among them.
    fn into_arguments(self, sizes: &Sizes) -> (Kernel, Vec<Argument<'a>>) {
        let (kernel, mut given) = (self.kernel, self.given);
        let arguments = kernel.passed().map(|(name, _)| {
            match given.iter().position(|(it, _)| it == name) {
                Some(position) => given.swap_remove(position).1.argument,
                // Every scalar that was not given was inferred, or there would be no sizes.
                None => Argument::Scalar(sizes.scalar(name).unwrap_or(Value::zero(Type::I64))),
            }
        });
        let arguments = arguments.collect();
        (kernel, arguments)
    }

    settings_methods!(kernel.settings);
}
