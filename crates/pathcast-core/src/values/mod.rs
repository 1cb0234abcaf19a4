//! Value tests: what XPath 1.0 makes of the text of a document, and an index over many of them.
//!
//! The judge of every comparison is libxml2, so text becomes a number here exactly as it does there, bit for
//! bit.

mod index;
pub mod number;
mod test;
mod thresholds;

pub use index::{Holder, Passing, Selectivity, Subject, Ticket, ValueIndex};
pub use test::{Real, ValueTest, compare};
