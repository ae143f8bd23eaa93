use crate::argument::{ArgumentError, name_of};
use crate::program::Kernel;
use crate::settings::{Settings, settings_methods};
use crate::sizes::{Shape, Sizes, infer, representative};
use crate::{Error, Report};
use smallvec::SmallVec;
use strew_affine::{ArrayId, Parameter, ScalarId, Type, Value};
use strew_jit::{Argument, ArgumentKind, ArrayElement, ArrayMut, ArrayRef, Element, Records};

/// A call whose arguments are given by name. Sizes that are left out follow from the arrays.
///
/// Whatever is wrong with the arguments is said by [`run`](Self::run), all of it at once.
#[derive(Debug)]
pub struct Bind<'a>(
    // Every method hands this on: to move all of what was given each time would take as long as a
    // small kernel does.
    Box<Given<'a>>,
);

/// So many arguments have room beside what else is given.
const FEW: usize = 8;

/// What a call was given so far.
#[derive(Debug)]
struct Given<'a> {
    kernel: Kernel,
    /// One place for each parameter that is passed, in their order.
    arguments: SmallVec<[Option<Argument<'a>>; FEW]>,
    /// The place behind the one that was given last.
    next: usize,
    shapes: Vec<(String, Vec<u64>)>,
    /// What is wrong with what was given so far.
    errors: Vec<ArgumentError>,
}

/// What the arguments say about sizes.
struct Told {
    scalars: Vec<(ScalarId, Value)>,
    shapes: Vec<(ArrayId, Shape)>,
}

impl<'a> Bind<'a> {
    pub(crate) fn new(kernel: Kernel) -> Self {
        let arguments = kernel.passed().iter().map(|_| None).collect();
        Self(Box::new(Given {
            kernel,
            arguments,
            next: 0,
            shapes: Vec::new(),
            errors: Vec::new(),
        }))
    }

    /// Gives the scalar parameter `name` its value, which must have the parameter's type.
    pub fn scalar<T: Element>(self, name: &str, value: T) -> Self {
        self.value(name, value.to_value())
    }

    /// Gives the scalar parameter `name` a value whose type is known at run time only.
    pub fn value(self, name: &str, value: Value) -> Self {
        self.give(name, Argument::Scalar(value))
    }

    /// Gives an array that the kernel does not write, row by row.
    pub fn array<T: ArrayElement>(self, name: &str, elements: &'a [T]) -> Self {
        self.give(name, Argument::Read(ArrayRef::new(elements)))
    }

    /// Gives an array that the kernel writes, row by row.
    pub fn array_mut<T: ArrayElement>(self, name: &str, elements: &'a mut [T]) -> Self {
        self.give(name, Argument::Write(ArrayMut::new(elements)))
    }

    /// Gives records that the kernel does not write, whose layout is known at run time only.
    pub fn records(self, name: &str, records: &'a Records) -> Self {
        self.give(name, Argument::Read(records.as_array()))
    }

    /// Gives records that the kernel writes, whose layout is known at run time only.
    pub fn records_mut(self, name: &str, records: &'a mut Records) -> Self {
        self.give(name, Argument::Write(records.as_array_mut()))
    }

    /// Gives the dimensions of the array `name`, outermost first. Of use where its length alone
    /// does not tell the sizes.
    pub fn shape(mut self, name: &str, dimensions: &[u64]) -> Self {
        let shape = (name.to_owned(), dimensions.to_vec());
        self.0.shapes.push(shape);
        self
    }

    fn give(mut self, name: &str, argument: Argument<'a>) -> Self {
        self.0.give(name, argument);
        self
    }

    /// The sizes that follow from what was given so far; arrays may still be missing.
    ///
    /// # Errors
    /// Arguments that do not fit the parameters or each other, and sizes that nothing tells.
    pub fn sizes(&self) -> Result<Sizes, Error> {
        self.0.sizes()
    }

    /// Runs the kernel. The value of one that returns something is in the report of
    /// [`run_with_report`](Self::run_with_report).
    ///
    /// # Errors
    /// Missing, unknown, mistyped and misshapen arguments, a fault while running, a call that was
    /// stopped or refused. All arrays are then as they were before.
    pub fn run(mut self) -> Result<(), Error> {
        self.0.execute(Kernel::run).map(drop)
    }

    /// Runs the kernel and tells how.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn run_with_report(mut self) -> Result<Report, Error> {
        self.0.execute(Kernel::run_with_report)
    }

    fn settings_mut(&mut self) -> &mut Settings {
        self.0.kernel.settings_mut()
    }

    settings_methods!();
}

impl<'a> Given<'a> {
    fn give(&mut self, name: &str, argument: Argument<'a>) {
        match self.place(name, &argument) {
            Ok(position) => {
                if let Some(place) = self.arguments.get_mut(position) {
                    *place = Some(argument);
                }
                self.next = position + 1;
            }
            Err(error) => self.errors.push(error),
        }
    }

    /// Where `argument` belongs, if `name` is a parameter, has none yet, and takes it.
    fn place(&self, name: &str, argument: &Argument<'a>) -> Result<usize, ArgumentError> {
        let passed = self.kernel.passed();
        let is_named = |position: &usize| passed.get(*position).is_some_and(|(it, _)| it == name);
        // Most callers give them in their order.
        let next = Some(self.next).filter(is_named);
        let position = next.or_else(|| (0..passed.len()).find(is_named));
        let Some((position, expected)) = position.and_then(|it| Some((it, &passed.get(it)?.1)))
        else {
            return Err(self.unknown(name));
        };
        if let Some(Some(_)) = self.arguments.get(position) {
            return Err(ArgumentError::Repeated {
                parameter: name.to_owned(),
            });
        }
        if !argument.is(expected) {
            return Err(ArgumentError::Type {
                parameter: name.to_owned(),
                expected: expected.clone(),
                found: argument.kind(),
            });
        }
        Ok(position)
    }

    fn sizes(&self) -> Result<Sizes, Error> {
        let given = self.arguments.iter().map(Option::as_ref);
        self.check_names()
            .and_then(|()| Told::of(self.kernel.ir(), given, &self.shapes)?.infer(self.kernel.ir()))
            .map_err(|errors| self.kernel.argument_error(errors))
    }

    /// Runs the kernel with the arguments, which are gone then.
    fn execute<T>(
        &mut self,
        run: fn(&Kernel, &mut [Argument<'_>]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let is_complete = self.shapes.is_empty() && self.arguments.iter().all(Option::is_some);
        if !(is_complete && self.errors.is_empty()) {
            let checked = self.check_names().and_then(|()| self.check_presence());
            checked.map_err(|errors| self.kernel.argument_error(errors))?;
            let sizes = self.sizes()?;
            let mut arguments = self.with_inferred(&sizes);
            return run(&self.kernel, &mut arguments);
        }
        // There is nothing to infer, and the call checks lengths; only what is wrong with them is
        // said better here.
        let kernel = &self.kernel;
        let mut arguments: SmallVec<[_; FEW]> = self.arguments.drain(..).flatten().collect();
        run(kernel, &mut arguments).map_err(|error| match error {
            Error::Arguments(_) => {
                let told = Told::of(kernel.ir(), arguments.iter().map(Some), &[]);
                let sizes = told.and_then(|told| told.infer(kernel.ir()));
                sizes.err().map_or(error, |it| kernel.argument_error(it))
            }
            other => other,
        })
    }

    /// Every name given is that of a parameter, is given once, and has its kind.
    fn check_names(&self) -> Result<(), Vec<ArgumentError>> {
        let is_array = |name: &str| {
            let mut passed = self.kernel.passed().iter();
            let is_scalar = |kind: &ArgumentKind| matches!(kind, ArgumentKind::Scalar(_));
            passed.any(|(it, kind)| it == name && !is_scalar(kind))
        };
        let shapes = self.shapes.iter();
        let strangers = shapes.filter(|(name, _)| !is_array(name));
        let strangers = strangers.map(|(name, _)| self.unknown(name));
        let errors: Vec<_> = self.errors.iter().cloned().chain(strangers).collect();
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
        let places = self.kernel.passed().iter().zip(&self.arguments);
        let missing = places.filter(|((_, kind), given)| {
            given.is_none() && !matches!(kind, ArgumentKind::Scalar(_))
        });
        let errors: Vec<_> = missing
            .map(|((parameter, expected), _)| ArgumentError::Missing {
                parameter: parameter.clone(),
                expected: expected.clone(),
            })
            .collect();
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }

    /// The arguments in the order of the parameters, inferred sizes among them.
    fn with_inferred(&mut self, sizes: &Sizes) -> Vec<Argument<'a>> {
        // Every scalar that was not given was inferred, or there would be no sizes.
        let inferred = |name: &str| sizes.scalar(name).unwrap_or(Value::zero(Type::I64));
        let places = self.kernel.passed().iter().zip(self.arguments.drain(..));
        let arguments = places
            .map(|((name, _), given)| given.unwrap_or_else(|| Argument::Scalar(inferred(name))));
        arguments.collect()
    }
}

impl Told {
    /// What `given` says, one for each parameter that is passed, with the dimensions of arrays by
    /// name.
    fn of<'g, 'a: 'g>(
        kernel: &strew_affine::Kernel,
        given: impl Iterator<Item = Option<&'g Argument<'a>>>,
        dimensions: &[(String, Vec<u64>)],
    ) -> Result<Self, Vec<ArgumentError>> {
        let mut scalars = Vec::new();
        let mut shapes = Vec::new();
        for (parameter, given) in kernel.passed_params().zip(given) {
            match (parameter, given) {
                (Parameter::Scalar(scalar), Some(Argument::Scalar(value))) => {
                    scalars.push((scalar, *value));
                }
                (Parameter::Array(_) | Parameter::Record(_), given) => {
                    let length = given.and_then(Argument::elements).map(|it| it as u64);
                    let shape = shape_of(name_of(kernel, parameter), length, dimensions)?;
                    shapes.extend(representative(kernel, parameter).zip(shape));
                }
                (Parameter::Scalar(_), _) => {}
            }
        }
        Ok(Self { scalars, shapes })
    }

    fn infer(&self, kernel: &strew_affine::Kernel) -> Result<Sizes, Vec<ArgumentError>> {
        infer(kernel, &self.scalars, &self.shapes)
    }
}

/// The shape of the array `name`, from its dimensions if they were given, else from its length.
fn shape_of(
    name: &str,
    length: Option<u64>,
    dimensions: &[(String, Vec<u64>)],
) -> Result<Option<Shape>, Vec<ArgumentError>> {
    let Some((_, dimensions)) = dimensions.iter().find(|(it, _)| it == name) else {
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
