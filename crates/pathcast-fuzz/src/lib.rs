//! Laws that need no expected answer: what must hold for any bytes that a stranger sends.
//!
//! Each module has one function, `check`. It takes bytes, panics where a law is broken, and says whether the bytes were
//! accepted. The tests of this crate damage good input and run what is kept in `fuzz/corpus`; the targets in `fuzz/`
//! run the same functions under a coverage-guided fuzzer.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)] // a panic is how a broken law is reported

pub mod documents;
pub mod expressions;
pub mod files;
mod random;
pub mod schemas;

pub use random::Random;
