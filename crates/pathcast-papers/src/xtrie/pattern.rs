//! From a condition to the tree pattern that XTrie matches.
//!
//! A pattern node is a named element, an element without a name, a text node, or a *dummy*, which no start tag finds:
//! it stands for the element its parent stands for, or for any at its relative level, and says how branches go together:
//! all of them, any of them, none of them, or in order under different children. Dummies are how the paper
//! expresses hybrid matching; here they express `or` and `not`, wildcards that branch, conjunctions of paths from
//! the document node, and more than 64 branches as well.
//!
//! What is not taken: string functions on paths, `node()`, comments and instructions, what is asked of the document node
//! itself, and order axes that are no chain of siblings. Those stay with [`crate::twig`].

use super::levels::Gap;
use super::local::{When, height, on_value, reads_value, when};
use super::node::Special;
use super::order::{Chain, order_chain};
use pathcast_core::names::NameId;
use pathcast_core::pattern::{Axis, Branch, Condition, LinearPath, NameTest, NodePattern, NodeTest, Tail};

/// How the branches of a pattern node go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All, anywhere.
    All,
    /// At least one.
    Any,
    /// All, under different children, in this order.
    Ordered,
    /// None of them.
    Not,
}

/// What a pattern node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Name(NameId),
    Special(Special),
    /// What the nearest node above that is no dummy stands for: the same element.
    Same,
    Dummy,
}

/// A node of a tree pattern.
#[derive(Clone, Debug)]
pub(super) struct PatternNode {
    /// Levels below the parent, or the document node.
    pub(super) gap: Gap,
    pub(super) label: Label,
    /// Tests that are decided at the start tag.
    pub(super) starts: Vec<Condition>,
    /// Tests that are decided at the end tag.
    pub(super) ends: Vec<Condition>,
    pub(super) mode: Mode,
    pub(super) children: Vec<PatternNode>,
}

/// No state has more branches than bits.
const BRANCHES: usize = 64;

impl PatternNode {
    pub(super) fn new(gap: Gap, label: Label, mode: Mode) -> Self {
        Self { gap, label, starts: Vec::new(), ends: Vec::new(), mode, children: Vec::new() }
    }

    pub(super) fn dummy(gap: Gap, mode: Mode) -> Self {
        Self::new(gap, Label::Dummy, mode)
    }

    /// Tests go where they can be decided.
    fn test(&mut self, condition: &Condition, moment: When) {
        match moment {
            When::Start => self.starts.push(condition.clone()),
            When::End => self.ends.push(condition.clone()),
        }
    }

    /// Puts branches beyond the bits of a state under dummies.
    fn group(&mut self) {
        while matches!(self.mode, Mode::All | Mode::Any) && self.children.len() > BRANCHES {
            let children = std::mem::take(&mut self.children);
            let mut children = children.into_iter().peekable();
            while children.peek().is_some() {
                let mut dummy = Self::dummy(Gap::NONE, self.mode);
                dummy.children.extend(children.by_ref().take(BRANCHES));
                self.children.push(dummy);
            }
        }
    }
}

/// The tree pattern of a condition on the document node, if it is taken.
pub(super) fn tree_pattern(condition: &Condition) -> Option<PatternNode> {
    let mut builder = Builder::default();
    let mut document = PatternNode::dummy(Gap::NONE, Mode::All);
    builder.at_document(condition, &mut document)?;
    while let Some(hoisted) = builder.hoisted.pop() {
        builder.at_document(&hoisted, &mut document)?;
    }
    document.group();
    if document.children.len() == 1 {
        document = document.children.pop()?;
    }
    is_findable(&document).then_some(document)
}

/// Whether nothing is asked of the document node itself: no start tag finds it, and nothing ends at level 0.
fn is_findable(node: &PatternNode) -> bool {
    if node.gap.min > 0 {
        return true;
    }
    node.label == Label::Dummy
        && node.starts.is_empty()
        && node.ends.is_empty()
        && !node.children.is_empty()
        && node.children.iter().all(is_findable)
}

/// Whether the substring of this very element finds a branch, or tells that its text is needed.
fn lends_substring(node: &PatternNode) -> bool {
    let lends = |child: &PatternNode| match child.label {
        Label::Same => true,
        Label::Dummy => child.gap == Gap::NONE && lends_substring(child),
        Label::Name(_) | Label::Special(_) => false,
    };
    node.ends.iter().any(reads_value) || node.children.iter().any(lends)
}

/// The pattern of a linear path.
pub(super) fn path_pattern(path: &LinearPath) -> PatternNode {
    let mut last: Option<PatternNode> = None;
    match path.tail {
        Tail::End => {}
        Tail::Wild(levels) if path.steps.is_empty() => {
            last = Some(PatternNode::new(Gap::new(levels, true), Label::Special(Special::Any), Mode::All));
        }
        Tail::Wild(_) | Tail::Attribute { min: 0, exact: true, .. } => {} // tests on the last step
        Tail::Attribute { min, exact, name } => {
            let mut node = PatternNode::new(Gap::new(min, exact), Label::Special(Special::Any), Mode::All);
            node.starts.push(Condition::Attribute(name, Box::new(Condition::True)));
            node.label = special_label(&node);
            last = Some(node);
        }
    }
    for (at, step) in path.steps.iter().enumerate().rev() {
        let mut node = PatternNode::new(Gap::new(step.min, step.exact), label(step.name), Mode::All);
        if at + 1 == path.steps.len() {
            match path.tail {
                Tail::Wild(levels) => {
                    let wild =
                        NodePattern { test: NodeTest::Element(NameTest::Any), condition: Condition::True };
                    let axis = Axis::Down { min: levels, exact: true };
                    node.ends.push(Condition::Exists(axis, Box::new(wild)));
                }
                Tail::Attribute { min: 0, exact: true, name } => {
                    node.starts.push(Condition::Attribute(name, Box::new(Condition::True)));
                }
                _ => {}
            }
        }
        node.children.extend(last.take());
        last = Some(node);
    }
    last.unwrap_or_else(|| PatternNode::dummy(Gap::NONE, Mode::All))
}

fn label(name: NameTest) -> Label {
    match name {
        NameTest::Name(name) => Label::Name(name),
        NameTest::Partial(name) => Label::Special(Special::Partial(name)),
        NameTest::Any => Label::Special(Special::Any),
    }
}

/// An element without a name is found by an attribute it must have, if there is one: most elements lack it.
fn special_label(node: &PatternNode) -> Label {
    let required = node.starts.iter().find_map(|test| match test {
        Condition::Attribute(NameTest::Name(name), _) => Some(*name),
        _ => None,
    });
    match (node.label, required) {
        (Label::Special(Special::Any), Some(name)) => Label::Special(Special::Attribute(name)),
        (label, _) => label,
    }
}

#[derive(Default)]
struct Builder {
    /// Conditions on the document node that were found further down: they hold for the whole or not at all.
    hoisted: Vec<Condition>,
    /// Inside `or`: nothing can be hoisted out of it.
    alternatives: u32,
}

impl Builder {
    /// The document node has no tests of its own, and "some element so many levels down" is an element there.
    fn at_document(&mut self, condition: &Condition, document: &mut PatternNode) -> Option<()> {
        match condition {
            Condition::And(parts) => parts.iter().try_for_each(|part| self.at_document(part, document)),
            Condition::Exists(Axis::Down { min, exact }, pattern) => {
                let gap = Gap::new(*min, *exact);
                document.children.push(self.child(gap, pattern, true)?);
                Some(())
            }
            Condition::Or(_) | Condition::Ordered(_) if when(condition).is_none() => {
                self.structure(condition, document)
            }
            _ => None,
        }
    }

    /// What a condition says of an element goes into its pattern node.
    fn condition(&mut self, condition: &Condition, node: &mut PatternNode) -> Option<()> {
        let parts = match condition {
            Condition::And(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        let mut ordered = None;
        for part in parts {
            match (when(part), part) {
                (Some(_), Condition::True) => {}
                (Some(moment), _) => node.test(part, moment),
                (None, Condition::Ordered(_)) if ordered.is_none() => ordered = Some(part),
                (None, _) => self.structure(part, node)?,
            }
        }
        if let Some(part) = ordered {
            if node.children.is_empty() && node.label != Label::Dummy && node.mode == Mode::All {
                // All branches are ordered: no dummy is needed.
                node.mode = Mode::Ordered;
                self.branches(part, node)?;
            } else {
                self.structure(part, node)?;
            }
        }
        node.group();
        Some(())
    }

    /// A condition that looks below.
    fn structure(&mut self, condition: &Condition, node: &mut PatternNode) -> Option<()> {
        match condition {
            Condition::Exists(Axis::Down { min, exact }, pattern) => {
                node.children.push(self.child(Gap::new(*min, *exact), pattern, false)?);
            }
            Condition::Or(parts) => {
                let mut any = PatternNode::dummy(Gap::NONE, Mode::Any);
                self.alternatives += 1;
                for part in parts {
                    any.children.push(self.alternative(part)?);
                }
                self.alternatives -= 1;
                any.group();
                node.children.push(any);
            }
            Condition::Ordered(_) => {
                let mut group = PatternNode::dummy(Gap::NONE, Mode::Ordered);
                self.branches(condition, &mut group)?;
                node.children.push(group);
            }
            Condition::Not(inner) => {
                let mut not = PatternNode::new(Gap::NONE, Label::Same, Mode::Not);
                self.alternatives += 1;
                not.children.push(self.alternative(inner)?);
                self.alternatives -= 1;
                node.children.push(not);
            }
            Condition::Root(inner) if self.alternatives == 0 => self.hoisted.push((**inner).clone()),
            _ => return None,
        }
        Some(())
    }

    /// One of several: a branch, or a dummy that holds several. With tests alone it is found by the substring of the
    /// element that they are about.
    fn alternative(&mut self, condition: &Condition) -> Option<PatternNode> {
        let mut all = PatternNode::dummy(Gap::NONE, Mode::All);
        self.condition(condition, &mut all)?;
        match all.children.len() {
            0 => {
                all.label = Label::Same;
                Some(all)
            }
            1 if all.starts.is_empty() && all.ends.is_empty() => all.children.pop(),
            _ => Some(all),
        }
    }

    fn branches(&mut self, condition: &Condition, node: &mut PatternNode) -> Option<()> {
        let Condition::Ordered(branches) = condition else { return None };
        for branch in branches {
            let Branch::Exists { min, exact, pattern } = branch else { return None };
            node.children.push(self.child(Gap::new(*min, *exact), pattern, false)?);
        }
        Some(())
    }

    /// A node below, or the dummy that ties it to the siblings it must have.
    fn child(&mut self, gap: Gap, pattern: &NodePattern, at_document: bool) -> Option<PatternNode> {
        match order_chain(gap, pattern, at_document)? {
            Chain::Single => self.element(gap, &pattern.test, std::slice::from_ref(&pattern.condition)),
            Chain::Ordered { above, below, links } => {
                let mut group = PatternNode::dummy(above, Mode::Ordered);
                for (test, conditions) in links {
                    let conditions: Vec<Condition> = conditions.into_iter().cloned().collect();
                    group.children.push(self.element(below, test, &conditions)?);
                }
                Some(group)
            }
        }
    }

    fn element(&mut self, gap: Gap, test: &NodeTest, conditions: &[Condition]) -> Option<PatternNode> {
        match test {
            NodeTest::Element(name) => {
                let mut node = PatternNode::new(gap, label(*name), Mode::All);
                match conditions {
                    [single] => self.condition(single, &mut node)?,
                    several => {
                        self.condition(&pathcast_core::pattern::and(several.iter().cloned()), &mut node)?
                    }
                }
                node.label = special_label(&node);
                let bare = node.label == Label::Special(Special::Any) && !node.children.is_empty();
                if bare && gap.min > 0 && !lends_substring(&node) {
                    // Every start tag would find it, so it is left to its branches.
                    node.label = Label::Dummy;
                }
                Some(node)
            }
            NodeTest::Text => {
                // An element is no text node.
                let gap = Gap::new(gap.min.max(1), gap.exact);
                let mut node = PatternNode::new(gap, Label::Special(Special::Text), Mode::All);
                for condition in conditions.iter().filter(|condition| **condition != Condition::True) {
                    if !on_value(condition) || height(condition).is_some() {
                        return None;
                    }
                    node.ends.push(condition.clone());
                }
                Some(node)
            }
            NodeTest::Node | NodeTest::Comment | NodeTest::Instruction(_) => None,
        }
    }
}
