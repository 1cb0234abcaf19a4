//! The first node, in document order, that a path selects: what XPath's string functions look at.
//!
//! For every node of the document at once, step by step from the end of the path: if `next[y]` is the first node that
//! the rest of the path selects from `y`, then the first one from `x` is the least `next[y]` of the `y` that the step
//! reaches from `x`. Each axis takes one pass over the nodes.

use std::sync::Arc;

use super::arena::SharedStep;
use super::evaluate::Evaluator;
use super::tree::{NodeId, Tree};
use crate::pattern::Axis;
use crate::values::ValueTest;

const NONE: NodeId = NodeId::MAX;

impl Evaluator<'_> {
    /// By node: the first node that the path selects from it, or for an attribute the element that has it.
    pub(super) fn firsts(&mut self, path: &[SharedStep]) -> Arc<[NodeId]> {
        if let Some(known) = self.memory.firsts.get(path) {
            return known.clone();
        }
        let tree = self.tree;
        let mut next: Vec<NodeId> = (0..tree.len() as NodeId).collect();
        for step in path.iter().rev() {
            match step {
                SharedStep::Attribute(name, condition) => {
                    for node in 0..tree.len() as NodeId {
                        let has =
                            tree.attributes(node, *name).any(|value| self.value_satisfies(*condition, value));
                        next[node as usize] = if has { node } else { NONE };
                    }
                }
                SharedStep::Node(axis, pattern) => {
                    let (from, to) = self.fitting(*pattern);
                    let mut reached = vec![NONE; tree.len()];
                    for &node in self.memory.fitting_nodes(from, to) {
                        reached[node as usize] = next[node as usize];
                    }
                    next = least(tree, *axis, reached);
                }
            }
        }
        let firsts: Arc<[NodeId]> = next.into();
        self.memory.firsts.insert(path.to_vec(), firsts.clone());
        firsts
    }

    /// The first node that the path selects from a node, if it passes the test.
    pub(super) fn first_passes(
        &mut self,
        path: &[SharedStep],
        firsts: &[NodeId],
        node: NodeId,
        test: &ValueTest,
    ) -> Option<NodeId> {
        let tree = self.tree;
        let first = firsts[node as usize];
        if first == NONE {
            return None;
        }
        let passes = match path.last() {
            Some(SharedStep::Attribute(name, condition)) => tree
                .attributes(first, *name)
                .find(|value| self.value_satisfies(*condition, value))
                .is_some_and(|value| test.accepts(value)),
            _ => test.accepts(tree.value(first)),
        };
        passes.then_some(first)
    }
}

/// By node: the least value among the nodes that an axis reaches from it.
fn least(tree: &Tree, axis: Axis, values: Vec<NodeId>) -> Vec<NodeId> {
    let nodes = 0..tree.len() as NodeId;
    let mut out = vec![NONE; tree.len()];
    match axis {
        Axis::Down { min: 0, exact: true } => return values,
        Axis::Down { min, exact } => {
            // Children have larger numbers than their parents, so going backwards every subtree is complete.
            for node in nodes.rev() {
                let at = node as usize;
                let below = if exact { values[at] } else { values[at].min(out[at]) };
                if let Some(parent) = tree.parent(node) {
                    out[parent as usize] = out[parent as usize].min(below);
                }
            }
            if min == 0 {
                out.iter_mut().zip(&values).for_each(|(out, value)| *out = (*out).min(*value));
            }
            return (1..min).fold(out, |out, _| least(tree, Axis::CHILD, out));
        }
        Axis::Following => {
            let mut later = values;
            for at in (0..later.len().saturating_sub(1)).rev() {
                later[at] = later[at].min(later[at + 1]);
            }
            for node in nodes {
                out[node as usize] = later.get(tree.last(node) as usize + 1).copied().unwrap_or(NONE);
            }
        }
        Axis::Preceding => {
            // By place: the least value of the nodes that have ended there.
            let mut ended = vec![NONE; tree.len()];
            for node in nodes.clone() {
                let end = &mut ended[tree.last(node) as usize];
                *end = (*end).min(values[node as usize]);
            }
            for node in nodes.skip(1) {
                let at = node as usize;
                out[at] = ended[at - 1];
                ended[at] = ended[at].min(ended[at - 1]);
            }
        }
        Axis::FollowingSibling => siblings(tree, nodes.rev(), &values, &mut out),
        Axis::PrecedingSibling => siblings(tree, nodes, &values, &mut out),
    }
    out
}

/// The least value among the siblings that come earlier in the given order of nodes.
fn siblings(tree: &Tree, nodes: impl Iterator<Item = NodeId>, values: &[NodeId], out: &mut [NodeId]) {
    let mut passed = vec![NONE; values.len()];
    for node in nodes {
        if let Some(parent) = tree.parent(node) {
            let least = &mut passed[parent as usize];
            out[node as usize] = *least;
            *least = (*least).min(values[node as usize]);
        }
    }
}
