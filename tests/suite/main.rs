//! One set of kernels and arguments, run by everything that can run them: the interpreter, serial
//! machine code, parallel machine code at several numbers of threads, and `cc`.

mod against_c;
mod apart;
mod c;
mod clamps;
mod combiners;
mod data;
mod distances;
mod engines;
mod extrema;
mod generator_streams;
mod generators;
mod golden;
mod guards;
mod kernels;
mod language_page;
mod math;
mod memory_calls;
mod mlir;
#[path = "../mlir_tools/mod.rs"]
mod mlir_tools;
mod mutations;
mod narrow;
mod nests;
mod objects;
mod ragged;
mod random;
mod random_c;
mod random_schedules;
mod reductions;
mod skip;
mod speculation;
mod steps;
mod strategies;
mod views;
