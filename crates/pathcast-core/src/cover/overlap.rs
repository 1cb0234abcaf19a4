//! Can a document of the advertised paths satisfy an expression?
//!
//! The expression is run on the advertisement's automaton: for each of its nodes the set of states at which it may
//! stand, from the document node down. For a **linear path** this is the product of two automata and the answer is
//! exact, whatever groups and wildcards the advertisement has (the published algorithms skip real matches once `*`
//! is in play, and try one number of repetitions only). For branches each path must be possible on its own, values
//! and negations always are: what is called impossible is, which is what routing needs.
//!
//! Cost: the expression's length times the transitions of the automaton.

use super::advertisement::Advertisement;
use crate::names::Names;
use crate::pattern::{Axis, Branch, Condition, NameTest, NodePattern, NodeTest};

/// Whether a document of the advertised paths can satisfy a condition on the document node. With `single` one of the
/// paths of the condition is enough.
pub(super) fn overlaps(
    advertisement: &Advertisement,
    condition: &Condition,
    names: &Names,
    single: bool,
) -> bool {
    let product = Product { advertisement, names, single };
    product.possible(&product.document(), condition)
}

/// A set of states.
type States = Vec<bool>;

struct Product<'a> {
    advertisement: &'a Advertisement,
    names: &'a Names,
    single: bool,
}

impl Product<'_> {
    fn document(&self) -> States {
        let mut states = vec![false; self.advertisement.states()];
        states[0] = true;
        states
    }

    fn possible(&self, at: &States, condition: &Condition) -> bool {
        match condition {
            Condition::False => false,
            Condition::And(parts) => {
                let structural = |part: &&Condition| !self.single || has_path(part);
                let mut parts = parts.iter().filter(structural).peekable();
                if self.single && parts.peek().is_some() {
                    parts.any(|part| self.possible(at, part))
                } else {
                    parts.all(|part| self.possible(at, part))
                }
            }
            Condition::Or(parts) => parts.iter().any(|part| self.possible(at, part)),
            Condition::Exists(Axis::Down { min, exact }, pattern) => self.down(at, *min, *exact, pattern),
            // Somewhere in the document.
            Condition::Exists(_, pattern) => self.down(&self.document(), 1, false, pattern),
            Condition::Root(inner) => self.possible(&self.document(), inner),
            Condition::Ordered(branches) => {
                let possible = |branch: &Branch| match branch {
                    Branch::Exists { min, exact, pattern } => self.down(at, *min, *exact, pattern),
                    Branch::First(..) => true,
                };
                if self.single { branches.iter().any(possible) } else { branches.iter().all(possible) }
            }
            Condition::True
            | Condition::Not(_)
            | Condition::Is(_)
            | Condition::Attribute(..)
            | Condition::Value(_)
            | Condition::Typed(_)
            | Condition::First(..) => true,
        }
    }

    fn down(&self, at: &States, min: u32, exact: bool, pattern: &NodePattern) -> bool {
        let NodeTest::Element(name) = pattern.test else {
            // Text and its like stand in an element that must be there. Of a node the same is sure, no more.
            let around = self.levels(at, min.saturating_sub(1), exact);
            return around.contains(&true)
                && (pattern.test != NodeTest::Node
                    || self.possible(&self.descendants(&around), &pattern.condition));
        };
        let mut found = self.levels(at, min, exact);
        for (state, there) in found.iter_mut().enumerate() {
            *there &= state > 0 && self.accepts(name, state);
        }
        found.contains(&true) && self.possible(&found, &pattern.condition)
    }

    fn accepts(&self, test: NameTest, state: usize) -> bool {
        match (test, self.advertisement.labels[state]) {
            (NameTest::Any, _) | (_, None) => true,
            (NameTest::Name(name), Some(label)) => name == label,
            (NameTest::Partial(all), Some(label)) => self.names.is_one_of(label, all),
        }
    }

    /// The states so many levels below, or more.
    fn levels(&self, at: &States, levels: u32, exact: bool) -> States {
        let mut states = at.clone();
        for _ in 0..levels {
            states = self.below(&states);
        }
        if exact { states } else { self.descendants(&states) }
    }

    fn below(&self, at: &States) -> States {
        let mut states = vec![false; at.len()];
        for (state, _) in at.iter().enumerate().filter(|(_, there)| **there) {
            for &next in &self.advertisement.follow[state] {
                states[next as usize] = true;
            }
        }
        states
    }

    /// The states themselves and everything below.
    fn descendants(&self, at: &States) -> States {
        let mut states = at.clone();
        let mut open: Vec<usize> = (0..at.len()).filter(|&state| at[state]).collect();
        while let Some(state) = open.pop() {
            for &next in &self.advertisement.follow[state] {
                if !std::mem::replace(&mut states[next as usize], true) {
                    open.push(next as usize);
                }
            }
        }
        states
    }
}

/// Whether a condition asks for an element below.
fn has_path(condition: &Condition) -> bool {
    match condition {
        Condition::Exists(..) | Condition::Ordered(_) | Condition::Root(_) => true,
        Condition::And(parts) | Condition::Or(parts) => parts.iter().any(has_path),
        _ => false,
    }
}
