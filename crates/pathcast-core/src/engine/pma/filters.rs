//! The paths of two or more keywords, and the output tuples that lead to them.

use rustc_hash::FxHashMap;

use super::trie::{NONE, StateId, Trie};
use crate::engine::PathId;

pub(super) type FilterId = u32;
pub(super) type TupleId = u32;

/// One keyword of one filter; those of a filter have consecutive numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuple {
    pub(super) filter: FilterId,
    pub(super) state: StateId,
    /// Whether it is the filter's last keyword.
    pub(super) last: bool,
    /// The next tuple of the same state.
    pub(super) next: TupleId,
    before: TupleId,
}

/// A path of several keywords.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filter {
    pub(super) path: u32,
    /// The tuple of the first keyword; `NONE` for a number that is free.
    pub(super) first: TupleId,
    keywords: u32,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Filters {
    pub(super) tuples: Vec<Tuple>,
    pub(super) filters: Vec<Filter>,
    numbers: FxHashMap<PathId, FilterId>,
    free: Vec<FilterId>,
    /// Free runs of tuples by length: a path of as many keywords takes one whole.
    runs: FxHashMap<u32, Vec<TupleId>>,
}

impl Filters {
    pub(super) fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Adds a filter whose keywords have these states.
    pub(super) fn insert(&mut self, path: PathId, states: &[StateId], trie: &mut Trie) {
        let keywords = states.len() as u32;
        let first = self.runs.get_mut(&keywords).and_then(Vec::pop).unwrap_or(self.tuples.len() as TupleId);
        let filter = Filter { path: path.0, first, keywords };
        let id = match self.free.pop() {
            Some(id) => {
                self.filters[id as usize] = filter;
                id
            }
            None => {
                self.filters.push(filter);
                (self.filters.len() - 1) as FilterId
            }
        };
        self.numbers.insert(path, id);
        for (at, &state) in (first..).zip(states) {
            let next = std::mem::replace(&mut trie.states[state as usize].tuples, at);
            if next != NONE {
                self.tuples[next as usize].before = at;
            }
            let last = at + 1 == first + keywords;
            let tuple = Tuple { filter: id, state, last, next, before: NONE };
            if at as usize == self.tuples.len() {
                self.tuples.push(tuple);
            } else {
                self.tuples[at as usize] = tuple;
            }
        }
    }

    /// Takes a filter out; the states of its keywords, perhaps with repetitions.
    pub(super) fn remove(&mut self, path: PathId, trie: &mut Trie) -> Vec<StateId> {
        let Some(id) = self.numbers.remove(&path) else { return Vec::new() };
        let Filter { first, keywords, .. } = self.filters[id as usize];
        let mut states = Vec::new();
        for at in first..first + keywords {
            let Tuple { state, next, before, .. } = self.tuples[at as usize];
            if before == NONE {
                trie.states[state as usize].tuples = next;
            } else {
                self.tuples[before as usize].next = next;
            }
            if next != NONE {
                self.tuples[next as usize].before = before;
            }
            states.push(state);
        }
        self.filters[id as usize].first = NONE;
        self.free.push(id);
        self.runs.entry(keywords).or_default().push(first);
        states
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let runs: usize = self.runs.values().map(|run| run.capacity() * 4 + 40).sum();
        runs + self.tuples.capacity() * size_of::<Tuple>()
            + self.filters.capacity() * size_of::<Filter>()
            + self.numbers.capacity() * 9
            + self.free.capacity() * 4
    }
}
