//! Decides any condition exactly, on a tree of the document.
//!
//! **Idea.** What an engine or [`crate::tree_automaton`] finds of a subscription that looks sideways or back makes it a
//! candidate, which is then decided exactly over a compact [`Tree`] of the document. Conditions are
//! kept in an [`Arena`] where equal ones are one, so a sub-pattern that a thousand subscriptions share is decided once
//! a document. Deciding goes set by set: all nodes that fit a pattern, then those of them that have a fitting
//! child, and so on up to the document node, each time in time proportional to the nodes in question. That makes the
//! whole polynomial (nodes times size of the expression), however deeply `//` and predicates are nested. What conditions
//! cannot say is a typed expression on a node, which [`terms`] evaluates.

mod arena;
mod budget;
mod evaluate;
mod first;
mod labels;
mod terms;
mod tree;

pub use arena::{Arena, ConditionId};
pub use budget::{Budget, Exceeded};
pub use evaluate::{Evaluator, Memory};
pub use labels::Label;
pub(crate) use terms::normalized;
pub use terms::{Context, Ref, TermId};
pub use tree::{Kind, NodeId, Tree};
