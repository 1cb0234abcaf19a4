//! What must be in a document before a twig can hold: a cheap test that spares deciding most candidates.
//!
//! `/news[@edition = 'noon']//category[. < 5]` needs some `news` with that attribute and some `category` with such a
//! value, wherever they are. Few such needs are shared by many subscriptions, so each is looked up once a document and
//! a candidate that lacks one is given up without a look at its structure. On 20,000 subscriptions with value tests
//! nearly all candidates end here.

use super::arena::{Arena, PatternId};
use super::evaluate::Evaluator;
use crate::pattern::{Branch, Condition, NameTest, NodePattern, NodeTest};

/// Patterns that some node must fit.
#[derive(Clone, Debug, Default)]
pub struct Necessary(Box<[PatternId]>);

impl Arena {
    /// What a condition needs. To be given back with [`Arena::release_necessary`].
    pub fn intern_necessary(&mut self, condition: &Condition) -> Necessary {
        let mut needs = Vec::new();
        collect(condition, &mut needs);
        needs.sort_unstable();
        needs.dedup();
        Necessary(needs.iter().map(|pattern| self.intern_pattern(pattern)).collect())
    }

    /// Gives back what a condition needs.
    pub fn release_necessary(&mut self, necessary: &Necessary) {
        for &pattern in &necessary.0 {
            self.release_pattern(pattern);
        }
    }
}

impl Necessary {
    /// Heap bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.0.len() * size_of::<PatternId>()
    }
}

impl Evaluator<'_> {
    /// Whether everything that is needed is there.
    pub fn has(&mut self, necessary: &Necessary) -> bool {
        self.make_room();
        necessary.0.iter().all(|&pattern| {
            let (from, to) = self.fitting(pattern);
            from < to
        })
    }
}

/// Only what every way to satisfy the condition needs: nothing below `or` and `not`.
fn collect(condition: &Condition, needs: &mut Vec<NodePattern>) {
    match condition {
        Condition::And(parts) => parts.iter().for_each(|part| collect(part, needs)),
        Condition::Root(inner) => collect(inner, needs),
        Condition::Exists(_, pattern) => collect_pattern(pattern, needs),
        Condition::Ordered(branches) => {
            for branch in branches {
                if let Branch::Exists { pattern, .. } = branch {
                    collect_pattern(pattern, needs);
                }
            }
        }
        _ => {}
    }
}

fn collect_pattern(pattern: &NodePattern, needs: &mut Vec<NodePattern>) {
    // Elements by name are quickly found; all others would be a walk over the document.
    if matches!(pattern.test, NodeTest::Element(NameTest::Name(_))) {
        let parts = match &pattern.condition {
            Condition::And(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        for part in parts.iter().filter(|part| matches!(part, Condition::Attribute(..) | Condition::Value(_)))
        {
            needs.push(NodePattern { test: pattern.test.clone(), condition: part.clone() });
        }
    }
    collect(&pattern.condition, needs);
}
