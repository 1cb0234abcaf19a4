//! Typed expressions on a tree, by the rules of XPath 1.0.
//!
//! **Idea.** A term is evaluated for one context: a node, its position and the size of the list it is in. Most terms ask
//! only for the node, and many only for the document. What such a term comes to is remembered by term and node, as in
//! "Efficient Algorithms for Processing XPath Queries", so that nested predicates cost the product of the document's nodes
//! and the expression's size instead of a power of it. Steps without positions go a set of nodes at a time. Terms are shared
//! in the arena, so a part that a thousand subscriptions have is computed once a document.
//!
//! Every node that is looked at and every byte of text that is made counts against a budget; when it is spent, evaluation
//! stops, and the answer is an error.

mod axes;
mod compare;
mod ids;
mod node;
mod strings;
mod values;
mod walk;

pub use node::Ref;
pub(crate) use strings::normalized;
pub(super) use values::TermMemory;

use crate::pattern::{Operator, Origin, Term};
use crate::xpath::ast::Function;
use crate::xpath::ast::Type;

/// The number of a distinct term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermId(pub u32);

/// What is known of a term without a document.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The type of its value.
    pub(super) kind: Type,
    /// Whether the context node decides it.
    pub(super) node: bool,
    /// Whether the context position or size decides it.
    pub(super) position: bool,
    /// Whether nodes are looked for in it, so that it is worth remembering.
    pub(super) path: bool,
}

impl Facts {
    /// From the facts of its parts.
    pub(super) fn of(term: &Term<TermId>, known: &[Self]) -> Self {
        let mut facts = Self { kind: term.kind(), node: false, position: false, path: false };
        match term {
            Term::Path(origin, steps) => {
                facts.node = *origin == Origin::Context;
                facts.path = !steps.is_empty();
            }
            Term::Apply(Operator::Call(Function::Position | Function::Last), _) => facts.position = true,
            Term::Apply(Operator::Call(Function::Id), _) => facts.path = true,
            _ => {}
        }
        term.parts(|part, predicate| {
            let part = known[part.0 as usize];
            facts.path |= part.path;
            // The context of a predicate is its own.
            if !predicate {
                facts.node |= part.node;
                facts.position |= part.position;
            }
        });
        facts
    }
}

/// Where a term is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// The node.
    pub node: Ref,
    /// Its position, from 1.
    pub position: usize,
    /// How many there are.
    pub size: usize,
}

impl Context {
    /// A node alone.
    pub fn at(node: Ref) -> Self {
        Self { node, position: 1, size: 1 }
    }
}
