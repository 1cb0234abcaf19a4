//! The one value test by which a twig is looked up: among those it cannot do without, the one that passes least.

use super::tree::{Kind, Tree};
use super::values::{Holder, Passing, Selectivity, Subject, ValueIndex};
use crate::pattern::{Branch, Condition, NameTest, NodePattern, NodeTest};
use crate::values::ValueTest;

/// The test, and what must pass it somewhere in every document that satisfies the condition.
pub fn access(condition: &Condition) -> Option<(Subject, &ValueTest)> {
    let mut best = None;
    collect(condition, &mut best);
    best.map(|(_, subject, test)| (subject, test))
}

type Best<'c> = Option<(Selectivity, Subject, &'c ValueTest)>;

/// Only what every way to satisfy the condition needs: nothing below `or` and `not`.
fn collect<'c>(condition: &'c Condition, best: &mut Best<'c>) {
    match condition {
        Condition::And(parts) => parts.iter().for_each(|part| collect(part, best)),
        Condition::Root(inner) => collect(inner, best),
        Condition::Exists(_, pattern) => collect_pattern(pattern, best),
        Condition::Ordered(branches) => {
            for branch in branches {
                if let Branch::Exists { pattern, .. } = branch {
                    collect_pattern(pattern, best);
                }
            }
        }
        _ => {}
    }
}

fn collect_pattern<'c>(pattern: &'c NodePattern, best: &mut Best<'c>) {
    let element = match pattern.test {
        NodeTest::Element(NameTest::Name(name)) => Some(Holder::Named(name)),
        NodeTest::Element(NameTest::Any) => Some(Holder::Any),
        NodeTest::Text => Some(Holder::Text),
        _ => None,
    };
    if let Some(element) = element {
        for part in parts(&pattern.condition) {
            match part {
                Condition::Value(test) => consider(Subject { element, attribute: None }, test, best),
                Condition::Attribute(NameTest::Name(name), inner) => {
                    for part in parts(inner) {
                        if let Condition::Value(test) = part {
                            consider(Subject { element, attribute: Some(*name) }, test, best);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    collect(&pattern.condition, best);
}

fn parts(condition: &Condition) -> &[Condition] {
    match condition {
        Condition::And(parts) => parts,
        single => std::slice::from_ref(single),
    }
}

fn consider<'c>(subject: Subject, test: &'c ValueTest, best: &mut Best<'c>) {
    if let Some(selectivity) = ValueIndex::selectivity(test)
        && best.is_none_or(|(known, ..)| known < selectivity)
    {
        *best = Some((selectivity, subject, test));
    }
}

/// Looks up every value of a document.
pub fn look_up(index: &ValueIndex, tree: &Tree, passing: &mut Passing) {
    index.begin(passing);
    for node in 0..tree.len() as u32 {
        match tree.kind(node) {
            Kind::Element => {
                let name = tree.name(node);
                if index.asks(name) {
                    index.element(name, tree.value(node), passing);
                    for (attribute, value) in tree.all_attributes(node) {
                        index.attribute(name, attribute, value, passing);
                    }
                }
            }
            Kind::Text => index.text(tree.value(node), passing),
            _ => {}
        }
    }
}
