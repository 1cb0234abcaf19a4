//! Which of millions of XPath subscriptions does an XML document satisfy?
//!
//! Data flows one way: [`xpath`] parses a subscription, [`pattern`] brings it into the normal form all engines
//! share, [`index`] keeps the distinct expressions and their subscribers. A document goes through the strict
//! [`reader`]; an [`engine`] finds the linear paths it holds, and [`twig`] decides what linear paths cannot. Where all
//! documents follow one DTD, [`schema`] tells expressions that never match and prunes the others. For matching inside a
//! database, [`relational`] turns both sides into rows. [`cover`] tells which expression contains which, for a network
//! of brokers.
#![forbid(unsafe_code)]

pub mod cancel;
mod chars;
pub mod cover;
pub mod engine;
pub mod explain;
pub mod hashing;
mod image;
pub mod index;
mod interner;
pub mod limits;
pub mod names;
mod packed;
pub mod pattern;
pub mod reader;
pub mod relational;
pub mod schema;
pub mod select;
pub mod tree_automaton;
pub mod twig;
pub mod values;
pub mod xpath;
