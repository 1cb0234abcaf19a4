//! Why an expression was refused, and at which column.

use std::fmt;

/// What kind of refusal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XPathErrorKind {
    /// Not XPath 1.0.
    Syntax,
    /// XPath 1.0, but outside the subscription language.
    Unsupported,
    /// A prefix that no namespace is bound to.
    UnboundPrefix,
    /// A variable that nothing is bound to.
    UnboundVariable,
    /// No document that keeps to the schema can satisfy it.
    Impossible,
    /// Longer, deeper or wider than a limit.
    Limit,
}

/// An expression that was refused when it was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XPathError {
    /// What kind of refusal it is.
    pub kind: XPathErrorKind,
    /// A sentence that names the construct.
    pub message: String,
    /// Where, in characters from 1.
    pub column: usize,
}

impl fmt::Display for XPathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.message)
    }
}

impl std::error::Error for XPathError {}
