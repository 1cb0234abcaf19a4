//! Where an expression stands, and what is asked of the last node of a path.

use super::condition::Condition;
use crate::values::Comparison;
use crate::xpath::ast::Expr;

/// Where an expression stands, which decides where its paths start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Outside all predicates: the context is the document node, and a relative path starts anywhere.
    Top,
    /// In a predicate.
    Predicate,
    /// Bound to a variable: the context is the document node, and a relative path starts there.
    Document,
}

/// What the last node of a path must satisfy.
#[derive(Clone)]
pub(crate) struct Leaf<'e, 'a> {
    /// As a condition.
    pub(crate) condition: Condition,
    /// As it is written, if anything is.
    pub(crate) comparison: Option<(Comparison, &'e Expr<'a>)>,
}

impl Leaf<'_, '_> {
    /// Nothing but to be there.
    pub(crate) fn exists() -> Self {
        Self { condition: Condition::True, comparison: None }
    }
}
