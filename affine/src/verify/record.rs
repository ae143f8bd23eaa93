use super::{EntityKind, Verifier, ViolationKind};
use crate::{Array, Record, RecordId};

impl<'k> Verifier<'k> {
    /// A record parameter and its fields.
    pub(super) fn record(&mut self, id: RecordId) {
        let Some(record) = self.known_record(id) else {
            return;
        };
        self.here = record.span;
        if self.scope.records.insert(id) {
            self.new_name(&record.name);
        } else {
            return self.report(ViolationKind::DeclaredTwice(record.name.clone()));
        }
        for field in &record.fields {
            self.array_param(*field, Some(id));
        }
        self.here = record.span;
        let fields = record.fields.iter().map(|it| self.known_array(*it));
        let Some(fields) = fields.collect::<Option<Vec<_>>>() else {
            return;
        };
        if !lies_well(record, &fields) {
            self.report(ViolationKind::Layout(record.name.clone()));
        }
        let extents = |it: &Array| it.split_extents().0.to_vec();
        if fields.windows(2).any(|it| extents(it[0]) != extents(it[1])) {
            self.report(ViolationKind::UnlikeFields(record.name.clone()));
        }
    }

    fn known_record(&mut self, id: RecordId) -> Option<&'k Record> {
        let position = usize::try_from(id.into_raw().into_u32()).ok()?;
        let found = self.kernel.records.values().nth(position);
        if found.is_none() {
            self.report(ViolationKind::ForeignId(EntityKind::Record));
        }
        found
    }
}

/// Whether there are fields, each with a number of elements that is known, and they lie apart
/// inside of the record, each at a multiple of the size of its elements in every record.
fn lies_well(record: &Record, fields: &[&Array]) -> bool {
    let is_short = |array: &&Array| {
        let (records, own) = array.split_extents();
        let own: Vec<_> = own.iter().map(|it| it.as_constant()).collect();
        !records.is_empty() && own.iter().all(|it| *it > Some(0))
    };
    if !fields.iter().all(is_short) {
        return false;
    }
    let place = |array: &&Array| {
        let offset = array.field.map_or(0, |it| u64::from(it.offset));
        let size = u64::from(array.element.bytes());
        let all = size.saturating_mul(array.elements_per_record());
        (offset, size, offset.saturating_add(all))
    };
    let mut places: Vec<_> = fields.iter().map(place).collect();
    places.sort_unstable();
    let bytes = u64::from(record.bytes);
    let is_aligned = |(offset, size, _): &(u64, u64, u64)| offset % size == 0 && bytes % size == 0;
    let are_apart = places.windows(2).all(|it| it[0].2 <= it[1].0);
    let is_inside = places.last().is_some_and(|it| it.2 <= bytes);
    are_apart && is_inside && places.iter().all(is_aligned)
}

#[cfg(test)]
mod tests {
    use crate::verify::verify;
    use crate::{Field, Kernel, text};

    const HEAD: &str =
        "kernel @k(n: i64, p: record(24) { x: f64 @ 0, y: f64 @ 8, id: i32 @ 16 }[n]) { }";
    const WITH_LENGTHS: &str =
        "kernel @k(n: i64, p: record(40) { x: f64[2, 2] @ 0, id: i32 @ 32 }[n]) { }";

    fn kernel(source: &str) -> Kernel {
        let kernels = text::parse(source).expect("a kernel");
        kernels.into_iter().next().expect("one kernel")
    }

    #[track_caller]
    fn refused(kernel: Kernel) -> String {
        let violations = verify(kernel).expect_err("an invariant is broken");
        violations.first().expect("a violation").to_string()
    }

    #[test]
    fn fields_lie_apart_inside_of_their_record() {
        assert!(verify(kernel(HEAD)).is_ok());
        let words = "the fields of `p` do not lie apart inside of its bytes, each at a multiple of its size";
        for (from, to) in [
            ("y: f64 @ 8", "y: f64 @ 4"),
            ("id: i32 @ 16", "id: i32 @ 12"),
            ("id: i32 @ 16", "id: i32 @ 24"),
            ("id: i32 @ 16", "id: i64 @ 20"),
            ("record(24)", "record(20)"),
            ("record(24)", "record(28)"),
            ("x: f64 @ 0, y: f64 @ 8, id: i32 @ 16", ""),
        ] {
            assert_eq!(refused(kernel(&HEAD.replace(from, to))), words, "{to}");
        }
    }

    #[test]
    fn the_elements_of_a_field_lie_inside_of_the_record_too() {
        assert!(verify(kernel(WITH_LENGTHS)).is_ok());
        for (from, to) in [
            ("[2, 2]", "[2, 3]"),
            ("[2, 2]", "[0, 2]"),
            ("[2, 2]", "[2, n]"),
            ("[2, 2]", "[2, 9223372036854775807]"),
            ("id: i32 @ 32", "id: i32 @ 24"),
            ("id: i32 @ 32", "id: i32[3] @ 32"),
        ] {
            let words = "the fields of `p` do not lie apart inside of its bytes, each at a multiple of its size";
            assert_eq!(
                refused(kernel(&WITH_LENGTHS.replace(from, to))),
                words,
                "{to}"
            );
        }
    }

    #[test]
    fn fields_belong_to_their_record_and_are_alike() {
        let mut longer = kernel(HEAD);
        for array in longer.arrays.values_mut().take(1) {
            array.extents = vec![3.into()];
        }
        assert_eq!(refused(longer), "the fields of `p` have different extents");
        let mut loose = kernel(HEAD);
        for array in loose.arrays.values_mut().take(1) {
            array.field = None;
        }
        let words = "`p.x` is not a field of the record that has it, or a field of a record that has it not";
        assert_eq!(refused(loose), words);
        let mut foreign = kernel("kernel @k(n: i64) { alloc p: f64[n] }");
        let record = kernel(HEAD).records.iter().next().map(|(id, _)| id);
        for array in foreign.arrays.values_mut() {
            array.field = record.map(|record| Field {
                record,
                offset: 0,
                own_dimensions: 0,
            });
        }
        assert_eq!(
            refused(foreign),
            "`p` is not a field of the record that has it, or a field of a record that has it not"
        );
    }

    #[test]
    fn records_are_known_and_listed_once() {
        let mut foreign = kernel("kernel @k() { }");
        foreign.params = kernel(HEAD).params.split_off(1);
        assert_eq!(refused(foreign), "the record is not one of this kernel");
        let mut twice = kernel(HEAD);
        twice.params.extend(kernel(HEAD).params.split_off(1));
        assert_eq!(refused(twice), "`p` is declared twice");
    }
}
