//! Completes any linear engine to the whole language.
//!
//! **Idea.** An engine finds linear paths; a subscription that is more than one becomes a candidate when a path it
//! cannot do without was found, and is then decided exactly over a compact [`Tree`] of the document. Conditions are
//! kept in an [`Arena`] where equal ones are one, so a sub-pattern that a thousand subscriptions share is decided once
//! a document. Deciding goes set by set: all nodes that fit a pattern, then those of them that have a fitting
//! child, and so on up to the document node, each time in time proportional to the nodes in question. That makes the
//! whole polynomial (nodes times size of the expression), however deeply `//` and predicates are nested.

mod access;
mod arena;
mod evaluate;
mod first;
mod necessary;
mod thresholds;
mod tree;
mod values;

pub use access::{access, look_up};
pub use arena::{Arena, ConditionId};
pub use evaluate::{Evaluator, Memory};
pub use necessary::Necessary;
pub use tree::{Kind, NodeId, Tree};
pub use values::{Holder, Passing, Selectivity, Subject, Ticket, ValueIndex};
