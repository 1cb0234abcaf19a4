//! An expression in normal form, as small as it gets: most are linear paths.

use crate::pattern::{Condition, LinearPath, as_linear};

/// What an expression is interned by.
pub(super) enum NormalForm {
    /// A linear path as bytes.
    Linear(Box<[u8]>),
    /// Any of two or more linear paths.
    AnyOf(Vec<Box<[u8]>>),
    /// Anything else.
    Other(Condition),
}

impl NormalForm {
    pub(super) fn new(condition: Condition) -> Self {
        if let Some(path) = as_linear(&condition) {
            return Self::Linear(path.to_bytes());
        }
        if let Condition::Or(terms) = &condition
            && let Some(paths) = terms.iter().map(as_linear).collect::<Option<Vec<_>>>()
        {
            return Self::AnyOf(paths.iter().map(LinearPath::to_bytes).collect());
        }
        Self::Other(condition)
    }
}
