//! The automata of all paths: nodes, lists, insertion and removal.

use hashbrown::HashTable;

use super::Run;
use crate::hops::{Gap, Hop, Symbol, hops, place};
use pathcast_core::engine::{Cache, CacheStats, Capabilities, Engine, Found, PathId};
use pathcast_core::names::Resolved;
use pathcast_core::pattern::LinearPath;

/// The number of a node; the next node of the path has the next number.
pub(super) type NodeId = u32;

pub(super) type ListId = u32;

const NONE: u32 = u32::MAX;

/// What meeting a node brings; apart from the hops, because it is all that most nodes are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Where the next node of the path waits then, and in the lowest bit whether its gap is exact.
    to: u32,
    pub(super) path: PathId,
}

impl Node {
    /// The list of the next node and whether its gap is exact; nothing at the end of the path.
    #[inline]
    pub(super) fn next(self) -> Option<(ListId, bool)> {
        (self.to != NONE).then_some((self.to >> 1, self.to & 1 == 1))
    }
}

/// A node that is a candidate from the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pivot {
    pub(super) id: NodeId,
    /// How many nodes before it have to be checked.
    pub(super) prefix: u32,
    /// The node itself: to fetch it from among all nodes is most of the cost of a long list.
    pub(super) node: Node,
}

/// What waits for one name at one distance.
#[derive(Clone, Debug)]
pub(super) struct List {
    symbol: Symbol,
    pub(super) gap: Gap,
    /// The next list of the same name.
    next: ListId,
    /// Nodes that wait here, and pivots.
    users: u32,
    /// Candidates from the start; the gap is the one from the document node.
    pub(super) pivots: Vec<Pivot>,
    /// The last nodes among those that wait here.
    pub(super) ends: Vec<NodeId>,
}

/// Where a path is.
#[derive(Clone, Copy, Debug)]
struct Place {
    first: NodeId,
    length: u32,
    pivots: ListId,
    pivot_at: u32,
    ends: ListId,
    end_at: u32,
}

/// The automata of all paths.
#[derive(Clone, Debug, Default)]
pub struct XFilter {
    balanced: bool,
    pub(super) nodes: Vec<Node>,
    /// By node: what it looks for.
    pub(super) hops: Vec<Hop>,
    /// By length: stretches of nodes that are free.
    free_nodes: Vec<Vec<NodeId>>,
    pub(super) lists: Vec<List>,
    free_lists: Vec<ListId>,
    list_index: HashTable<ListId>,
    /// By symbol: its first list.
    heads: Vec<ListId>,
    /// By symbol: how many pivots its lists have.
    weights: Vec<u32>,
    /// By path.
    places: Vec<Place>,
    attributes: usize,
}

impl XFilter {
    /// No paths; with or without list balancing.
    pub fn new(balanced: bool) -> Self {
        Self { balanced, ..Self::default() }
    }

    /// The lists of a symbol.
    #[inline]
    pub(super) fn lists_of(&self, symbol: Symbol) -> impl Iterator<Item = ListId> {
        let mut next = self.heads.get(symbol.index()).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let list = next;
            next = self.lists.get(list as usize)?.next;
            Some(list)
        })
    }

    /// The hops of a path before its last node, and the gap of that node.
    pub(super) fn before_end(&self, end: NodeId) -> (&[Hop], Gap) {
        let path = self.nodes[end as usize].path;
        let first = self.places[path.0 as usize].first;
        (&self.hops[first as usize..end as usize], self.hops[end as usize].gap)
    }

    /// The list of a symbol and a gap, made now if it is new, with one more user.
    fn use_list(&mut self, symbol: Symbol, gap: Gap) -> ListId {
        let lists = &mut self.lists;
        let key = place(0, symbol, gap);
        let same = |id: &ListId| lists[*id as usize].symbol == symbol && lists[*id as usize].gap == gap;
        if let Some(&id) = self.list_index.find(key, same) {
            lists[id as usize].users += 1;
            return id;
        }
        let head = &mut self.heads[symbol.index()];
        let fresh = List { symbol, gap, next: *head, users: 1, pivots: Vec::new(), ends: Vec::new() };
        let id = match self.free_lists.pop() {
            Some(id) => {
                lists[id as usize] = fresh;
                id
            }
            None => {
                lists.push(fresh);
                (lists.len() - 1) as ListId
            }
        };
        *head = id;
        let rehash = |id: &ListId| place(0, lists[*id as usize].symbol, lists[*id as usize].gap);
        self.list_index.insert_unique(key, id, rehash);
        id
    }

    fn release_list(&mut self, id: ListId) {
        let list = &mut self.lists[id as usize];
        list.users -= 1;
        if list.users > 0 {
            return;
        }
        let (symbol, gap, next) = (list.symbol, list.gap, list.next);
        (list.pivots, list.ends) = (Vec::new(), Vec::new());
        if let Ok(entry) = self.list_index.find_entry(place(0, symbol, gap), |&each| each == id) {
            entry.remove();
        }
        let head = self.heads[symbol.index()];
        if head == id {
            self.heads[symbol.index()] = next;
        } else {
            let mut at = head;
            while self.lists[at as usize].next != id {
                at = self.lists[at as usize].next;
            }
            self.lists[at as usize].next = next;
        }
        self.free_lists.push(id);
    }

    /// Which of the hops is the candidate from the start, and its gap from the document node.
    fn choose_pivot(&self, hops: &[Hop]) -> (usize, Gap) {
        let mut chosen = (0, hops[0].gap);
        if !self.balanced {
            return chosen;
        }
        let weight = |hop: &Hop| self.weights[hop.symbol.index()];
        let mut gap = hops[0].gap;
        for (at, hop) in hops.iter().enumerate().skip(1) {
            gap = gap.then(hop.gap);
            // Any element is no name: its list would be looked at for every start tag.
            if hop.symbol != Symbol::ANY_ELEMENT && weight(hop) < weight(&hops[chosen.0]) {
                chosen = (at, gap);
            }
        }
        chosen
    }

    /// A free stretch of nodes.
    fn stretch(&mut self, length: usize) -> NodeId {
        if let Some(first) = self.free_nodes.get_mut(length).and_then(Vec::pop) {
            return first;
        }
        let first = self.nodes.len();
        self.nodes.resize(first + length, Node { to: NONE, path: PathId(0) });
        self.hops.resize(first + length, Hop { symbol: Symbol::ANY_ELEMENT, gap: Gap::new(0, true) });
        first as NodeId
    }

    fn make_room(&mut self, hops: &[Hop], id: PathId) {
        let symbols = hops.iter().map(|hop| hop.symbol.index() + 1).max().unwrap_or(0);
        if symbols > self.heads.len() {
            self.heads.resize(symbols, NONE);
            self.weights.resize(symbols, 0);
        }
        if id.0 as usize >= self.places.len() {
            let nowhere = Place { first: NONE, length: 0, pivots: NONE, pivot_at: 0, ends: NONE, end_at: 0 };
            self.places.resize(id.0 as usize + 1, nowhere);
        }
    }

    fn place_of(&mut self, node: NodeId) -> &mut Place {
        &mut self.places[self.nodes[node as usize].path.0 as usize]
    }
}

impl Engine for XFilter {
    type Run = Run;

    fn new_run(&self, cache_bytes: usize) -> Run {
        Run::with_budget(cache_bytes)
    }

    fn insert(&mut self, path: &LinearPath, id: PathId) {
        let hops: Vec<Hop> = hops(path).collect();
        self.make_room(&hops, id);
        let first = self.stretch(hops.len());
        let at = first as usize;
        self.hops[at..at + hops.len()].copy_from_slice(&hops);
        self.nodes[at..at + hops.len()].fill(Node { to: NONE, path: id });

        let (pivot, gap) = self.choose_pivot(&hops);
        for (before, hop) in (at + pivot..).zip(&hops[pivot + 1..]) {
            self.nodes[before].to = self.use_list(hop.symbol, hop.gap) << 1 | u32::from(hop.gap.exact());
        }
        let symbol = hops[pivot].symbol;
        self.weights[symbol.index()] += 1;
        let pivots = self.use_list(symbol, gap);
        let node = self.nodes[at + pivot];
        let list = &mut self.lists[pivots as usize].pivots;
        let pivot_at = list.len() as u32;
        list.push(Pivot { id: first + pivot as u32, prefix: pivot as u32, node });

        let last = hops[hops.len() - 1];
        self.attributes += usize::from(last.symbol.is_attribute());
        let ends = self.use_list(last.symbol, last.gap);
        let list = &mut self.lists[ends as usize].ends;
        let end_at = list.len() as u32;
        let length = hops.len() as u32;
        list.push(first + length - 1);
        self.places[id.0 as usize] = Place { first, length, pivots, pivot_at, ends, end_at };
    }

    fn remove(&mut self, _path: &LinearPath, id: PathId) {
        let Place { first, length, pivots, pivot_at, ends, end_at } = self.places[id.0 as usize];
        let list = &mut self.lists[pivots as usize];
        self.weights[list.symbol.index()] -= 1;
        list.pivots.swap_remove(pivot_at as usize);
        if let Some(&moved) = list.pivots.get(pivot_at as usize) {
            self.place_of(moved.id).pivot_at = pivot_at;
        }
        self.release_list(pivots);

        let list = &mut self.lists[ends as usize];
        self.attributes -= usize::from(list.symbol.is_attribute());
        list.ends.swap_remove(end_at as usize);
        if let Some(&moved) = list.ends.get(end_at as usize) {
            self.place_of(moved).end_at = end_at;
        }
        self.release_list(ends);

        for node in first..first + length {
            if let Some((list, _)) = self.nodes[node as usize].next() {
                self.release_list(list);
            }
        }
        if self.free_nodes.len() <= length as usize {
            self.free_nodes.resize(length as usize + 1, Vec::new());
        }
        self.free_nodes[length as usize].push(first);
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

    fn capabilities(&self) -> Capabilities<'_, Run> {
        Capabilities { cache: Some(self), ..Capabilities::default() }
    }

    fn wants_attributes(&self) -> bool {
        self.attributes > 0
    }

    fn memory_bytes(&self) -> usize {
        let in_lists: usize =
            self.lists.iter().map(|list| 16 * list.pivots.capacity() + 4 * list.ends.capacity()).sum();
        let free: usize = self.free_nodes.iter().map(|free| 4 * free.capacity() + 24).sum();
        in_lists
            + free
            + self.nodes.capacity() * size_of::<Node>()
            + self.hops.capacity() * size_of::<Hop>()
            + self.lists.capacity() * size_of::<List>()
            + self.list_index.allocation_size()
            + (self.free_lists.capacity() + self.heads.capacity() + self.weights.capacity()) * 4
            + self.places.capacity() * size_of::<Place>()
    }
}

impl Cache<Run> for XFilter {
    fn stats(&self, run: &Run) -> CacheStats {
        run.stats()
    }
}
