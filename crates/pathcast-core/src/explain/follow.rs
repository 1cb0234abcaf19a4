//! Follows a path forwards, a set of nodes at a time.

use super::picture::Picture;
use super::reading::{End, Reach, Reading};
use super::{Part, Step};
use crate::pattern::Axis;
use crate::twig::{Arena, ConditionId, Evaluator, Memory, NodeId, Tree};

/// How many nodes of a step are named.
const NAMED: usize = 5;

pub(super) struct Follower<'a> {
    picture: &'a Picture,
    evaluator: Evaluator<'a>,
}

impl<'a> Follower<'a> {
    pub(super) fn new(picture: &'a Picture, arena: &'a Arena, memory: &'a mut Memory) -> Self {
        Self { picture, evaluator: Evaluator::new(arena, &picture.tree, memory) }
    }

    pub(super) fn holds(&mut self, condition: ConditionId) -> bool {
        self.evaluator.holds(condition)
    }

    /// What each step of a path finds, up to the first that finds nothing.
    pub(super) fn follow(&mut self, reading: &Reading) -> Part {
        let tree = &self.picture.tree;
        let mut nodes: Vec<NodeId> =
            if reading.absolute { vec![0] } else { (0..tree.len() as NodeId).collect() };
        let mut steps = Vec::new();
        let mut at_attribute = None;
        for step in &reading.steps {
            match &step.reach {
                Reach::Node(..) if at_attribute.is_some() => {} // `.` after an attribute
                Reach::Node(axis, test) => {
                    let mut reached = forward(tree, *axis, &nodes);
                    reached.retain(|&node| tree.passes(node, test));
                    nodes = self.evaluator.filter(step.condition, reached);
                }
                Reach::Attribute { found, compared } => {
                    nodes = self.evaluator.filter(*found, nodes);
                    at_attribute = Some((step.text.trim_start_matches('/').to_owned(), *compared));
                }
            }
            if step.slashes {
                continue;
            }
            let attribute = at_attribute.as_ref().map(|(text, _)| text.as_str());
            steps.push(self.step(step.text.clone(), &nodes, attribute));
            if nodes.is_empty() {
                break;
            }
        }
        let matched = self.holds(reading.verdict);
        let attribute = at_attribute.as_ref().map(|(text, _)| text.as_str());
        match &reading.end {
            End::Comparison(text, condition) if !nodes.is_empty() => {
                let condition = at_attribute.as_ref().map_or(*condition, |(_, compared)| *compared);
                let passing = self.evaluator.filter(condition, nodes);
                steps.push(self.step(text.clone(), &passing, attribute));
            }
            End::Whole(text) if !nodes.is_empty() && !matched => {
                steps.push(self.step(text.clone(), &[], attribute));
            }
            _ => {}
        }
        Part { text: reading.text.clone(), matched, steps }
    }

    fn step(&self, text: String, nodes: &[NodeId], attribute: Option<&str>) -> Step {
        let label = |&node: &NodeId| {
            let label = self.picture.label(node);
            attribute.map_or(label.clone(), |attribute| format!("{label}/{attribute}"))
        };
        Step { text, count: nodes.len(), nodes: nodes.iter().take(NAMED).map(label).collect() }
    }
}

/// All nodes that an axis reaches from any of some nodes, in document order.
fn forward(tree: &Tree, axis: Axis, nodes: &[NodeId]) -> Vec<NodeId> {
    let mut within = vec![false; tree.len()];
    nodes.iter().for_each(|&node| within[node as usize] = true);
    let all = 0..tree.len() as NodeId;
    let parent_within = |node: NodeId| tree.parent(node).is_some_and(|parent| within[parent as usize]);
    match axis {
        Axis::Down { min: 0, exact: true } => nodes.to_vec(),
        Axis::Down { exact: true, .. } => all.filter(|&node| parent_within(node)).collect(),
        Axis::Down { min, .. } => {
            let mut below = vec![false; tree.len()];
            for node in all.clone() {
                let from_parent = tree.parent(node).is_some_and(|parent| below[parent as usize]);
                below[node as usize] = from_parent || parent_within(node);
            }
            all.filter(|&node| below[node as usize] || min == 0 && within[node as usize]).collect()
        }
        Axis::Following => {
            let end = nodes.iter().map(|&node| tree.last(node)).min();
            all.filter(|&node| end.is_some_and(|end| node > end)).collect()
        }
        Axis::Preceding => {
            let start = nodes.iter().copied().max();
            all.filter(|&node| start.is_some_and(|start| tree.last(node) < start)).collect()
        }
        Axis::FollowingSibling | Axis::PrecedingSibling => {
            // By parent: the first and the last of its children among the nodes.
            let mut ends = vec![(NodeId::MAX, 0); tree.len()];
            for &node in nodes {
                if let Some(parent) = tree.parent(node) {
                    let (first, last) = &mut ends[parent as usize];
                    (*first, *last) = ((*first).min(node), (*last).max(node));
                }
            }
            let reached = |&node: &NodeId| {
                let (first, last) =
                    tree.parent(node).map_or((NodeId::MAX, 0), |parent| ends[parent as usize]);
                if axis == Axis::FollowingSibling { first < node } else { last > node }
            };
            all.filter(reached).collect()
        }
    }
}
