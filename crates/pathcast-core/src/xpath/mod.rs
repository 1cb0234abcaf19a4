//! The subscription language: tokens, grammar, expression tree, printing back.
//!
//! [`parse`] turns source text into the tree of [`ast`] or says why not, with a column; the tree's `Display`
//! writes it back in one canonical spelling. Nothing here knows documents, namespaces or engines.

pub mod ast;
mod error;
mod expansion;
mod function;
mod functions;
mod grammar;
mod name_tests;
mod numeral;
mod print;
mod refusals;
mod steps;
mod tokens;
mod variables;

pub use error::{XPathError, XPathErrorKind};
pub use grammar::{parse, parse_with};
pub(crate) use name_tests::{asked_name, is_local, with_name_tests};
pub use variables::{Binding, Environment, Variables};
