//! The bytes of a table in an object, some of which are addresses that only the linker knows.

use crate::CompileError;
use cranelift_module::{DataDescription, DataId, FuncId, Module};

/// A table under construction.
pub(super) struct Image {
    bytes: Vec<u8>,
    functions: Vec<(usize, FuncId)>,
    data: Vec<(usize, DataId)>,
}

impl Image {
    /// So many bytes, all zero.
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            bytes: vec![0; bytes],
            functions: Vec::new(),
            data: Vec::new(),
        }
    }

    /// Text as C has it.
    pub(super) fn text(text: &str) -> Self {
        let mut image = Self::new(0);
        image.bytes = text.bytes().filter(|it| *it != 0).collect();
        image.bytes.push(0);
        image
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        if let Some(place) = self.bytes.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }

    /// 64 bits.
    pub(super) fn number(&mut self, at: usize, number: u64) {
        self.put(at, &number.to_ne_bytes());
    }

    /// 32 bits.
    pub(super) fn half(&mut self, at: usize, number: u32) {
        self.put(at, &number.to_ne_bytes());
    }

    /// The address of a function.
    pub(super) fn function(&mut self, at: usize, function: FuncId) {
        self.functions.push((at, function));
    }

    /// The address of another table.
    pub(super) fn data(&mut self, at: usize, data: DataId) {
        self.data.push((at, data));
    }

    /// The address of a list of so many entries, and their number, at their places in the table at
    /// `at`.
    pub(super) fn list(
        &mut self,
        at: usize,
        (address, count): (usize, usize),
        list: DataId,
        entries: usize,
    ) {
        self.data(at + address, list);
        self.number(at + count, entries as u64);
    }

    /// Puts the table into `module`.
    pub(super) fn define(self, module: &mut dyn Module) -> Result<DataId, CompileError> {
        let id = module.declare_anonymous_data(false, false)?;
        let mut description = DataDescription::new();
        // An object cannot have a symbol for nothing.
        let bytes = match self.bytes.is_empty() {
            true => vec![0; size_of::<u64>()],
            false => self.bytes,
        };
        description.define(bytes.into_boxed_slice());
        description.set_align(align_of::<u64>() as u64);
        for (at, function) in self.functions {
            let function = module.declare_func_in_data(function, &mut description);
            description.write_function_addr(place(at), function);
        }
        for (at, data) in self.data {
            let data = module.declare_data_in_data(data, &mut description);
            description.write_data_addr(place(at), data, 0);
        }
        module.define_data(id, &description)?;
        Ok(id)
    }
}

/// Tables are far smaller than 4 GiB.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
