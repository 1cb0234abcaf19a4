//! What of a condition the automaton decides, and whether that is all of it.
//!
//! The automaton looks down and at values. What looks sideways, back or at comments is left out of a condition here, so
//! that the rest is necessary: every document that satisfies the condition satisfies the rest. A subscription whose rest
//! is not all of it is decided on a tree of the document, when its rest holds. Anything else that is decided on a tree
//! can be gated in the same way by any condition that is necessary for it.

use super::computed::computation;
use crate::pattern::{
    Axis, Branch, Condition, FirstStep, NameTest, NodePattern, NodeTest, and, exists, not, or,
};
use crate::values::ValueTest;

/// A condition in the terms of the automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// What must hold.
    pub necessary: Condition,
    /// Whether that is enough.
    pub exact: bool,
}

/// The gate of a condition on the document node.
pub fn gate(condition: &Condition) -> Gate {
    let mut gate = Weakening { exact: true, document: Vec::new() };
    let weak = gate.weaken(condition, true, true);
    let exact = gate.exact;
    gate.document.push(weak);
    Gate { necessary: and(gate.document), exact }
}

struct Weakening {
    exact: bool,
    /// What the document node must satisfy besides.
    document: Vec<Condition>,
}

impl Weakening {
    /// `document`: asked of the document node, not of an element. `needed`: every way to satisfy the whole needs it.
    fn weaken(&mut self, condition: &Condition, document: bool, needed: bool) -> Condition {
        match condition {
            Condition::True | Condition::False => condition.clone(),
            Condition::And(parts) => and(parts.iter().map(|part| self.weaken(part, document, needed))),
            Condition::Or(parts) => or(parts.iter().map(|part| self.weaken(part, document, false))),
            Condition::Not(inner) => {
                let mut opposite = Self { exact: true, document: Vec::new() };
                let weak = opposite.weaken(inner, document, false);
                if opposite.exact { not(weak) } else { self.unknown() }
            }
            Condition::Exists(Axis::Down { min, exact }, pattern) => {
                self.below(*min, *exact, pattern, document, needed)
            }
            Condition::Exists(_, pattern) => {
                if needed {
                    let somewhere = self.below(1, false, pattern, true, true);
                    self.document.push(somewhere);
                }
                self.unknown()
            }
            Condition::Typed(typed) if !document && computation(typed).is_some() => condition.clone(),
            Condition::Typed(_) => self.unknown(),
            Condition::Is(NodeTest::Element(NameTest::Any)) if !document => Condition::True,
            Condition::Is(NodeTest::Element(_)) if !document => condition.clone(),
            Condition::Is(test) => {
                if *test == NodeTest::Node {
                    Condition::True
                } else {
                    Condition::False
                }
            }
            Condition::Attribute(name, value) => self.attribute(*name, value),
            Condition::Value(_) if document => self.unknown(),
            Condition::Value(_) => condition.clone(),
            Condition::First(path, _) if is_plain(path) => condition.clone(),
            Condition::First(path, test) => {
                self.exact = false;
                let some = some_node(path, test);
                self.weaken(&some, document, needed)
            }
            Condition::Root(inner) => {
                if needed {
                    let root = self.weaken(inner, true, true);
                    self.document.push(root);
                }
                self.unknown()
            }
            Condition::Ordered(branches) => {
                self.exact = false;
                let exist = branches.iter().map(|branch| match branch {
                    Branch::Exists { min, exact, pattern } => {
                        self.below(*min, *exact, pattern, document, needed)
                    }
                    Branch::First(path, test) => {
                        let some = some_node(path, test);
                        self.weaken(&some, document, needed)
                    }
                });
                and(exist.collect::<Vec<_>>())
            }
        }
    }

    /// Anything may be so.
    fn unknown(&mut self) -> Condition {
        self.exact = false;
        Condition::True
    }

    fn below(
        &mut self,
        min: u32,
        exact: bool,
        pattern: &NodePattern,
        document: bool,
        needed: bool,
    ) -> Condition {
        let axis = Axis::Down { min, exact };
        match &pattern.test {
            // Twice the same condition, so not within itself.
            NodeTest::Element(_) if min == 0 && (document || reaches_itself(&pattern.condition)) => {
                self.unknown()
            }
            NodeTest::Element(name) => {
                let weak = self.weaken(&pattern.condition, false, needed);
                let test = NodeTest::Element(*name);
                if min > 0 {
                    return down(axis, test, weak);
                }
                let same = if *name == NameTest::Any { Condition::True } else { Condition::Is(test.clone()) };
                or([and([same, weak.clone()]), down(Axis::DESCENDANT, test, weak)])
            }
            NodeTest::Text if min > 0 => {
                let value = match &pattern.condition {
                    Condition::True | Condition::Value(_) => pattern.condition.clone(),
                    _ => self.unknown(),
                };
                let text = |min| exists(Axis::Down { min, exact: true }, NodeTest::Text, value.clone());
                // The document node has no text of its own.
                let own = if document && min == 1 { Condition::False } else { text(min) };
                let deeper =
                    || down(Axis::Down { min, exact: false }, NodeTest::Element(NameTest::Any), text(1));
                if exact { own } else { or([own, deeper()]) }
            }
            _ => self.unknown(),
        }
    }

    fn attribute(&mut self, name: NameTest, value: &Condition) -> Condition {
        match value {
            Condition::True | Condition::Value(_) => Condition::Attribute(name, Box::new(value.clone())),
            Condition::Or(parts) => or(parts.iter().map(|part| self.attribute(name, part))),
            _ => {
                self.exact = false;
                Condition::Attribute(name, Box::new(Condition::True))
            }
        }
    }
}

/// Some element below. Text at any depth stays the text of an element at any depth.
fn down(axis: Axis, test: NodeTest, condition: Condition) -> Condition {
    let is_text = matches!(&condition, Condition::Exists(_, pattern) if pattern.test == NodeTest::Text);
    if is_text && !matches!(axis, Axis::Down { exact: true, .. }) {
        return Condition::Exists(axis, Box::new(NodePattern { test, condition }));
    }
    exists(axis, test, condition)
}

/// Whether a path leads a fixed number of levels down by names alone, so that its nodes end in document order.
fn is_plain(path: &[FirstStep]) -> bool {
    let plain = path.iter().enumerate().all(|(at, step)| match step {
        FirstStep::Node(
            Axis::Down { min, exact: true },
            NodePattern { test, condition: Condition::True },
        ) => {
            *min > 0
                && (matches!(test, NodeTest::Element(_)) || *test == NodeTest::Text && at + 1 == path.len())
        }
        FirstStep::Attribute(NameTest::Name(_), Condition::True) => at > 0,
        _ => false,
    });
    plain && !path.is_empty()
}

/// Some node that the path selects passes the test.
fn some_node(path: &[FirstStep], test: &ValueTest) -> Condition {
    let value = Condition::Value(test.clone());
    path.iter().rev().fold(value, |found, step| match step {
        FirstStep::Node(axis, pattern) => {
            exists(*axis, pattern.test.clone(), and([pattern.condition.clone(), found]))
        }
        FirstStep::Attribute(name, condition) => {
            Condition::Attribute(*name, Box::new(and([condition.clone(), found])))
        }
    })
}

/// Whether "zero or more levels down" occurs in a condition.
fn reaches_itself(condition: &Condition) -> bool {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => parts.iter().any(reaches_itself),
        Condition::Not(inner) => reaches_itself(inner),
        Condition::Exists(Axis::Down { min: 0, .. }, _) => true,
        Condition::Exists(_, pattern) => reaches_itself(&pattern.condition),
        _ => false,
    }
}
