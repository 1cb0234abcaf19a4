//! How a distinct expression is matched.

use crate::pattern::PathId;
use crate::twig::ConditionId;

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
    /// Decided by the tree automaton; the condition as bytes.
    Decided(Box<[u8]>),
    /// Decided on a tree, unless the tree automaton is exact, when all of these paths were found; without any, when the
    /// tree automaton says so.
    Twig { condition: ConditionId, required: Box<[PathId]>, exact: bool },
    /// Decided by the engine as a whole.
    Taken { condition: ConditionId, path: PathId },
}
