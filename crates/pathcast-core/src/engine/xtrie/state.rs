//! The run-time state of tree patterns: which branches of a row have been found, at each level.
//!
//! A state is a fact about the element that is open *now* at a level, so it goes when that element ends. It is made
//! when the first branch of a row is found: until then a row that holds at a level has nothing to remember. All branches
//! anywhere are a bit string; branches in order are the rank of the next one. That sibling branches lie under
//! different children is kept as the number of the child that the last branch was found under, instead of a flag that
//! would have to be taken back at each end tag.

use rustc_hash::FxHashMap;

use super::pattern::Mode;

/// What has been found of one row at one level.
#[derive(Clone, Copy, Debug)]
struct State {
    /// All or any: bits of branches to be found. In order: the rank of the next.
    left: u64,
    /// The child that the last branch was found under.
    branch: u32,
    /// Whether nothing more is asked of it: it is complete, or could not help any more.
    done: bool,
}

/// States by row and level.
#[derive(Debug, Default)]
pub(super) struct States {
    states: FxHashMap<u64, State>,
    /// By level: the rows with a state there.
    rows: Vec<Vec<u32>>,
}

fn key(row: u32, level: u32) -> u64 {
    u64::from(level) << 32 | u64::from(row)
}

/// What a row asks of its branches.
#[derive(Clone, Copy)]
pub(super) struct Branches {
    pub(super) mode: Mode,
    pub(super) count: u32,
}

impl Branches {
    fn fresh(self) -> State {
        let left = match self.mode {
            Mode::Ordered => 1,
            Mode::All | Mode::Any => u64::MAX >> (64 - self.count.clamp(1, 64)),
        };
        State { left, branch: 0, done: false }
    }
}

impl States {
    /// Whether a branch of this rank, found under the child that is open now, would help.
    #[inline]
    pub(super) fn wants(&self, row: u32, level: u32, branches: Branches, rank: u32, child: u32) -> bool {
        match self.states.get(&key(row, level)) {
            None => branches.mode != Mode::Ordered || rank == 1,
            Some(state) => wants(state, branches.mode, rank, child),
        }
    }

    /// Notes a branch. `None` if it does not help; else whether the row has all it needs now.
    pub(super) fn find(
        &mut self,
        row: u32,
        level: u32,
        branches: Branches,
        rank: u32,
        child: u32,
    ) -> Option<bool> {
        if !self.wants(row, level, branches, rank, child) {
            return None;
        }
        let state = self.entry(row, level, branches);
        match branches.mode {
            Mode::Any => state.done = true,
            Mode::All => {
                state.left &= !(1 << (rank - 1));
                state.done = state.left == 0;
            }
            Mode::Ordered => {
                state.left += 1;
                state.branch = child;
                state.done = state.left > u64::from(branches.count);
            }
        }
        Some(state.done)
    }

    /// Nothing more is asked of a row at a level. False if that was so before.
    pub(super) fn finish(&mut self, row: u32, level: u32, branches: Branches) -> bool {
        !std::mem::replace(&mut self.entry(row, level, branches).done, true)
    }

    fn entry(&mut self, row: u32, level: u32, branches: Branches) -> &mut State {
        if self.rows.len() <= level as usize {
            self.rows.resize(level as usize + 1, Vec::new());
        }
        let rows = &mut self.rows[level as usize];
        self.states.entry(key(row, level)).or_insert_with(|| {
            rows.push(row);
            branches.fresh()
        })
    }

    /// The element at a level ends.
    pub(super) fn end(&mut self, level: u32) {
        if let Some(rows) = self.rows.get_mut(level as usize) {
            for row in rows.drain(..) {
                self.states.remove(&key(row, level));
            }
        }
    }

    /// The paper's value for a row that holds at a level: the rank of the next branch.
    #[cfg(test)]
    pub(super) fn value(&self, row: u32, level: u32, branches: Branches) -> u64 {
        let state = self.states.get(&key(row, level)).copied().unwrap_or(branches.fresh());
        if state.done { u64::from(branches.count) + 1 } else { state.left }
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let rows: usize = self.rows.iter().map(|rows| rows.capacity() * 4 + size_of::<Vec<u32>>()).sum();
        self.states.capacity() * (size_of::<u64>() + size_of::<State>() + 1) + rows
    }
}

fn wants(state: &State, mode: Mode, rank: u32, child: u32) -> bool {
    !state.done
        && match mode {
            Mode::Any => true,
            Mode::All => state.left >> (rank - 1) & 1 != 0,
            Mode::Ordered => state.left == u64::from(rank) && state.branch != child,
        }
}
