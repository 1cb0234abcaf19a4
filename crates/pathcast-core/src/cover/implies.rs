//! Does one condition follow from another? For tree patterns, by homomorphism.
//!
//! What the specific expression says is a tree of facts about nodes. The general expression is a goal: each of its
//! nodes is mapped to a node of that tree, its tests and conditions must follow from what is known there. Wildcards
//! that only lead on are no nodes of the normal form, so a goal that is a wildcard with conditions may also be mapped
//! to a level within a gap. A disjunction among the facts is split: the goal must follow from each part.
//!
//! **Sound, not complete**: containment of tree patterns with `//`, `*` and branches is coNP-complete, so some true
//! coverings are missed, and none is claimed that is none. For linear paths it is not used ([`super::word`] is exact).
//! Every step is counted against a budget and an exhausted budget answers no, so the cost is bounded.

use std::cell::Cell;

use super::values::{excludes, follows};
use super::word::accepts;
use crate::names::Names;
use crate::pattern::{Axis, Branch, Condition, NameTest, NodePattern, NodeTest};
use crate::values::ValueTest;

/// Steps of one proof.
const BUDGET: u32 = 20_000;

/// Whether every document that satisfies the specific condition satisfies the general one.
pub(super) fn implies(specific: &Condition, general: &Condition, names: &Names) -> bool {
    Prover::new(specific, speaks_of_document(specific), names).proves(general)
}

/// What sort of node the facts are about.
#[derive(Clone, Copy)]
enum Kind<'a> {
    Document,
    Attribute,
    Node(&'a NodeTest),
    /// An element within a gap.
    Element,
}

/// Something known of a node.
#[derive(Clone, Copy)]
enum Fact<'a> {
    Is(&'a Condition),
    /// A node that fits, so many levels below.
    Down(u32, bool, &'a NodePattern),
}

/// A node that a goal asks for.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    min: u32,
    exact: bool,
    pattern: &'a NodePattern,
}

/// What follows from one condition.
pub(super) struct Prover<'a> {
    names: &'a Names,
    specific: &'a Condition,
    document: Vec<Fact<'a>>,
    left: Cell<u32>,
}

/// A conjunction as a list.
fn flat(condition: &Condition) -> Vec<Fact<'_>> {
    let mut facts = Vec::new();
    push(condition, &mut facts);
    facts
}

/// Whether a condition says something of the document node from within: few do, and to look for it takes as long as
/// many a proof.
pub(super) fn speaks_of_document(condition: &Condition) -> bool {
    match condition {
        Condition::And(parts) => parts.iter().any(speaks_of_document),
        Condition::Exists(_, pattern) => speaks_of_document(&pattern.condition),
        Condition::Attribute(_, inner) => speaks_of_document(inner),
        Condition::Root(_) => true,
        _ => false,
    }
}

/// What a condition says of the document node from within.
fn said_of_document<'a>(condition: &'a Condition, facts: &mut Vec<Fact<'a>>) {
    match condition {
        Condition::And(parts) => parts.iter().for_each(|part| said_of_document(part, facts)),
        Condition::Exists(_, pattern) => said_of_document(&pattern.condition, facts),
        Condition::Attribute(_, inner) => said_of_document(inner, facts),
        Condition::Root(inner) => {
            push(inner, facts);
            said_of_document(inner, facts);
        }
        _ => {}
    }
}

fn push<'a>(condition: &'a Condition, facts: &mut Vec<Fact<'a>>) {
    match condition {
        Condition::True => {}
        Condition::And(parts) => parts.iter().for_each(|part| push(part, facts)),
        Condition::Exists(Axis::Down { min, exact }, pattern) => {
            facts.push(Fact::Down(*min, *exact, pattern));
        }
        Condition::Ordered(branches) => {
            facts.push(Fact::Is(condition));
            for branch in branches {
                if let Branch::Exists { min, exact, pattern } = branch {
                    facts.push(Fact::Down(*min, *exact, pattern));
                }
            }
        }
        other => facts.push(Fact::Is(other)),
    }
}

impl<'a> Prover<'a> {
    /// `speaks` as [`speaks_of_document`] has it.
    pub(super) fn new(specific: &'a Condition, speaks: bool, names: &'a Names) -> Self {
        let mut document = flat(specific);
        if speaks {
            said_of_document(specific, &mut document);
        }
        Self { names, specific, document, left: Cell::new(0) }
    }

    /// Whether every document that satisfies the condition satisfies the general one.
    pub(super) fn proves(&self, general: &Condition) -> bool {
        self.left.set(BUDGET);
        // A condition follows from itself, and the proof finds it unless it is too long.
        self.holds(Kind::Document, &self.document, general)
            || self.left.get() == 0 && general == self.specific
    }

    fn spend(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }

    fn holds(&self, kind: Kind<'_>, facts: &[Fact<'_>], goal: &Condition) -> bool {
        if !self.spend() {
            return false;
        }
        match goal {
            Condition::True => true,
            Condition::And(parts) => parts.iter().all(|part| self.holds(kind, facts, part)),
            Condition::Exists(Axis::Down { min, exact }, pattern) => {
                let wanted = Wanted { min: *min, exact: *exact, pattern };
                (*min == 0 && self.fits(kind, facts, pattern))
                    || self.below(facts, 0, true, wanted)
                    || self.split(facts, |facts| self.holds(kind, facts, goal))
            }
            _ => self.outright(kind, facts, goal) || self.split(facts, |facts| self.holds(kind, facts, goal)),
        }
    }

    /// Tries each part of the first disjunction among the facts.
    fn split(&self, facts: &[Fact<'_>], mut follows: impl FnMut(&[Fact<'_>]) -> bool) -> bool {
        let disjunction = facts.iter().enumerate().find_map(|(at, fact)| match fact {
            Fact::Is(Condition::Or(parts)) => Some((at, parts)),
            _ => None,
        });
        let Some((at, parts)) = disjunction else { return false };
        parts.iter().all(|part| {
            let mut case: Vec<_> = facts[..at].iter().chain(&facts[at + 1..]).copied().collect();
            push(part, &mut case);
            self.spend() && follows(&case)
        })
    }

    fn outright(&self, kind: Kind<'_>, facts: &[Fact<'_>], goal: &Condition) -> bool {
        let known =
            || facts.iter().filter_map(|fact| if let Fact::Is(known) = fact { Some(*known) } else { None });
        if known().any(|fact| *fact == Condition::False || fact == goal) {
            return true;
        }
        match goal {
            Condition::Or(parts) => parts.iter().any(|part| self.holds(kind, facts, part)),
            Condition::Not(inner) => self.refutes(kind, facts, inner),
            Condition::Exists(axis, pattern) => known().any(|fact| {
                matches!(fact, Condition::Exists(other, found)
                    if is_within(*other, *axis) && self.matches_pattern(found, pattern))
            }),
            Condition::Is(test) => {
                self.is_a(kind, test)
                    || known().any(|fact| matches!(fact, Condition::Is(other) if self.test(test, other)))
            }
            Condition::Attribute(name, inner) => self.attribute(facts, *name, inner),
            Condition::Value(test) => follows(&tests(facts), test),
            Condition::First(path, test) => known().any(|fact| {
                matches!(fact, Condition::First(other, known) if other == path && follows(&[known], test))
            }),
            Condition::Root(inner) => self.holds(Kind::Document, &self.document, inner),
            Condition::Ordered(branches) => known().any(|fact| {
                matches!(fact, Condition::Ordered(found) if self.ordered(found, branches))
            }),
            Condition::True | Condition::False | Condition::And(_) | Condition::Typed(_) => false,
        }
    }

    /// Whether the facts say that a condition does not hold.
    fn refutes(&self, kind: Kind<'_>, facts: &[Fact<'_>], condition: &Condition) -> bool {
        match condition {
            Condition::False => true,
            Condition::Or(parts) => parts.iter().all(|part| self.refutes(kind, facts, part)),
            Condition::Not(inner) => self.holds(kind, facts, inner),
            Condition::Value(test) if excludes(&tests(facts), test) => true,
            // There is one attribute of a name, so what is known of it is known of all.
            Condition::Attribute(name @ NameTest::Name(_), inner)
                if self.attribute_refutes(facts, *name, inner) =>
            {
                true
            }
            // What contradicts a weaker condition contradicts this one.
            _ => facts.iter().any(|fact| {
                matches!(fact, Fact::Is(Condition::Not(denied))
                    if self.holds(kind, &flat(condition), denied))
            }),
        }
    }

    fn attribute_refutes(&self, facts: &[Fact<'_>], name: NameTest, condition: &Condition) -> bool {
        let mut known = Vec::new();
        let mut there = false;
        for fact in facts {
            if let Fact::Is(Condition::Attribute(found, inner)) = fact
                && *found == name
            {
                there = true;
                push(inner, &mut known);
            }
        }
        there && self.refutes(Kind::Attribute, &known, condition)
    }

    /// An attribute so named; all that is known of one attribute is taken together.
    fn attribute(&self, facts: &[Fact<'_>], name: NameTest, goal: &Condition) -> bool {
        let mut seen = Vec::new();
        for fact in facts {
            let Fact::Is(Condition::Attribute(found, inner)) = fact else { continue };
            if !accepts(name, *found, self.names) {
                continue;
            }
            let mut known = flat(inner);
            if let NameTest::Name(_) = found {
                if seen.contains(found) {
                    continue;
                }
                seen.push(*found);
                for other in facts {
                    if let Fact::Is(Condition::Attribute(again, inner)) = other
                        && again == found
                    {
                        push(inner, &mut known);
                    }
                }
            }
            if self.holds(Kind::Attribute, &known, goal) {
                return true;
            }
        }
        false
    }

    /// Whether a node that fits is known below, `min` levels already being passed.
    fn below(&self, facts: &[Fact<'_>], min: u32, exact: bool, wanted: Wanted<'_>) -> bool {
        facts.iter().any(|fact| {
            let Fact::Down(further, exactly, found) = fact else { return false };
            let (level, sure) = (min + further, exact && *exactly);
            self.spend()
                && (self.at(level, sure, found, wanted)
                    || self.between(min, exact, (*further, *exactly, found), wanted)
                    || self.deeper(found, level, sure, wanted))
        })
    }

    /// The same below a node that was found, in each case of what is known of it.
    fn deeper(&self, found: &NodePattern, level: u32, sure: bool, wanted: Wanted<'_>) -> bool {
        // Nothing below can be near enough.
        if wanted.exact && !is_any(wanted.pattern) && level > wanted.min {
            return false;
        }
        let facts = flat(&found.condition);
        self.below(&facts, level, sure, wanted)
            || self.split(&facts, |facts| self.below(facts, level, sure, wanted))
    }

    fn at(&self, level: u32, sure: bool, found: &NodePattern, wanted: Wanted<'_>) -> bool {
        if is_any(wanted.pattern) {
            // Above a node that was found there are elements on every level.
            return level > wanted.min || level == wanted.min && self.test(&wanted.pattern.test, &found.test);
        }
        let near = if wanted.exact { sure && level == wanted.min } else { level >= wanted.min };
        near && self.matches_pattern(found, wanted.pattern)
    }

    /// A wildcard with conditions may stand on a level within a gap.
    fn between(&self, min: u32, exact: bool, gap: (u32, bool, &NodePattern), wanted: Wanted<'_>) -> bool {
        let (further, exactly, found) = gap;
        let wild = matches!(wanted.pattern.test, NodeTest::Node | NodeTest::Element(NameTest::Any));
        if !wild || is_any(wanted.pattern) {
            return false;
        }
        (1..further).any(|levels| {
            // Counted from above the distance is exact; from below, the rest of the way is.
            let from_above = (min + levels, exact, Fact::Down(further - levels, exactly, found));
            let from_below = (min + levels, exact && exactly, Fact::Down(further - levels, true, found));
            let mut ways = [Some(from_above), (!exactly).then_some(from_below)].into_iter().flatten();
            ways.any(|(level, sure, rest)| {
                let near = if wanted.exact { sure && level == wanted.min } else { level >= wanted.min };
                near && self.spend() && self.holds(Kind::Element, &[rest], &wanted.pattern.condition)
            })
        })
    }

    fn matches_pattern(&self, found: &NodePattern, wanted: &NodePattern) -> bool {
        self.test(&wanted.test, &found.test)
            && self.holds(Kind::Node(&found.test), &flat(&found.condition), &wanted.condition)
    }

    /// Whether the node itself fits a pattern.
    fn fits(&self, kind: Kind<'_>, facts: &[Fact<'_>], pattern: &NodePattern) -> bool {
        self.is_a(kind, &pattern.test) && self.holds(kind, facts, &pattern.condition)
    }

    fn is_a(&self, kind: Kind<'_>, test: &NodeTest) -> bool {
        match kind {
            Kind::Document | Kind::Attribute => *test == NodeTest::Node,
            Kind::Node(known) => self.test(test, known),
            Kind::Element => matches!(test, NodeTest::Node | NodeTest::Element(NameTest::Any)),
        }
    }

    /// Whether a node test accepts every node that another accepts.
    fn test(&self, general: &NodeTest, specific: &NodeTest) -> bool {
        match (general, specific) {
            (NodeTest::Node, _) | (NodeTest::Instruction(None), NodeTest::Instruction(_)) => true,
            (NodeTest::Element(general), NodeTest::Element(specific)) => {
                accepts(*general, *specific, self.names)
            }
            _ => general == specific,
        }
    }

    /// The wanted branches in order among the branches that are known, each under a child of its own.
    fn ordered(&self, found: &[Branch], wanted: &[Branch]) -> bool {
        let mut rest = found.iter();
        wanted.iter().all(|goal| rest.by_ref().any(|branch| self.branch(branch, goal)))
    }

    fn branch(&self, found: &Branch, wanted: &Branch) -> bool {
        match (found, wanted) {
            (
                Branch::Exists { min, exact, pattern },
                Branch::Exists { min: least, exact: exactly, pattern: goal },
            ) => {
                let wanted = Wanted { min: *least, exact: *exactly, pattern: goal };
                self.below(&[Fact::Down(*min, *exact, pattern)], 0, true, wanted)
            }
            (Branch::First(path, known), Branch::First(other, test)) => {
                path == other && follows(&[known], test)
            }
            _ => false,
        }
    }
}

/// Whether only being there is asked for; then "so many levels down" and "so many or more" are the same.
fn is_any(pattern: &NodePattern) -> bool {
    pattern.condition == Condition::True
        && matches!(pattern.test, NodeTest::Node | NodeTest::Element(NameTest::Any))
}

/// Whether every node along the first axis is on the second.
fn is_within(first: Axis, second: Axis) -> bool {
    first == second
        || matches!(
            (first, second),
            (Axis::FollowingSibling, Axis::Following) | (Axis::PrecedingSibling, Axis::Preceding)
        )
}

fn tests<'a>(facts: &[Fact<'a>]) -> Vec<&'a ValueTest> {
    let tests = facts.iter().filter_map(|fact| match fact {
        Fact::Is(Condition::Value(test)) => Some(test),
        _ => None,
    });
    tests.collect()
}
