//! Which keyword each path of several keywords waits for, and how that is undone at an end tag.
//!
//! A path waits for its first keyword, then for the second, and so on: the earliest end of a keyword leaves the most
//! room for those that follow, so one frontier for each path is enough on the way from the root to here.
//! The paper counts the symbols since a frontier was moved, so that two keywords do not share symbols. Here the count
//! is the difference of two depths, and nothing is counted up.

use super::filters::{FilterId, Filters, TupleId};
use super::trie::{NONE, StateId, Trie};

/// How the output tuples of a state are looked through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// All tuples of the state, also of paths that wait for another keyword.
    #[default]
    Scanned,
    /// Only tuples of paths that wait for this keyword: the lists change with every move of a frontier.
    Updated,
}

/// A frontier as it was before a move.
#[derive(Clone, Copy, Debug)]
struct Move {
    filter: FilterId,
    tuple: TupleId,
    since: u32,
}

/// The state of all paths of several keywords in one document.
#[derive(Debug, Default)]
pub(super) struct Frontier {
    /// By filter: the tuple it waits for; `NONE` when it was found.
    waits: Vec<TupleId>,
    /// By filter: the depth at which it began to wait.
    since: Vec<u32>,
    moves: Vec<Move>,
    found: Vec<FilterId>,
    lists: Option<Lists>,
}

impl Frontier {
    /// Every path waits for its first keyword.
    pub(super) fn new(filters: &Filters, trie: &Trie, output: Output) -> Self {
        let waits: Vec<TupleId> = filters.filters.iter().map(|filter| filter.first).collect();
        let mut lists =
            (output == Output::Updated).then(|| Lists::new(trie.states.len(), filters.tuples.len()));
        if let Some(lists) = &mut lists {
            for &tuple in waits.iter().filter(|&&tuple| tuple != NONE) {
                lists.link(tuple, filters.tuples[tuple as usize].state);
            }
        }
        Self { since: vec![0; waits.len()], waits, moves: Vec::new(), found: Vec::new(), lists }
    }

    /// Undoes the document before, also one that broke off.
    pub(super) fn begin(&mut self, filters: &Filters) {
        self.undo(filters, 0);
        for filter in self.found.drain(..) {
            let first = filters.filters[filter as usize].first;
            self.waits[filter as usize] = first;
            self.since[filter as usize] = 0;
            if let Some(lists) = &mut self.lists {
                lists.link(first, filters.tuples[first as usize].state);
            }
        }
    }

    /// How many moves there have been on the way to here.
    pub(super) fn mark(&self) -> usize {
        self.moves.len()
    }

    /// The paths found so far.
    pub(super) fn found(&self) -> &[FilterId] {
        &self.found
    }

    /// Moves every path that waits for a keyword which ends here, `depth` symbols from the start.
    pub(super) fn meet(
        &mut self,
        filters: &Filters,
        state: StateId,
        length: u32,
        first: TupleId,
        depth: u32,
    ) {
        let mut at = match &self.lists {
            Some(lists) => lists.heads[state as usize],
            None => first,
        };
        while at != NONE {
            let tuple = filters.tuples[at as usize];
            let next = match &self.lists {
                Some(lists) => lists.arcs[at as usize].0,
                None => tuple.next,
            };
            let filter = tuple.filter as usize;
            if self.waits[filter] == at && depth - self.since[filter] >= length {
                self.advance(filters, at, tuple.filter, tuple.last, depth);
            }
            at = next;
        }
    }

    fn advance(&mut self, filters: &Filters, at: TupleId, filter: FilterId, last: bool, depth: u32) {
        let (waits, since) = (&mut self.waits[filter as usize], &mut self.since[filter as usize]);
        if let Some(lists) = &mut self.lists {
            lists.unlink(at, filters.tuples[at as usize].state);
            if !last {
                lists.link(at + 1, filters.tuples[at as usize + 1].state);
            }
        }
        if last {
            *waits = NONE;
            self.found.push(filter);
            return;
        }
        self.moves.push(Move { filter, tuple: at, since: *since });
        *waits = at + 1;
        *since = depth;
    }

    /// Undoes the moves after a mark; what was found stays found.
    pub(super) fn undo(&mut self, filters: &Filters, mark: usize) {
        while self.moves.len() > mark
            && let Some(Move { filter, tuple, since }) = self.moves.pop()
        {
            let waits = &mut self.waits[filter as usize];
            if *waits == NONE {
                continue;
            }
            if let Some(lists) = &mut self.lists {
                lists.unlink(*waits, filters.tuples[*waits as usize].state);
                lists.link(tuple, filters.tuples[tuple as usize].state);
            }
            *waits = tuple;
            self.since[filter as usize] = since;
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let lists = self.lists.as_ref().map_or(0, |lists| lists.heads.len() * 4 + lists.arcs.len() * 8);
        lists + self.waits.capacity() * 8 + self.moves.capacity() * size_of::<Move>()
    }
}

/// The tuples that are waited for, one list for each state.
#[derive(Debug)]
struct Lists {
    heads: Vec<TupleId>,
    /// By tuple: the one after and the one before.
    arcs: Vec<(TupleId, TupleId)>,
}

impl Lists {
    fn new(states: usize, tuples: usize) -> Self {
        Self { heads: vec![NONE; states], arcs: vec![(NONE, NONE); tuples] }
    }

    fn link(&mut self, tuple: TupleId, state: StateId) {
        let next = std::mem::replace(&mut self.heads[state as usize], tuple);
        self.arcs[tuple as usize] = (next, NONE);
        if next != NONE {
            self.arcs[next as usize].1 = tuple;
        }
    }

    fn unlink(&mut self, tuple: TupleId, state: StateId) {
        let (next, before) = self.arcs[tuple as usize];
        if before == NONE {
            self.heads[state as usize] = next;
        } else {
            self.arcs[before as usize].0 = next;
        }
        if next != NONE {
            self.arcs[next as usize].1 = before;
        }
    }
}
