//! Linear paths by which expressions are found again: those that an expression needs, and those that it has.
//!
//! If a general expression follows from a specific one, then each linear path that the general one needs covers some
//! linear path that the specific one has. So one needed path is enough to find the general ones, and all paths that it
//! has to find the specific ones.

use crate::pattern::{
    Axis, Branch, Condition, LinearPath, LinearStep, NameTest, NodePattern, NodeTest, Tail, Trigger,
    as_linear, trigger,
};

/// Paths that are kept of one expression; with more, some coverings are not found.
const PATHS: usize = 16;

/// Paths of which a document that satisfies the condition has one; none when there is no such set.
pub(super) fn needed(condition: &Condition) -> Vec<LinearPath> {
    match as_linear(condition) {
        Some(path) => vec![path],
        None => match trigger(condition) {
            Trigger::AnyOf(paths) if paths.len() <= PATHS => paths,
            _ => Vec::new(),
        },
    }
}

/// Paths that every document has which satisfies the condition, as long as they can be.
pub(super) fn had(condition: &Condition) -> Vec<LinearPath> {
    if let Some(path) = as_linear(condition) {
        return vec![path];
    }
    let mut paths = Vec::new();
    Way::default().collect(condition, &mut paths);
    paths.truncate(PATHS);
    paths
}

/// The way to the node that a condition is about.
#[derive(Clone, Default)]
struct Way {
    steps: Vec<LinearStep>,
    gap: u32,
    open: bool,
}

impl Way {
    fn collect(&self, condition: &Condition, paths: &mut Vec<LinearPath>) {
        if paths.len() > PATHS {
            return;
        }
        match condition {
            Condition::And(parts) => parts.iter().for_each(|part| self.collect(part, paths)),
            // What follows from a disjunction follows from its first part.
            Condition::Or(parts) => parts.iter().take(1).for_each(|part| self.collect(part, paths)),
            Condition::Exists(Axis::Down { min, exact }, pattern) => {
                self.down(*min, *exact, pattern, paths);
            }
            Condition::Ordered(branches) => {
                for branch in branches {
                    match branch {
                        Branch::Exists { min, exact, pattern } => self.down(*min, *exact, pattern, paths),
                        Branch::First(..) => self.end(paths),
                    }
                }
            }
            Condition::Attribute(name, _) => {
                let tail = Tail::Attribute { min: self.gap, exact: !self.open, name: *name };
                paths.push(LinearPath { steps: self.steps.clone(), tail });
            }
            Condition::Root(inner) => Self::default().collect(inner, paths),
            _ => self.end(paths),
        }
    }

    fn end(&self, paths: &mut Vec<LinearPath>) {
        if !self.steps.is_empty() || self.gap > 0 {
            let tail = if self.gap > 0 { Tail::Wild(self.gap) } else { Tail::End };
            paths.push(LinearPath { steps: self.steps.clone(), tail });
        }
    }

    fn down(&self, min: u32, exact: bool, pattern: &NodePattern, paths: &mut Vec<LinearPath>) {
        let mut way = self.clone();
        way.open |= !exact;
        match &pattern.test {
            NodeTest::Element(NameTest::Any) => {
                way.gap += min;
                way.collect(&pattern.condition, paths);
            }
            // Zero levels down from a node with a name of its own: the way here is sure.
            NodeTest::Element(name) if way.gap + min > 0 => {
                way.steps.push(LinearStep { min: way.gap + min, exact: !way.open, name: *name });
                (way.gap, way.open) = (0, false);
                way.collect(&pattern.condition, paths);
            }
            // Text and its like: the element around it is sure.
            _ => {
                way.gap += min.saturating_sub(1);
                way.end(paths);
            }
        }
    }
}
