//! Value tests: what XPath 1.0 makes of the text of a document.
//!
//! The judge of every comparison is libxml2, so text becomes a number here exactly as it does there, bit for
//! bit.

mod comparison;
pub mod number;
pub mod regex;
mod test;

pub use comparison::{Comparison, compare};
pub use test::{Real, ValueTest};
