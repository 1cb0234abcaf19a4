//! A condition on the document node as a tree of elements and attributes, if it is nothing else.
//!
//! What the papers on XFilter and on predicates match of trees: names and how far below each other they are, all branches
//! wanted. Values, `or`, `not`, order and everything else is not taken; the core decides it.

use crate::hops::{Gap, Hop, Symbol};
use pathcast_core::pattern::{Axis, Condition, LinearPath, NameTest, NodeTest};

/// An element or attribute that must be there, and what must be there below it.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) hop: Hop,
    pub(crate) name: NameTest,
    pub(crate) below: Vec<Branch>,
}

/// No set of branches has more than bits.
pub(crate) const MOST: usize = 64;

/// The branches at the document node; nothing if the condition asks for more than structure.
pub(crate) fn of_condition(condition: &Condition) -> Option<Vec<Branch>> {
    let mut found = Vec::new();
    gather(condition, &mut found)?;
    (!found.is_empty() && found.len() <= MOST).then_some(found)
}

/// The branch that a linear path is.
pub(crate) fn of_path(path: &LinearPath) -> Option<Vec<Branch>> {
    of_condition(&path.to_condition())
}

fn gather(condition: &Condition, found: &mut Vec<Branch>) -> Option<()> {
    match condition {
        Condition::True => Some(()),
        Condition::And(parts) => parts.iter().try_for_each(|part| gather(part, found)),
        Condition::Exists(Axis::Down { min, exact }, pattern) => {
            let NodeTest::Element(name) = pattern.test else { return None };
            let hop = Hop { symbol: Symbol::element(name), gap: Gap::new(*min, *exact) };
            let mut below = Vec::new();
            gather(&pattern.condition, &mut below)?;
            found.push(Branch { hop, name, below });
            (found.last()?.below.len() <= MOST).then_some(())
        }
        Condition::Attribute(name, value) if **value == Condition::True => {
            let hop = Hop { symbol: Symbol::attribute(*name), gap: Gap::new(0, true) };
            found.push(Branch { hop, name: *name, below: Vec::new() });
            Some(())
        }
        _ => None,
    }
}
