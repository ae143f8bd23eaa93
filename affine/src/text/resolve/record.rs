use super::{Resolver, Symbol};
use crate::text::error::ParseErrorKind;
use crate::text::tree::{Name, RecordParam};
use crate::{Array, Field, Record, RecordId, Type};

impl<'a> Resolver<'a, '_> {
    /// A record parameter: each of its fields becomes an array.
    pub(super) fn record(&mut self, param: &RecordParam<'a>) -> RecordId {
        let name = param.name;
        if param.extents.is_empty() {
            self.report(name.span, ParseErrorKind::NoExtents(name.text.to_owned()));
        }
        let extents: Vec<_> = param.extents.iter().map(|it| self.extent(it)).collect();
        let bytes = self.bytes(param.bytes);
        let record = self.kernel.records.alloc(Record {
            name: name.text.to_owned(),
            bytes,
            fields: Vec::new(),
            span: name.span,
        });
        self.declare(name, Symbol::Record);
        for field in &param.fields {
            let offset = self.bytes(field.offset);
            let path = format!("{}.{}", name.text, field.name.text);
            let lengths = field.lengths.iter().flatten();
            let lengths: Vec<_> = lengths.map(|it| self.extent(it)).collect();
            let own_dimensions = lengths.len();
            let array = self.kernel.arrays.alloc(Array {
                name: path.clone(),
                element: field.ty,
                extents: [extents.clone(), lengths].concat(),
                length: None,
                field: Some(Field {
                    record,
                    offset,
                    own_dimensions,
                }),
                span: field.name.span,
            });
            self.kernel.records[record].fields.push(array);
            self.declare_at(path.into(), field.name.span, Symbol::Array(array));
        }
        record
    }

    fn bytes(&mut self, digits: Name<'a>) -> u32 {
        digits.text.parse().unwrap_or_else(|_| {
            let kind = ParseErrorKind::LiteralOutOfRange {
                literal: digits.text.to_owned(),
                ty: Type::U32,
            };
            self.report(digits.span, kind);
            0
        })
    }
}
