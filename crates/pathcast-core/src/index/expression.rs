//! How a distinct expression is matched.

use crate::pattern::PathId;
use crate::twig::{ConditionId, Necessary, Ticket};

/// The number of a distinct expression.
pub(super) type ExpressionId = u32;

/// No expression.
pub(super) const VACANT: ExpressionId = ExpressionId::MAX;

/// How a distinct expression is matched.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    /// Nobody subscribes to it any more.
    Free,
    /// True or false for every document.
    Constant(bool),
    /// A linear path.
    Linear(PathId),
    /// Any of some linear paths, their numbers sorted.
    AnyOf(Box<[PathId]>),
    /// Decided on a tree.
    Twig(Box<Twig>),
    /// Decided by the engine as a whole.
    Taken { condition: ConditionId, path: PathId },
}

/// An expression that is decided on a tree, when one of these paths was found; without any, on every document.
#[derive(Clone, Debug)]
pub(super) struct Twig {
    pub(super) condition: ConditionId,
    pub(super) necessary: Necessary,
    pub(super) triggers: Box<[PathId]>,
    /// Paths that must all be found besides.
    pub(super) required: Box<[PathId]>,
    /// Whether it looks at text, comments or instructions.
    pub(super) text: bool,
    /// Its place among those who wait for a value.
    pub(super) ticket: Option<Ticket>,
}

impl Twig {
    pub(super) fn memory_bytes(&self) -> usize {
        let paths = self.triggers.len() + self.required.len();
        size_of::<Self>() + paths * size_of::<PathId>() + self.necessary.memory_bytes()
    }
}
