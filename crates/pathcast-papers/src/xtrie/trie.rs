//! The trie of all substrings, with substring pointers and max-suffix pointers.
//!
//! **Idea.** A node stands for the names on the way to it. Reading start tags down one path of a document is reading a
//! text, so the trie finds every substring that ends at the element at hand as a string-matching automaton does: from
//! the node of the longest one, the max-suffix pointers lead to all the others. Each node knows the lineages that
//! end with its substring ([`super::chain`], [`super::lineage`]).
//!
//! **Invariants.** A node without rows has children. The max-suffix pointer of a node is the node of its longest
//! proper suffix that is in the trie, the root if there is none; that it may be *any* node matters: the paper's text
//! says internal nodes, and then `//b` would be missed below `a` beside `//a/b`. The reversed trie ([`super::reversed`])
//! keeps the pointers right while nodes come and go.
//!
//! Nodes off the trie stand for what has no name: any element, any of a namespace, any with some attribute, a text
//! node. They are substrings of their own, which start tags match without a walk.

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use super::chain::{Chains, Hook};
use super::node::{NodeId, ROOT, Special, hash};
use super::numbered;
use super::reversed::Reversed;
use pathcast_core::names::NameId;

#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) parent: NodeId,
    pub(super) name: Option<NameId>,
    /// What it stands for when it is off the trie.
    pub(super) special: Option<Special>,
    /// Names on the way from the root.
    pub(super) depth: u32,
    pub(super) max_suffix: NodeId,
    /// Its place in the reversed trie.
    pub(super) mirror: u32,
    children: u32,
    /// Rows with this substring, whether chained or not.
    users: u32,
    /// Those of them that look at the text of their last element.
    pub(super) readers: u32,
    /// The chains of lineages that end with it, and how many chains hang on it.
    pub(super) chains: Vec<Hook>,
    pub(super) hung: u32,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: NodeId,
    name: NameId,
    to: NodeId,
}

/// The trie.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    pub(super) nodes: Vec<Node>,
    edges: HashTable<Edge>,
    free: Vec<NodeId>,
    specials: FxHashMap<Special, NodeId>,
    /// Special nodes for attributes; without any, start tags look none up.
    pub(super) attribute_specials: u32,
    pub(super) reversed: Reversed,
    pub(super) chains: Chains,
}

impl Default for Trie {
    fn default() -> Self {
        Self {
            nodes: vec![Node::default()],
            edges: HashTable::new(),
            free: Vec::new(),
            specials: FxHashMap::default(),
            attribute_specials: 0,
            reversed: Reversed::default(),
            chains: Chains::default(),
        }
    }
}

impl Trie {
    #[inline]
    pub(super) fn child(&self, from: NodeId, name: NameId) -> Option<NodeId> {
        let edge = self.edges.find(hash(from, name), |edge| edge.from == from && edge.name == name);
        edge.map(|edge| edge.to)
    }

    /// The node of the longest substring that ends with this name, coming from the node of the parent element.
    #[inline]
    pub(super) fn step(&self, mut from: NodeId, name: NameId) -> NodeId {
        if name == NameId::OTHER {
            return ROOT;
        }
        loop {
            if let Some(to) = self.child(from, name) {
                return to;
            }
            if from == ROOT {
                return ROOT;
            }
            from = self.nodes[from as usize].max_suffix;
        }
    }

    #[inline]
    pub(super) fn special(&self, special: Special) -> Option<NodeId> {
        self.specials.get(&special).copied()
    }

    pub(super) fn specials(&self) -> impl Iterator<Item = (Special, NodeId)> + '_ {
        self.specials.iter().map(|(&special, &node)| (special, node))
    }

    /// The node of a sequence of names, with one more user.
    pub(super) fn insert(&mut self, names: &[NameId]) -> NodeId {
        let mut at = ROOT;
        let mut fresh = Vec::new();
        for &name in names {
            at = match self.child(at, name) {
                Some(next) => next,
                None => {
                    let next = self.grow(at, name);
                    fresh.push(next);
                    next
                }
            };
        }
        self.nodes[at as usize].users += 1;
        self.join(&fresh);
        at
    }

    /// The node of a substring without a name, with one more user.
    pub(super) fn insert_special(&mut self, special: Special) -> NodeId {
        let node = match self.specials.get(&special) {
            Some(&node) => node,
            None => {
                let node = self.allocate(Node { special: Some(special), ..Node::default() });
                self.specials.insert(special, node);
                self.attribute_specials += u32::from(matches!(special, Special::Attribute(_)));
                node
            }
        };
        self.nodes[node as usize].users += 1;
        node
    }

    /// One user less; what nobody needs any more is cut off, from the end of the substring on.
    pub(super) fn release(&mut self, node: NodeId) {
        self.nodes[node as usize].users -= 1;
        let mut at = node;
        while at != ROOT {
            let Node { users, children, parent, name, special, .. } = self.nodes[at as usize];
            if users > 0 || children > 0 {
                return;
            }
            let Some(name) = name else {
                if let Some(special) = special {
                    self.specials.remove(&special);
                    self.attribute_specials -= u32::from(matches!(special, Special::Attribute(_)));
                }
                self.free(at);
                return;
            };
            self.leave(at);
            if let Ok(edge) =
                self.edges.find_entry(hash(parent, name), |edge| edge.from == parent && edge.name == name)
            {
                edge.remove();
            }
            self.nodes[parent as usize].children -= 1;
            self.free(at);
            at = parent;
        }
    }

    /// Gives new nodes their places in the reversed trie, then max-suffix pointers to and from them.
    fn join(&mut self, fresh: &[NodeId]) {
        for &node in fresh {
            let names = self.names_up(node);
            let mirror = self.reversed.insert(&names, node);
            self.nodes[node as usize].mirror = mirror;
            for longer in self.reversed.nearest_below(mirror) {
                self.nodes[longer as usize].max_suffix = node;
            }
        }
        for &node in fresh {
            let mirror = self.nodes[node as usize].mirror;
            self.nodes[node as usize].max_suffix = self.reversed.nearest_above(mirror);
        }
    }

    /// Takes a node out of the reversed trie; nodes that pointed to it now point where it pointed.
    fn leave(&mut self, node: NodeId) {
        let mirror = self.nodes[node as usize].mirror;
        let suffix = self.reversed.nearest_above(mirror);
        for longer in self.reversed.nearest_below(mirror) {
            self.nodes[longer as usize].max_suffix = suffix;
        }
        self.reversed.remove(mirror);
    }

    /// The names from a node up to the root.
    pub(super) fn names_up(&self, mut node: NodeId) -> Vec<NameId> {
        let mut names = Vec::new();
        while let Some(name) = self.nodes[node as usize].name {
            names.push(name);
            node = self.nodes[node as usize].parent;
        }
        names
    }

    fn grow(&mut self, from: NodeId, name: NameId) -> NodeId {
        let depth = self.nodes[from as usize].depth + 1;
        let to = self.allocate(Node { parent: from, name: Some(name), depth, ..Node::default() });
        self.nodes[from as usize].children += 1;
        self.edges
            .insert_unique(hash(from, name), Edge { from, name, to }, |edge| hash(edge.from, edge.name));
        to
    }

    fn allocate(&mut self, node: Node) -> NodeId {
        numbered::put(&mut self.nodes, &mut self.free, node)
    }

    fn free(&mut self, node: NodeId) {
        self.nodes[node as usize] = Node::default();
        self.free.push(node);
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let hooks: usize = self.nodes.iter().map(|node| node.chains.capacity()).sum();
        hooks * size_of::<Hook>()
            + self.chains.memory_bytes()
            + self.nodes.capacity() * size_of::<Node>()
            + self.edges.allocation_size()
            + self.free.capacity() * size_of::<NodeId>()
            + self.reversed.memory_bytes()
    }
}
