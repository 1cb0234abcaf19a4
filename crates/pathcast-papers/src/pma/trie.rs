//! The keywords as a trie, and the arcs that make it a pattern-matching automaton.

use hashbrown::HashTable;

use super::keywords::Symbol;
use pathcast_core::engine::PathId;
use pathcast_core::hashing::spread_pair;

pub(super) type StateId = u32;

/// The state of the empty string; as an arc it is the end of the way.
pub(super) const INITIAL: StateId = 0;
/// No path, no tuple.
pub(super) const NONE: u32 = u32::MAX;

/// A prefix of some keyword.
#[derive(Clone, Debug)]
pub(super) struct State {
    parent: StateId,
    symbol: Symbol,
    /// The length of the prefix; 0 for the initial state and for those that are free.
    pub(super) depth: u32,
    children: u32,
    /// The path whose only keyword this is; the index gives no path twice, so there is at most one.
    pub(super) path: u32,
    /// The first output tuple: a sequence of keywords that ends with this one.
    pub(super) tuples: u32,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: StateId,
    symbol: Symbol,
    to: StateId,
}

/// The goto function, and what each state puts out.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    pub(super) states: Vec<State>,
    edges: HashTable<Edge>,
    free: Vec<StateId>,
    pub(super) attribute_edges: usize,
}

impl Default for Trie {
    fn default() -> Self {
        let root =
            State { parent: NONE, symbol: Symbol::DOCUMENT, depth: 0, children: 0, path: NONE, tuples: NONE };
        Self { states: vec![root], edges: HashTable::new(), free: Vec::new(), attribute_edges: 0 }
    }
}

impl Trie {
    /// The state that a symbol leads to directly.
    #[inline]
    pub(super) fn goto(&self, from: StateId, symbol: Symbol) -> Option<StateId> {
        self.edges
            .find(hash(from, symbol), |edge| edge.from == from && edge.symbol == symbol)
            .map(|edge| edge.to)
    }

    /// The state of a keyword, made if it is not there.
    pub(super) fn insert(&mut self, keyword: &[Symbol]) -> StateId {
        let mut at = INITIAL;
        for &symbol in keyword {
            at = self.goto(at, symbol).unwrap_or_else(|| self.grow(at, symbol));
        }
        at
    }

    /// The state of a keyword if it is there.
    pub(super) fn find(&self, keyword: &[Symbol]) -> Option<StateId> {
        keyword.iter().try_fold(INITIAL, |at, &symbol| self.goto(at, symbol))
    }

    fn grow(&mut self, from: StateId, symbol: Symbol) -> StateId {
        let depth = self.states[from as usize].depth + 1;
        let state = State { parent: from, symbol, depth, children: 0, path: NONE, tuples: NONE };
        let to = match self.free.pop() {
            Some(id) => {
                self.states[id as usize] = state;
                id
            }
            None => {
                self.states.push(state);
                (self.states.len() - 1) as StateId
            }
        };
        self.states[from as usize].children += 1;
        self.attribute_edges += usize::from(symbol.is_attribute());
        self.edges.insert_unique(hash(from, symbol), Edge { from, symbol, to }, rehash);
        to
    }

    /// Cuts off a state that nothing needs any more, and its parents that were only for it.
    pub(super) fn release(&mut self, mut id: StateId) {
        while id != INITIAL {
            let state = &mut self.states[id as usize];
            // Of two keywords of one path, releasing the longer may have taken the shorter along.
            let gone = state.depth == 0;
            if gone || state.children > 0 || state.path != NONE || state.tuples != NONE {
                return;
            }
            let (parent, symbol) = (state.parent, state.symbol);
            state.depth = 0;
            self.free.push(id);
            self.attribute_edges -= usize::from(symbol.is_attribute());
            self.states[parent as usize].children -= 1;
            if let Ok(edge) = self
                .edges
                .find_entry(hash(parent, symbol), |edge| edge.from == parent && edge.symbol == symbol)
            {
                edge.remove();
            }
            id = parent;
        }
    }

    /// The path whose only keyword ends in a state.
    #[inline]
    pub(super) fn path(&self, id: StateId) -> Option<PathId> {
        let path = self.states[id as usize].path;
        (path != NONE).then_some(PathId(path))
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.states.capacity() * size_of::<State>() + self.edges.allocation_size() + self.free.capacity() * 4
    }
}

/// The fail arcs, and the output paths along them: one over states with a path, one over states with tuples.
///
/// Two output paths because they are walked differently: a state with a path is done with once a document has met it.
#[derive(Clone, Debug)]
pub(super) struct Links {
    fail: Vec<StateId>,
    paths: Vec<StateId>,
    tuples: Vec<StateId>,
}

impl Links {
    /// The arcs of a trie: shorter prefixes first, because a fail arc leads to a shorter one.
    pub(super) fn new(trie: &Trie) -> Self {
        let mut order: Vec<StateId> = (0..trie.states.len() as StateId).collect();
        order.retain(|&id| trie.states[id as usize].depth > 0);
        order.sort_unstable_by_key(|&id| trie.states[id as usize].depth);
        let zeros = vec![INITIAL; trie.states.len()];
        let mut links = Self { fail: zeros.clone(), paths: zeros.clone(), tuples: zeros };
        for id in order {
            let State { parent, symbol, depth, .. } = trie.states[id as usize];
            let fail =
                if depth == 1 { INITIAL } else { links.step(trie, links.fail[parent as usize], symbol) };
            let at = id as usize;
            links.fail[at] = fail;
            links.paths[at] = links.first_path(trie, fail);
            links.tuples[at] = links.first_tuples(trie, fail);
        }
        links
    }

    /// The move on a symbol: goto where there is one, else from where the fail arcs lead.
    pub(super) fn step(&self, trie: &Trie, mut from: StateId, symbol: Symbol) -> StateId {
        loop {
            if let Some(to) = trie.goto(from, symbol) {
                return to;
            }
            if from == INITIAL {
                return INITIAL;
            }
            from = self.fail[from as usize];
        }
    }

    /// The first state with a path on the way from a state to the initial one.
    #[inline]
    pub(super) fn first_path(&self, trie: &Trie, id: StateId) -> StateId {
        if trie.states[id as usize].path == NONE { self.paths[id as usize] } else { id }
    }

    /// The next one.
    #[inline]
    pub(super) fn next_path(&self, id: StateId) -> StateId {
        self.paths[id as usize]
    }

    /// The first state with output tuples on the way from a state to the initial one.
    #[inline]
    pub(super) fn first_tuples(&self, trie: &Trie, id: StateId) -> StateId {
        if trie.states[id as usize].tuples == NONE { self.tuples[id as usize] } else { id }
    }

    /// The next one.
    #[inline]
    pub(super) fn next_tuples(&self, id: StateId) -> StateId {
        self.tuples[id as usize]
    }

    /// Heap bytes that the arcs of a trie hold, once they are made.
    pub(super) fn memory_bytes(trie: &Trie) -> usize {
        3 * trie.states.len() * size_of::<StateId>()
    }
}

pub(super) fn hash(from: StateId, symbol: Symbol) -> u64 {
    spread_pair(from, symbol.0)
}

fn rehash(edge: &Edge) -> u64 {
    hash(edge.from, edge.symbol)
}
