//! The paths of two or more keywords, as a tree of keyword sequences.
//!
//! A node is a sequence of keywords that some path begins with, so paths that begin alike share what was found of them.
//! A node is an output tuple of the state of its last keyword: meeting that state may take a path on to the node.

use hashbrown::HashTable;

use super::keywords::Symbol;
use super::trie::{NONE, StateId, Trie, hash};
use pathcast_core::engine::PathId;

pub(super) type NodeId = u32;

/// The empty sequence.
pub(super) const ROOT: NodeId = 0;

/// A sequence of keywords.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The sequence without its last keyword.
    pub(super) parent: NodeId,
    /// The state of its last keyword.
    pub(super) state: StateId,
    /// The path that is this sequence.
    pub(super) path: u32,
    pub(super) first_child: NodeId,
    /// Neighbours among the children of the parent.
    pub(super) sibling: NodeId,
    sibling_before: NodeId,
    /// Neighbours among the tuples of the state.
    pub(super) next: NodeId,
    before: NodeId,
}

/// All sequences.
#[derive(Clone, Debug)]
pub(super) struct Sequences {
    pub(super) nodes: Vec<Node>,
    /// By parent and state.
    index: HashTable<NodeId>,
    free: Vec<NodeId>,
}

impl Default for Sequences {
    fn default() -> Self {
        Self { nodes: vec![Node::new(NONE, NONE)], index: HashTable::new(), free: Vec::new() }
    }
}

impl Node {
    fn new(parent: NodeId, state: StateId) -> Self {
        let (path, first_child, sibling, sibling_before, next, before) = (NONE, NONE, NONE, NONE, NONE, NONE);
        Self { parent, state, path, first_child, sibling, sibling_before, next, before }
    }
}

impl Sequences {
    pub(super) fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    fn child(&self, parent: NodeId, state: StateId) -> Option<NodeId> {
        let same = |&id: &NodeId| {
            let node = &self.nodes[id as usize];
            node.parent == parent && node.state == state
        };
        self.index.find(place(parent, state), same).copied()
    }

    /// Adds a path whose keywords have these states.
    pub(super) fn insert(&mut self, path: PathId, states: &[StateId], trie: &mut Trie) {
        let mut at = ROOT;
        for &state in states {
            at = self.child(at, state).unwrap_or_else(|| self.grow(at, state, trie));
        }
        self.nodes[at as usize].path = path.0;
    }

    fn grow(&mut self, parent: NodeId, state: StateId, trie: &mut Trie) -> NodeId {
        let id = self.free.pop().unwrap_or(self.nodes.len() as NodeId);
        let mut node = Node::new(parent, state);
        node.sibling = std::mem::replace(&mut self.nodes[parent as usize].first_child, id);
        node.next = std::mem::replace(&mut trie.states[state as usize].tuples, id);
        if node.sibling != NONE {
            self.nodes[node.sibling as usize].sibling_before = id;
        }
        if node.next != NONE {
            self.nodes[node.next as usize].before = id;
        }
        if id as usize == self.nodes.len() {
            self.nodes.push(node);
        } else {
            self.nodes[id as usize] = node;
        }
        let nodes = &self.nodes;
        self.index.insert_unique(place(parent, state), id, |&id| {
            place(nodes[id as usize].parent, nodes[id as usize].state)
        });
        id
    }

    /// Takes a path out; the states of keywords that are perhaps not needed any more.
    pub(super) fn remove(&mut self, states: &[StateId], trie: &mut Trie) -> Vec<StateId> {
        let found = states.iter().try_fold(ROOT, |at, &state| self.child(at, state));
        let mut released = Vec::new();
        let Some(mut at) = found else { return released };
        self.nodes[at as usize].path = NONE;
        while at != ROOT {
            let node = self.nodes[at as usize];
            if node.path != NONE || node.first_child != NONE {
                break;
            }
            self.cut(at, node, trie);
            released.push(node.state);
            at = node.parent;
        }
        released
    }

    fn cut(&mut self, id: NodeId, node: Node, trie: &mut Trie) {
        let Node { parent, state, sibling, sibling_before, next, before, .. } = node;
        match sibling_before {
            NONE => self.nodes[parent as usize].first_child = sibling,
            other => self.nodes[other as usize].sibling = sibling,
        }
        if sibling != NONE {
            self.nodes[sibling as usize].sibling_before = sibling_before;
        }
        match before {
            NONE => trie.states[state as usize].tuples = next,
            other => self.nodes[other as usize].next = next,
        }
        if next != NONE {
            self.nodes[next as usize].before = before;
        }
        if let Ok(entry) = self.index.find_entry(place(parent, state), |&other| other == id) {
            entry.remove();
        }
        self.free.push(id);
    }

    /// The sequences that go on from one.
    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let some = |id: NodeId| (id != NONE).then_some(id);
        let first = some(self.nodes[id as usize].first_child);
        std::iter::successors(first, move |&id| some(self.nodes[id as usize].sibling))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.index.allocation_size() + self.free.capacity() * 4
    }
}

fn place(parent: NodeId, state: StateId) -> u64 {
    hash(parent, Symbol(state))
}
