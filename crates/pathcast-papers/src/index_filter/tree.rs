//! The prefix tree of all paths.

use hashbrown::HashTable;

use super::Run;
use crate::hops::{Gap, Hop, Symbol, hops, place};
use pathcast_core::engine::{Cache, CacheStats, Capabilities, Engine, Found, PathId};
use pathcast_core::names::Resolved;
use pathcast_core::pattern::LinearPath;

pub(super) type NodeId = u32;

/// The document node.
pub(super) const ROOT: NodeId = 0;
const NO_PATH: u32 = u32::MAX;

/// A hop that paths with the same beginning share.
#[derive(Clone, Debug)]
pub(super) struct Node {
    hop: Hop,
    parent: NodeId,
    /// Which of the parent's children it is.
    slot: u32,
    pub(super) children: Vec<Child>,
}

/// A node below. All that is needed to pass it over is here: most are looked for in vain, and fetching each of them
/// from among all nodes cost more than everything else.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    pub(super) hop: Hop,
    /// Its number, and in the top bit whether it has children.
    node: u32,
    /// The path that ends there.
    path: u32,
}

impl Child {
    const INNER: u32 = 1 << 31;

    #[inline]
    pub(super) fn node(self) -> NodeId {
        self.node & !Self::INNER
    }

    #[inline]
    pub(super) fn has_children(self) -> bool {
        self.node & Self::INNER != 0
    }

    #[inline]
    pub(super) fn path(self) -> Option<PathId> {
        (self.path != NO_PATH).then_some(PathId(self.path))
    }
}

/// The prefix tree.
#[derive(Clone, Debug)]
pub struct IndexFilter {
    pub(super) nodes: Vec<Node>,
    free: Vec<NodeId>,
    /// Nodes by parent and hop.
    index: HashTable<NodeId>,
    /// By symbol: the nodes that look for it.
    users: Vec<u32>,
    attributes: usize,
}

impl Default for IndexFilter {
    fn default() -> Self {
        let hop = Hop { symbol: Symbol::ANY_ELEMENT, gap: Gap::new(0, true) };
        let root = Node { hop, parent: ROOT, slot: 0, children: Vec::new() };
        Self {
            nodes: vec![root],
            free: Vec::new(),
            index: HashTable::new(),
            users: Vec::new(),
            attributes: 0,
        }
    }
}

impl IndexFilter {
    /// Whether some path looks for it.
    #[inline]
    pub(super) fn uses(&self, symbol: Symbol) -> bool {
        self.users.get(symbol.index()).is_some_and(|&users| users > 0)
    }

    /// One more than the largest symbol some path ever looked for.
    pub(super) fn symbols(&self) -> usize {
        self.users.len()
    }

    fn child(&self, parent: NodeId, hop: Hop) -> Option<NodeId> {
        let same = |id: &NodeId| {
            let node = &self.nodes[*id as usize];
            node.parent == parent && node.hop == hop
        };
        self.index.find(place(parent, hop.symbol, hop.gap), same).copied()
    }

    /// A node as its parent knows it; the root has none.
    fn as_child(&mut self, id: NodeId) -> Option<&mut Child> {
        let Node { parent, slot, .. } = self.nodes[id as usize];
        if id == ROOT { None } else { self.nodes[parent as usize].children.get_mut(slot as usize) }
    }

    fn grow(&mut self, parent: NodeId, hop: Hop) -> NodeId {
        let slot = self.nodes[parent as usize].children.len() as u32;
        let fresh = Node { hop, parent, slot, children: Vec::new() };
        let id = match self.free.pop() {
            Some(id) => {
                self.nodes[id as usize] = fresh;
                id
            }
            None => {
                self.nodes.push(fresh);
                (self.nodes.len() - 1) as NodeId
            }
        };
        self.nodes[parent as usize].children.push(Child { hop, node: id, path: NO_PATH });
        if let Some(parent) = self.as_child(parent) {
            parent.node |= Child::INNER;
        }
        let nodes = &self.nodes;
        self.index.insert_unique(place(parent, hop.symbol, hop.gap), id, |&id| {
            let node = &nodes[id as usize];
            place(node.parent, node.hop.symbol, node.hop.gap)
        });
        let symbol = hop.symbol.index();
        if symbol >= self.users.len() {
            self.users.resize(symbol + 1, 0);
        }
        self.users[symbol] += 1;
        self.attributes += usize::from(hop.symbol.is_attribute());
        id
    }

    /// Cuts off a node that nothing needs any more; its parent.
    fn prune(&mut self, id: NodeId) -> NodeId {
        let Node { parent, hop, slot, .. } = self.nodes[id as usize];
        if let Ok(entry) = self.index.find_entry(place(parent, hop.symbol, hop.gap), |&each| each == id) {
            entry.remove();
        }
        let siblings = &mut self.nodes[parent as usize].children;
        siblings.swap_remove(slot as usize);
        if let Some(&moved) = siblings.get(slot as usize) {
            self.nodes[moved.node() as usize].slot = slot;
        } else if siblings.is_empty() {
            *siblings = Vec::new();
            if let Some(parent) = self.as_child(parent) {
                parent.node &= !Child::INNER;
            }
        }
        self.users[hop.symbol.index()] -= 1;
        self.attributes -= usize::from(hop.symbol.is_attribute());
        self.free.push(id);
        parent
    }
}

impl Engine for IndexFilter {
    type Run = Run;

    fn new_run(&self, cache_bytes: usize) -> Run {
        Run::with_budget(cache_bytes)
    }

    fn insert(&mut self, path: &LinearPath, id: PathId) {
        let mut at = ROOT;
        for hop in hops(path) {
            at = self.child(at, hop).unwrap_or_else(|| self.grow(at, hop));
        }
        if let Some(end) = self.as_child(at) {
            end.path = id.0;
        }
    }

    fn remove(&mut self, path: &LinearPath, id: PathId) {
        let mut at = ROOT;
        for hop in hops(path) {
            let Some(next) = self.child(at, hop) else { return };
            at = next;
        }
        if let Some(end) = self.as_child(at) {
            debug_assert_eq!(end.path, id.0);
            end.path = NO_PATH;
        }
        while let Some(&mut child) = self.as_child(at)
            && !child.has_children()
            && child.path == NO_PATH
        {
            at = self.prune(at);
        }
    }

    fn begin(&self, run: &mut Run) {
        run.begin(self);
    }

    #[inline]
    fn start(&self, run: &mut Run, element: Resolved, attributes: &[Resolved], found: &mut Found) {
        run.start(self, element, attributes, found);
    }

    #[inline]
    fn end(&self, run: &mut Run) {
        run.end();
    }

    fn finish(&self, run: &mut Run, found: &mut Found) {
        run.finish(self, found);
    }

    fn capabilities(&self) -> Capabilities<'_, Run> {
        Capabilities { cache: Some(self), ..Capabilities::default() }
    }

    fn wants_attributes(&self) -> bool {
        self.attributes > 0
    }

    fn memory_bytes(&self) -> usize {
        let children: usize = self.nodes.iter().map(|node| node.children.capacity()).sum();
        self.nodes.capacity() * size_of::<Node>()
            + children * size_of::<Child>()
            + self.index.allocation_size()
            + (self.free.capacity() + self.users.capacity()) * 4
    }
}

impl Cache<Run> for IndexFilter {
    fn stats(&self, run: &Run) -> CacheStats {
        run.stats()
    }
}
