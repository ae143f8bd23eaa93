//! (being built)

pub mod abi;
