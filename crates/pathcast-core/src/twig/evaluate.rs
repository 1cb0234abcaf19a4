//! Decides conditions exactly, a set of nodes at a time.

use hashbrown::HashMap;
use rustc_hash::FxHashMap;

use super::arena::{Arena, ConditionId, PatternId, Shared, SharedBranch};
use super::budget::{Budget, Exceeded};
use super::terms::{Context, Ref, TermMemory};
use super::tree::{NodeId, Tree};
use crate::pattern::Axis;

/// Above this many remembered nodes the memory is emptied between candidates, so that many sub-patterns over a huge
/// document stay bounded.
const REMEMBERED_NODES: usize = 16 << 20;

/// What has been decided for the current document; reused for the next.
#[derive(Debug, Default)]
pub struct Memory {
    /// By pattern: where the nodes that fit it lie in `nodes`.
    fitting: Vec<Option<(usize, usize)>>,
    decided: Vec<PatternId>,
    nodes: Vec<NodeId>,
    roots: FxHashMap<u32, bool>,
    pub(super) firsts: HashMap<Vec<super::arena::SharedStep>, std::sync::Arc<[NodeId]>>,
    pub(super) terms: TermMemory,
    marks: Marks,
}

/// Decides the conditions of one document.
pub struct Evaluator<'a> {
    pub(super) arena: &'a Arena,
    pub(super) tree: &'a Tree,
    pub(super) memory: &'a mut Memory,
    pub(super) budget: Budget,
}

impl<'a> Evaluator<'a> {
    /// Starts on a document.
    pub fn new(arena: &'a Arena, tree: &'a Tree, memory: &'a mut Memory, budget: Budget) -> Self {
        memory.forget();
        memory.fitting.resize(arena.pattern_bound(), None);
        memory.marks.resize(tree.len());
        Self { arena, tree, memory, budget }
    }

    /// Whether the document node satisfies a condition.
    ///
    /// # Errors
    /// To decide it costs more than the budget of one expression, or more than what is left of the document's.
    pub fn decide(&mut self, condition: ConditionId) -> Result<bool, Exceeded> {
        self.budget.next();
        let holds = self.holds(condition);
        match self.budget.exceeded() {
            None => Ok(holds),
            // What was decided since the budget was spent counts for nothing.
            Some(exceeded) => {
                self.memory.forget();
                Err(exceeded)
            }
        }
    }

    /// Whether the document node satisfies a condition, unless the budget is spent over it.
    pub fn holds(&mut self, condition: ConditionId) -> bool {
        self.make_room();
        !self.filter(condition, vec![0]).is_empty()
    }

    /// Counts work; once the budget is spent, whatever is computed is worthless.
    #[inline]
    pub(super) fn spend(&mut self, steps: usize) {
        self.budget.spend(steps);
    }

    #[inline]
    pub(super) fn is_spent(&self) -> bool {
        self.budget.is_spent()
    }

    /// How much more may be spent.
    pub(super) fn left(&self) -> usize {
        self.budget.left()
    }

    /// Forgets what was decided when it has become too much; asked between candidates only.
    pub(super) fn make_room(&mut self) {
        let firsts = self.memory.firsts.len() * self.tree.len();
        if self.memory.nodes.len() + firsts + self.memory.terms.len() > REMEMBERED_NODES {
            self.memory.forget();
        }
    }

    /// Those of the nodes, given in document order, that satisfy a condition.
    pub fn filter(&mut self, condition: ConditionId, mut nodes: Vec<NodeId>) -> Vec<NodeId> {
        self.spend(nodes.len());
        if nodes.is_empty() || self.is_spent() {
            return Vec::new();
        }
        let (arena, tree) = (self.arena, self.tree);
        match arena.condition(condition) {
            Shared::Constant(true) => {}
            Shared::Constant(false) => nodes.clear(),
            Shared::And(parts) => {
                for &part in by_cost(arena, parts) {
                    nodes = self.filter(part, nodes);
                }
            }
            Shared::Or(parts) => return self.any(parts, nodes),
            Shared::Not(inner) => {
                let satisfied = self.filter(*inner, nodes.clone());
                subtract(&mut nodes, &satisfied);
            }
            Shared::Exists(axis, pattern) => {
                let (from, to) = self.fitting(*pattern);
                self.memory.reach(tree, *axis, from, to, &mut nodes);
            }
            Shared::Is(test) => nodes.retain(|&node| tree.passes(node, test)),
            Shared::Attribute(name, inner) => {
                nodes.retain(|&node| {
                    tree.attributes(node, *name).any(|value| self.value_satisfies(*inner, value))
                });
            }
            Shared::Value(test) => nodes.retain(|&node| test.accepts(tree.value(node))),
            Shared::First(path, test) => {
                let firsts = self.firsts(path);
                nodes.retain(|&node| self.first_passes(path, &firsts, node, test).is_some());
            }
            Shared::Root(inner) => {
                if !self.at_root(*inner) {
                    nodes.clear();
                }
            }
            Shared::Typed(term) => {
                nodes.retain(|&node| !self.is_spent() && self.truth(*term, Context::at(Ref::node(node))));
            }
            Shared::Ordered(branches) => nodes.retain(|&node| self.in_order(branches, node)),
        }
        nodes
    }

    fn any(&mut self, parts: &[ConditionId], mut nodes: Vec<NodeId>) -> Vec<NodeId> {
        let mut satisfied = Vec::new();
        for &part in parts {
            let more = self.filter(part, nodes.clone());
            subtract(&mut nodes, &more);
            satisfied.extend(more);
        }
        satisfied.sort_unstable();
        satisfied
    }

    fn at_root(&mut self, condition: ConditionId) -> bool {
        if let Some(&known) = self.memory.roots.get(&condition.0) {
            return known;
        }
        let holds = !self.filter(condition, vec![0]).is_empty();
        self.memory.roots.insert(condition.0, holds);
        holds
    }

    /// Whether an attribute's value satisfies a condition: an attribute has nothing but its value.
    pub(super) fn value_satisfies(&mut self, condition: ConditionId, value: &str) -> bool {
        let arena = self.arena;
        match arena.condition(condition) {
            Shared::Constant(constant) => *constant,
            Shared::And(parts) => parts.iter().all(|&part| self.value_satisfies(part, value)),
            Shared::Or(parts) => parts.iter().any(|&part| self.value_satisfies(part, value)),
            Shared::Not(inner) => !self.value_satisfies(*inner, value),
            Shared::Value(test) => test.accepts(value),
            Shared::Root(inner) => self.at_root(*inner),
            Shared::Exists(..)
            | Shared::Is(_)
            | Shared::Attribute(..)
            | Shared::First(..)
            | Shared::Typed(_)
            | Shared::Ordered(_) => false,
        }
    }

    /// All nodes of the document that fit a pattern, decided once: a range of `memory.nodes`.
    pub(super) fn fitting(&mut self, pattern: PatternId) -> (usize, usize) {
        if let Some(known) = self.memory.fitting[pattern.0 as usize] {
            return known;
        }
        let (test, condition) = self.arena.pattern(pattern);
        let all = self.tree.all(test);
        self.spend(all.len());
        let nodes = self.filter(*condition, all);
        let from = self.memory.nodes.len();
        self.memory.nodes.extend(nodes);
        let range = (from, self.memory.nodes.len());
        self.memory.fitting[pattern.0 as usize] = Some(range);
        self.memory.decided.push(pattern);
        range
    }

    /// Whether branches lie under different children in order. Taking the earliest child for each branch in turn
    /// leaves the most room for the next.
    fn in_order(&mut self, branches: &[SharedBranch], node: NodeId) -> bool {
        let tree = self.tree;
        let mut after = node;
        for branch in branches {
            let found = match branch {
                SharedBranch::Exists { min, exact, pattern } => {
                    let (from, to) = self.fitting(*pattern);
                    let fitting = &self.memory.nodes[from..to];
                    let start = fitting.partition_point(|&each| each <= after);
                    let level = tree.depth(node) + min;
                    fitting[start..].iter().copied().take_while(|&each| each <= tree.last(node)).find(
                        |&each| {
                            if *exact { tree.depth(each) == level } else { tree.depth(each) >= level }
                        },
                    )
                }
                SharedBranch::First(path, test) => {
                    let firsts = self.firsts(path);
                    self.first_passes(path, &firsts, node, test).filter(|&first| first > after)
                }
            };
            let Some(found) = found else { return false };
            let levels = tree.depth(found) - tree.depth(node);
            let Some(child) = tree.ancestor(found, levels.saturating_sub(1)) else { return false };
            after = tree.last(child);
        }
        true
    }
}

impl Memory {
    /// Heap bytes held, but for the few of remembered first nodes.
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<NodeId>()
            + self.marks.marks.capacity() * size_of::<(u32, NodeId)>()
            + self.terms.memory_bytes()
    }

    pub(super) fn fitting_nodes(&self, from: usize, to: usize) -> &[NodeId] {
        &self.nodes[from..to]
    }

    fn forget(&mut self) {
        for pattern in self.decided.drain(..) {
            self.fitting[pattern.0 as usize] = None;
        }
        self.nodes.clear();
        self.roots.clear();
        self.firsts.clear();
        self.terms.forget();
    }

    /// Keeps the nodes from which an axis reaches one of those in `self.nodes[from..to]`.
    fn reach(&mut self, tree: &Tree, axis: Axis, from: usize, to: usize, nodes: &mut Vec<NodeId>) {
        let targets = &self.nodes[from..to];
        let marks = &mut self.marks;
        let (Some(&first), Some(&last)) = (targets.first(), targets.last()) else {
            nodes.clear();
            return;
        };
        match axis {
            Axis::Down { min: min @ (0 | 1), exact: false } => nodes.retain(|&node| {
                let next = targets.partition_point(|&target| target < node + min);
                targets.get(next).is_some_and(|&target| target <= tree.last(node))
            }),
            Axis::Down { min, exact } => {
                marks.clear();
                for &target in targets {
                    let mut up = tree.ancestor(target, min);
                    while let Some(node) = up
                        && marks.set(node, 0)
                        && !exact
                    {
                        up = tree.parent(node);
                    }
                }
                nodes.retain(|&node| marks.get(node).is_some());
            }
            Axis::Following => nodes.retain(|&node| last > tree.last(node)),
            Axis::Preceding => {
                let earliest = targets.iter().map(|&target| tree.last(target)).min().unwrap_or(first);
                nodes.retain(|&node| earliest < node);
            }
            Axis::FollowingSibling => {
                marks.clear();
                for &target in targets.iter().rev() {
                    tree.parent(target).map(|parent| marks.set(parent, target));
                }
                nodes.retain(|&node| sibling(tree, marks, node).is_some_and(|furthest| furthest > node));
            }
            Axis::PrecedingSibling => {
                marks.clear();
                for &target in targets {
                    tree.parent(target).map(|parent| marks.set(parent, target));
                }
                nodes.retain(|&node| sibling(tree, marks, node).is_some_and(|furthest| furthest < node));
            }
        }
    }
}

/// What was noted for the children of a node's parent.
fn sibling(tree: &Tree, marks: &Marks, node: NodeId) -> Option<NodeId> {
    marks.get(tree.parent(node)?)
}

/// Takes sorted nodes out of sorted nodes.
fn subtract(nodes: &mut Vec<NodeId>, taken: &[NodeId]) {
    let mut taken = taken.iter().peekable();
    nodes.retain(|node| {
        while taken.next_if(|&&each| each < *node).is_some() {}
        taken.peek() != Some(&node)
    });
}

/// Parts of a conjunction, those that look at one node before those that look around.
fn by_cost<'a>(arena: &'a Arena, parts: &'a [ConditionId]) -> impl Iterator<Item = &'a ConditionId> {
    let cheap = |part: &&ConditionId| {
        matches!(arena.condition(**part), Shared::Is(_) | Shared::Attribute(..) | Shared::Value(_))
    };
    parts.iter().filter(cheap).chain(parts.iter().filter(move |part| !cheap(part)))
}

/// A note on some nodes, cleared at no cost.
#[derive(Debug, Default)]
struct Marks {
    marks: Vec<(u32, NodeId)>,
    round: u32,
}

impl Marks {
    fn resize(&mut self, nodes: usize) {
        if self.marks.len() < nodes || self.marks.len() > 8 * nodes + 4096 {
            self.marks.resize(nodes, (0, 0));
            self.marks.shrink_to_fit();
        }
    }

    fn clear(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.marks.fill((0, 0));
            self.round = 1;
        }
    }

    /// Notes something on a node; false if there was a note already, which stays.
    fn set(&mut self, node: NodeId, note: NodeId) -> bool {
        let mark = &mut self.marks[node as usize];
        let fresh = mark.0 != self.round;
        if fresh {
            *mark = (self.round, note);
        }
        fresh
    }

    fn get(&self, node: NodeId) -> Option<NodeId> {
        let (round, note) = self.marks[node as usize];
        (round == self.round).then_some(note)
    }
}
