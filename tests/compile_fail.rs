//! What the borrow checker and the type system must refuse.

#[test]
fn aliasing_and_foreign_types_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
