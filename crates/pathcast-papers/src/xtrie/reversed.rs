//! The reversed suffix trie, which keeps max-suffix pointers right while substrings come and go.
//!
//! **Idea.** Read backwards, a suffix is a prefix. Each node of the trie has a place here, reached by its names in
//! reverse; then its longest proper suffix in the trie is the nearest place above its own that belongs to a node, and
//! the nodes that point to it are the nearest below. Insertion and deletion follow appendix A of "Efficient filtering of
//! XML documents with XPath expressions" with two corrections: places on the way belong to *no* node (the pseudocode
//! gives them the root, and then `b`, inserted before `c/a/b`, is not found as its suffix), and what becomes useless
//! is cut off upwards (the pseudocode looks at the last node of a substring alone and leaves the others behind).
//!
//! **Cost.** A place for each name of each node's substring, so at most the longest substring times the nodes.

use hashbrown::HashTable;

use super::node::{NodeId, ROOT, hash};
use super::numbered;
use pathcast_core::names::NameId;

const NONE: u32 = u32::MAX;
const TOP: u32 = 0;

#[derive(Clone, Debug)]
struct Place {
    parent: u32,
    name: NameId,
    /// The node of the trie that has these names in reverse.
    node: u32,
    first_child: u32,
    next: u32,
    previous: u32,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: u32,
    name: NameId,
    to: u32,
}

/// The reversed trie.
#[derive(Clone, Debug)]
pub(super) struct Reversed {
    places: Vec<Place>,
    edges: HashTable<Edge>,
    free: Vec<u32>,
}

impl Default for Reversed {
    fn default() -> Self {
        let top = Place {
            parent: NONE,
            name: NameId::OTHER,
            node: ROOT,
            first_child: NONE,
            next: NONE,
            previous: NONE,
        };
        Self { places: vec![top], edges: HashTable::new(), free: Vec::new() }
    }
}

impl Reversed {
    /// The place of a node, given its names from the last to the first.
    pub(super) fn insert(&mut self, names: &[NameId], node: NodeId) -> u32 {
        let mut at = TOP;
        for &name in names {
            let known = self
                .edges
                .find(hash(at, name), |edge| edge.from == at && edge.name == name)
                .map(|edge| edge.to);
            at = known.unwrap_or_else(|| self.grow(at, name));
        }
        self.places[at as usize].node = node;
        at
    }

    /// A node is gone: its place is kept only if it leads on.
    pub(super) fn remove(&mut self, place: u32) {
        self.places[place as usize].node = NONE;
        let mut at = place;
        while at != TOP {
            let Place { parent, name, node, first_child, next, previous } = self.places[at as usize];
            if node != NONE || first_child != NONE {
                return;
            }
            if let Ok(edge) =
                self.edges.find_entry(hash(parent, name), |edge| edge.from == parent && edge.name == name)
            {
                edge.remove();
            }
            if previous == NONE {
                self.places[parent as usize].first_child = next;
            } else {
                self.places[previous as usize].next = next;
            }
            if next != NONE {
                self.places[next as usize].previous = previous;
            }
            self.free.push(at);
            at = parent;
        }
    }

    /// The node of the longest proper suffix; the root of the trie if there is none.
    pub(super) fn nearest_above(&self, place: u32) -> NodeId {
        let mut at = self.places[place as usize].parent;
        while at != NONE {
            let Place { node, parent, .. } = self.places[at as usize];
            if node != NONE {
                return node;
            }
            at = parent;
        }
        ROOT
    }

    /// The nodes whose longest proper suffix this place is.
    pub(super) fn nearest_below(&self, place: u32) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut open = vec![self.places[place as usize].first_child];
        while let Some(mut at) = open.pop() {
            while at != NONE {
                let Place { node, first_child, next, .. } = self.places[at as usize];
                if node == NONE {
                    open.push(first_child);
                } else {
                    found.push(node);
                }
                at = next;
            }
        }
        found
    }

    fn grow(&mut self, from: u32, name: NameId) -> u32 {
        let next = self.places[from as usize].first_child;
        let place = Place { parent: from, name, node: NONE, first_child: NONE, next, previous: NONE };
        let to = numbered::put(&mut self.places, &mut self.free, place);
        if next != NONE {
            self.places[next as usize].previous = to;
        }
        self.places[from as usize].first_child = to;
        self.edges
            .insert_unique(hash(from, name), Edge { from, name, to }, |edge| hash(edge.from, edge.name));
        to
    }

    /// How many places there are.
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.places.capacity() * size_of::<Place>()
            + self.edges.allocation_size()
            + self.free.capacity() * size_of::<u32>()
    }
}
