//! The subscription language: tokens, grammar, expression tree, printing back.

pub mod ast;
mod error;

pub use error::{XPathError, XPathErrorKind};
