//! Kernels in object files: the same machine code as in memory, made beforehand in every form that
//! a run may ask for, with the tables by which [`strew_runtime::object`] finds it.

mod image;

use crate::compiled::{Faults, check_hosts};
use crate::facts::{Checks, Facts};
use crate::form::{Form, Rounding};
use crate::isa::{Destination, Effort, Target};
use crate::keys::{key_slots, parameter_of};
use crate::loaded::{define, guarded};
use crate::lower::{self, Merging, Request};
use crate::site::{Site, SiteKind};
use crate::{CompileError, Oob};
use cranelift_module::{DataId, Module, default_libcall_names};
use cranelift_object::{ObjectBuilder, ObjectModule};
use image::Image;
use std::collections::BTreeMap;
use std::mem::offset_of;
use strew_affine::verify::Verified;
use strew_affine::{Parameter, Span};
use strew_runtime::{Mode, object as tables};

/// What goes into an object.
#[derive(Clone, Copy)]
pub struct Object<'k> {
    /// The name of the function.
    pub symbol: &'k str,
    /// The kernel under its schedule.
    pub scheduled: &'k Verified,
    /// The kernel with the same parameters that runs where that one's assumptions do not hold, and
    /// after it met a fault, to tell which.
    pub careful: &'k Verified,
    /// Whether its loops then run one iteration after the other.
    pub careful_in_order: bool,
    /// Which results of regrouping are good enough.
    pub mode: Mode,
    /// What an index out of range does.
    pub oob: Oob,
    /// The processor to compile for.
    pub target: Target,
    /// The line and the column of a place in the source, from 1.
    pub position: &'k dyn Fn(Span) -> (u32, u32),
}

impl std::fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Object")
            .field("symbol", &self.symbol)
            .finish_non_exhaustive()
    }
}

/// Makes an object file with the one function `symbol`, which takes all parameters of the kernel in
/// order, inferred sizes too, behind them the address that the result goes to, if there is one, and
/// returns a [`Code`](tables::Code).
///
/// # Errors
/// As for [`compile`](crate::compile); a combiner that is a function of the host has no place in a
/// file.
pub fn object(object: &Object<'_>) -> Result<Vec<u8>, CompileError> {
    check_hosts(object.scheduled)?;
    guarded(|| {
        let isa = (object.target).isa(Effort::Full, Destination::Object)?;
        let builder = ObjectBuilder::new(isa, object.symbol, default_libcall_names())?;
        let mut module = ObjectModule::new(builder);
        Writer {
            object,
            module: &mut module,
        }
        .write()?;
        let written = module.finish().emit();
        written.map_err(|error| CompileError::Internal(error.to_string()))
    })
}

struct Writer<'o> {
    object: &'o Object<'o>,
    module: &'o mut dyn Module,
}

impl Writer<'_> {
    fn write(&mut self) -> Result<(), CompileError> {
        let mut image = Image::new(size_of::<tables::Kernel>());
        let mode = match self.object.mode {
            Mode::Fast => 0,
            Mode::Stable => 1,
            Mode::Exact => 2,
        };
        image.number(offset_of!(tables::Kernel, version), tables::TABLES_VERSION);
        image.number(offset_of!(tables::Kernel, mode), mode);
        let in_order = u64::from(self.object.careful_in_order);
        image.number(offset_of!(tables::Kernel, careful_in_order), in_order);
        let at = offset_of!(tables::Kernel, scheduled);
        self.version(&mut image, at, (self.object.scheduled, Faults::Bare))?;
        let at = offset_of!(tables::Kernel, careful);
        self.version(&mut image, at, (self.object.careful, Faults::Located))?;
        let tables = image.define(self.module)?;
        let named = (&**self.object.scheduled, self.object.symbol);
        let wrapper = lower::lower_wrapper(named, tables, self.module)?;
        self.define(vec![wrapper])
    }

    fn define(&mut self, functions: Vec<lower::Function>) -> Result<(), CompileError> {
        let target = (self.object.target, Destination::Object);
        define(self.module, functions, target)
    }

    fn version(
        &mut self,
        image: &mut Image,
        at: usize,
        (kernel, faults): (&Verified, Faults),
    ) -> Result<(), CompileError> {
        let facts = Facts::of(kernel);
        let rounding = Rounding::of(self.object.mode);
        let request = |checks, faults| Request {
            kernel,
            facts: &facts,
            form: facts.settled(Form { checks, rounding }, self.object.target),
            faults,
            oob: self.object.oob,
        };
        let judging = request(Checks::All, Faults::Bare);
        let judge = lower::lower_judge(&judging, self.module)?;
        let entry = judge.entry;
        let checked = request(Checks::All, faults);
        let proved = match faults {
            Faults::Bare => Some(request(Checks::Computed, faults)),
            // What went wrong is told by code that looks at everything.
            Faults::Located => None,
        };
        self.define(judge.functions)?;
        image.function(at + offset_of!(tables::Version, judge), entry);
        let places = [
            at + offset_of!(tables::Version, proved),
            at + offset_of!(tables::Version, checked),
        ];
        match proved {
            Some(proved) => {
                self.code(image, &places[..1], &proved)?;
                self.code(image, &places[1..], &checked)
            }
            None => self.code(image, &places, &checked),
        }
    }

    /// Makes the code for `request`, with a table of it at each of `places`.
    fn code(
        &mut self,
        image: &mut Image,
        places: &[usize],
        request: &Request<'_>,
    ) -> Result<(), CompileError> {
        let lowered = lower::lower(request, self.module)?;
        self.define(lowered.functions)?;
        let copied = copied(request);
        let numbers = copied.iter().flat_map(|(slot, bytes)| [*slot, *bytes]);
        let asked_for = lower::other_bodies(request);
        let lists = [
            (
                offset_of!(tables::CodeTable, copied),
                offset_of!(tables::CodeTable, copied_count),
            ),
            (
                offset_of!(tables::CodeTable, merges),
                offset_of!(tables::CodeTable, merge_count),
            ),
            (
                offset_of!(tables::CodeTable, bodies),
                offset_of!(tables::CodeTable, body_count),
            ),
            (
                offset_of!(tables::CodeTable, keys),
                offset_of!(tables::CodeTable, key_count),
            ),
            (
                offset_of!(tables::CodeTable, sites),
                offset_of!(tables::CodeTable, site_count),
            ),
        ]
        .into_iter()
        .zip([
            (self.numbers(numbers)?, copied.len()),
            (self.merges(&lowered.merges)?, lowered.merges.len()),
            (self.bodies(request, &asked_for)?, asked_for.len()),
            self.keys(request, &asked_for)?,
            (self.sites(request, &lowered.sites)?, lowered.sites.len()),
        ]);
        let slots = request.kernel.params.len() as u64;
        let has_foralls = u64::from(request.facts.has_foralls());
        for &at in places {
            image.function(at + offset_of!(tables::CodeTable, entry), lowered.entry);
            image.number(at + offset_of!(tables::CodeTable, slots), slots);
            image.number(at + offset_of!(tables::CodeTable, has_foralls), has_foralls);
            for (fields, (list, entries)) in lists.clone() {
                image.list(at, fields, list, entries);
            }
        }
        Ok(())
    }

    fn numbers(&mut self, numbers: impl Iterator<Item = u64>) -> Result<DataId, CompileError> {
        let numbers: Vec<_> = numbers.collect();
        let mut image = Image::new(size_of_val(numbers.as_slice()));
        for (position, number) in numbers.into_iter().enumerate() {
            image.number(position * size_of::<u64>(), number);
        }
        image.define(self.module)
    }

    fn merges(&mut self, merges: &[Merging]) -> Result<DataId, CompileError> {
        let mut image = Image::new(size_of::<tables::Merge>() * merges.len());
        for (position, merging) in merges.iter().enumerate() {
            let at = position * size_of::<tables::Merge>();
            let merge = merging.lower(self.module)?;
            let apply = merging.lower_apply(self.module)?;
            image.function(at + offset_of!(tables::Merge, merge), merge.id);
            image.function(at + offset_of!(tables::Merge, apply), apply.id);
            self.define(vec![merge.function, apply.function])?;
        }
        image.define(self.module)
    }

    fn bodies(
        &mut self,
        request: &Request<'_>,
        asked_for: &[(u32, strew_runtime::abi::BodyShape)],
    ) -> Result<DataId, CompileError> {
        let mut image = Image::new(size_of::<tables::Body>() * asked_for.len());
        for (position, (number, shape)) in asked_for.iter().enumerate() {
            let at = position * size_of::<tables::Body>();
            let lowered = lower::lower_body(request, (*number, *shape), self.module)?;
            image.half(at + offset_of!(tables::Body, number), *number);
            image.half(at + offset_of!(tables::Body, shape), *shape as u32);
            image.function(at + offset_of!(tables::Body, code), lowered.entry);
            self.define(lowered.functions)?;
        }
        image.define(self.module)
    }

    /// The tables of the foralls whose keys are known, and their number.
    fn keys(
        &mut self,
        request: &Request<'_>,
        asked_for: &[(u32, strew_runtime::abi::BodyShape)],
    ) -> Result<(DataId, usize), CompileError> {
        let numbers = asked_for.iter().map(|(number, _)| *number);
        let known: BTreeMap<_, _> = numbers
            .filter_map(|number| Some((number, key_slots(request, number)?)))
            .collect();
        let mut image = Image::new(size_of::<tables::KeyTable>() * known.len());
        for (position, (number, slots)) in known.iter().enumerate() {
            let at = position * size_of::<tables::KeyTable>();
            let all = slots.arrays.iter().chain(&slots.scalars);
            let list = self.numbers(all.map(|it| u64::from(*it)))?;
            let number = u64::from(*number);
            image.number(at + offset_of!(tables::KeyTable, number), number);
            image.data(at + offset_of!(tables::KeyTable, slots), list);
            let counts = [slots.arrays.len(), slots.scalars.len()].map(|it| it as u64);
            image.number(at + offset_of!(tables::KeyTable, arrays), counts[0]);
            image.number(at + offset_of!(tables::KeyTable, scalars), counts[1]);
        }
        Ok((image.define(self.module)?, known.len()))
    }

    fn sites(&mut self, request: &Request<'_>, sites: &[Site]) -> Result<DataId, CompileError> {
        let mut image = Image::new(size_of::<tables::Site>() * sites.len());
        let mut names = BTreeMap::new();
        for (position, site) in sites.iter().enumerate() {
            let at = position * size_of::<tables::Site>();
            let (kind, array) = match site.kind {
                SiteKind::OutOfRange { array, .. } => (tables::SiteKind::OutOfRange, Some(array)),
                SiteKind::Met { array } => (tables::SiteKind::Met, Some(array)),
                SiteKind::Overflow { array } => (tables::SiteKind::Overflow, array),
                SiteKind::DivisionByZero | SiteKind::Combiner => {
                    (tables::SiteKind::DivisionByZero, None)
                }
            };
            let (line, column) = (self.object.position)(site.span);
            image.half(at + offset_of!(tables::Site, kind), kind as u32);
            image.half(at + offset_of!(tables::Site, line), line);
            image.half(at + offset_of!(tables::Site, column), column);
            if let Some(array) = array {
                let known = names.get(&array).copied();
                let name = match known {
                    Some(name) => name,
                    None => {
                        let name = &request.kernel.arrays[array].name;
                        Image::text(name).define(self.module)?
                    }
                };
                names.insert(array, name);
                image.data(at + offset_of!(tables::Site, array), name);
            }
        }
        image.define(self.module)
    }
}

/// The arrays to copy before a run: the number of the slot, and the bytes of an element.
fn copied(request: &Request<'_>) -> BTreeMap<u64, u64> {
    let kernel = request.kernel;
    let arrays = (request.facts).copied_before_run(kernel, request.form.checks, false);
    let slot = |array| {
        let param = parameter_of(kernel, array);
        let bytes = match param {
            Parameter::Record(record) => kernel.records[record].bytes,
            Parameter::Array(_) | Parameter::Scalar(_) => kernel.arrays[array].element.bytes(),
        };
        let position = kernel.params.iter().position(|it| *it == param)?;
        Some((position as u64, u64::from(bytes)))
    };
    arrays.into_iter().filter_map(slot).collect()
}
