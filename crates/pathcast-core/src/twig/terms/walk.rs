//! Paths: steps from a set of nodes to the next.

use super::axes::is_backward;
use super::{Context, Ref, TermId};
use crate::pattern::{NodeTest, Origin, TermStep};
use crate::twig::evaluate::Evaluator;
use crate::twig::tree::NodeId;
use crate::xpath::ast::{Axis, Type};

impl Evaluator<'_> {
    /// The nodes of a path in document order; only one of them if that is enough.
    pub(super) fn walk(
        &mut self,
        origin: &Origin<TermId>,
        steps: &[TermStep<TermId>],
        context: Context,
        one: bool,
    ) -> Vec<Ref> {
        let mut nodes = match origin {
            Origin::Context => vec![context.node],
            Origin::Root => vec![Ref::ROOT],
            Origin::Filter(start, predicates) => {
                let mut nodes = self.nodes(*start, context).to_vec();
                for &predicate in predicates {
                    self.keep(predicate, &mut nodes);
                }
                nodes
            }
        };
        for (at, step) in steps.iter().enumerate() {
            if nodes.is_empty() || self.is_spent() {
                return Vec::new();
            }
            nodes = self.step(step, &nodes, one && at + 1 == steps.len());
        }
        nodes
    }

    /// The nodes that a step selects from any of some nodes, in document order.
    pub fn step(&mut self, step: &TermStep<TermId>, from: &[Ref], one: bool) -> Vec<Ref> {
        let arena = self.arena;
        let positional = step.predicates.iter().any(|&predicate| {
            let facts = arena.facts(predicate);
            facts.position || facts.kind == Type::Number
        });
        if !positional {
            return self.step_free(step, from, one);
        }
        let mut found = Vec::new();
        for &node in from {
            let mut list = self.list(step.axis, &step.test, node);
            for &predicate in &step.predicates {
                self.keep(predicate, &mut list);
            }
            found.extend(list);
            if self.is_spent() || one && !found.is_empty() {
                break;
            }
        }
        sorted(found)
    }

    /// A step without positions: all its nodes at once, then those that pass.
    fn step_free(&mut self, step: &TermStep<TermId>, from: &[Ref], one: bool) -> Vec<Ref> {
        let mut nodes = self.reach(step.axis, &step.test, from);
        let mut kept = 0;
        for at in 0..nodes.len() {
            let node = nodes[at];
            if step.predicates.iter().all(|&predicate| self.truth(predicate, Context::at(node))) {
                nodes[kept] = node;
                kept += 1;
                if one {
                    break;
                }
            }
            if self.is_spent() {
                break;
            }
        }
        nodes.truncate(kept);
        nodes
    }

    /// Keeps the nodes of a list that pass a predicate; a number is a position.
    fn keep(&mut self, predicate: TermId, list: &mut Vec<Ref>) {
        let facts = self.arena.facts(predicate);
        self.spend(list.len());
        let numeric = facts.kind == Type::Number;
        if numeric && !facts.node && !facts.position {
            // The same number for all: at most one has it.
            let wanted = self.number(predicate, Context::at(Ref::ROOT));
            let at = if wanted >= 1.0 && wanted.fract() == 0.0 { wanted as usize } else { 0 };
            let kept = at.checked_sub(1).and_then(|at| list.get(at).copied());
            list.clear();
            list.extend(kept);
            return;
        }
        let size = list.len();
        let mut position = 0;
        list.retain(|&node| {
            position += 1;
            let context = Context { node, position, size };
            if self.is_spent() {
                false
            } else if numeric {
                self.number(predicate, context) == position as f64
            } else {
                self.truth(predicate, context)
            }
        });
    }

    /// The nodes that an axis leads to from one node and that pass a test, in the order of the axis.
    fn list(&mut self, axis: Axis, test: &NodeTest, from: Ref) -> Vec<Ref> {
        let tree = self.tree;
        let mut list = Vec::new();
        let mut left = self.left();
        let mut seen = 0;
        tree.along(axis, from, &mut |node| {
            if tree.admits(axis, node, test) {
                list.push(node);
            }
            seen += 1;
            left = left.saturating_sub(1);
            left > 0
        });
        self.spend(seen);
        list
    }

    /// The nodes that an axis leads to from any of some nodes, given in document order, and that pass a test.
    fn reach(&mut self, axis: Axis, test: &NodeTest, from: &[Ref]) -> Vec<Ref> {
        let tree = self.tree;
        if let ([from], Axis::Descendant | Axis::DescendantOrSelf, NodeTest::Element(_)) = (from, axis, test)
            && *from == Ref::ROOT
        {
            let all = tree.all(test);
            self.spend(all.len());
            return all.into_iter().map(Ref::node).collect();
        }
        if let [from] = from {
            let mut list = self.list(axis, test, *from);
            if is_backward(axis) {
                list.reverse();
            }
            return list;
        }
        match axis {
            Axis::Descendant | Axis::DescendantOrSelf => self.below(axis, test, from),
            Axis::Following | Axis::Preceding => {
                // The first to end, or the last to start, reaches what the others do.
                let end = |node: &Ref| node.as_node().map_or(node.owner(), |node| tree.last(node));
                let furthest = match axis {
                    Axis::Following => from.iter().min_by_key(|&node| end(node)),
                    _ => from.iter().max(),
                };
                let mut list = furthest.map(|&node| self.list(axis, test, node)).unwrap_or_default();
                if axis == Axis::Preceding {
                    list.reverse();
                }
                list
            }
            Axis::FollowingSibling | Axis::PrecedingSibling => {
                // Of the children of one parent, the first or the last reaches what the others do.
                let mut ends: rustc_hash::FxHashMap<NodeId, Ref> = rustc_hash::FxHashMap::default();
                for &node in from {
                    if let Some(parent) = node.as_node().and_then(|node| tree.parent(node)) {
                        let end = ends.entry(parent).or_insert(node);
                        *end =
                            if axis == Axis::FollowingSibling { (*end).min(node) } else { (*end).max(node) };
                    }
                }
                self.spend(from.len());
                sorted(ends.into_values().flat_map(|node| self.list(axis, test, node)).collect())
            }
            Axis::Ancestor | Axis::AncestorOrSelf => self.above(axis, test, from),
            Axis::Child | Axis::SelfNode | Axis::Attribute | Axis::Parent => {
                let mut found = Vec::new();
                for &node in from {
                    found.extend(self.list(axis, test, node));
                    if self.is_spent() {
                        break;
                    }
                }
                sorted(found)
            }
        }
    }

    /// Subtrees that lie in one another are walked once.
    fn below(&mut self, axis: Axis, test: &NodeTest, from: &[Ref]) -> Vec<Ref> {
        let tree = self.tree;
        let mut found = Vec::new();
        let mut covered: Option<NodeId> = None;
        for &node in from {
            let inside = covered.is_some_and(|last| node.owner() <= last);
            match node.as_node() {
                Some(_) if inside => {}
                Some(own) => {
                    found.extend(self.list(axis, test, node));
                    covered = Some(tree.last(own));
                }
                None if axis == Axis::DescendantOrSelf && tree.admits(axis, node, test) => found.push(node),
                None => {}
            }
            if self.is_spent() {
                break;
            }
        }
        sorted(found)
    }

    /// Every ancestor is met once.
    fn above(&mut self, axis: Axis, test: &NodeTest, from: &[Ref]) -> Vec<Ref> {
        let tree = self.tree;
        let mut met = rustc_hash::FxHashSet::default();
        let mut found = Vec::new();
        let mut seen = from.len();
        for &node in from {
            tree.along(axis, node, &mut |each| {
                seen += 1;
                let fresh = met.insert(each);
                if fresh && tree.admits(axis, each, test) {
                    found.push(each);
                }
                // The node itself may have been met as an ancestor, with all of its own.
                fresh || each == node
            });
        }
        self.spend(seen);
        sorted(found)
    }
}

/// In document order, each once.
fn sorted(mut nodes: Vec<Ref>) -> Vec<Ref> {
    if !nodes.is_sorted_by(|left, right| left < right) {
        nodes.sort_unstable();
        nodes.dedup();
    }
    nodes
}
