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
    level: u32,
    /// All or any: bits of branches to be found. In order: the rank of the next.
    left: u64,
    /// The child that the last branch was found under.
    branch: u32,
    /// Whether nothing more is asked of it: it is complete, or could not help any more.
    done: bool,
    /// Of the first one of a row: how many more there are, whether it is taken or not.
    more: u32,
}

/// States by row and level.
#[derive(Debug, Default)]
pub(super) struct States {
    /// By row: one state, which is all there is unless elements of one name lie within each other.
    first: Vec<State>,
    /// By row and level: the others.
    more: FxHashMap<u64, State>,
    /// By level: the rows with a state there.
    rows: Vec<Vec<u32>>,
    /// A bit for each row that has a state: bits stay near where states do not.
    some: Vec<u64>,
}

/// No level.
const FREE: u32 = u32::MAX;

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
    fn fresh(self, level: u32) -> State {
        let left = match self.mode {
            Mode::Ordered => 1,
            Mode::All | Mode::Any | Mode::Not => u64::MAX >> (64 - self.count.clamp(1, 64)),
        };
        State { level, left, branch: 0, done: false, more: 0 }
    }
}

impl States {
    /// Whether a branch of this rank, found under the child that is open now, would help.
    #[inline]
    pub(super) fn wants(&self, row: u32, level: u32, branches: Branches, rank: u32, child: u32) -> bool {
        match self.get(row, level) {
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
            Mode::Any | Mode::Not => state.done = true,
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

    /// Whether nothing more is asked of a row at a level.
    pub(super) fn is_done(&self, row: u32, level: u32) -> bool {
        self.get(row, level).is_some_and(|state| state.done)
    }

    /// Whether a row has a state at any level.
    #[inline]
    pub(super) fn has_any(&self, row: u32) -> bool {
        self.some[row as usize / 64] >> (row % 64) & 1 != 0
    }

    /// Brings the state of a row near; what it answers is of no use.
    #[inline]
    pub(super) fn fetch(&self, row: u32) -> u32 {
        self.first.get(row as usize).map_or(FREE, |state| state.level)
    }

    #[inline]
    fn get(&self, row: u32, level: u32) -> Option<&State> {
        let first = &self.first[row as usize];
        if first.level == level {
            return Some(first);
        }
        if self.more.is_empty() { None } else { self.more.get(&key(row, level)) }
    }

    fn entry(&mut self, row: u32, level: u32, branches: Branches) -> &mut State {
        if self.rows.len() <= level as usize {
            self.rows.resize(level as usize + 1, Vec::new());
        }
        let rows = &mut self.rows[level as usize];
        let first = &mut self.first[row as usize];
        if first.level == level {
            return first;
        }
        self.some[row as usize / 64] |= 1 << (row % 64);
        let key = key(row, level);
        if first.level == FREE && !self.more.contains_key(&key) {
            rows.push(row);
            *first = State { more: first.more, ..branches.fresh(level) };
            return first;
        }
        self.more.entry(key).or_insert_with(|| {
            rows.push(row);
            first.more += 1;
            branches.fresh(level)
        })
    }

    /// Makes room for rows below `bound`; there must be no state. Nothing is to be cleared: each state was taken back at
    /// its end tag.
    pub(super) fn resize(&mut self, bound: usize) {
        self.first.resize(bound, State { level: FREE, left: 0, branch: 0, done: false, more: 0 });
        self.some.resize(bound.div_ceil(64), 0);
    }

    /// The element at a level ends.
    pub(super) fn end(&mut self, level: u32) {
        if let Some(rows) = self.rows.get_mut(level as usize) {
            for row in rows.drain(..) {
                let first = &mut self.first[row as usize];
                if first.level == level {
                    first.level = FREE;
                } else if self.more.remove(&key(row, level)).is_some() {
                    first.more -= 1;
                }
                if first.level == FREE && first.more == 0 {
                    self.some[row as usize / 64] &= !(1 << (row % 64));
                }
            }
        }
    }

    /// The paper's value for a row that holds at a level: the rank of the next branch.
    #[cfg(test)]
    pub(super) fn value(&self, row: u32, level: u32, branches: Branches) -> u64 {
        let state = self.get(row, level).copied().unwrap_or(branches.fresh(level));
        if state.done { u64::from(branches.count) + 1 } else { state.left }
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.first.capacity() * size_of::<State>() + self.some.capacity() * 8 + self.grown_bytes()
    }

    /// Of these, what grew with a document.
    pub(super) fn grown_bytes(&self) -> usize {
        let rows: usize = self.rows.iter().map(|rows| rows.capacity() * 4 + size_of::<Vec<u32>>()).sum();
        self.more.capacity() * (size_of::<State>() + 9) + rows
    }

    /// Gives that back; there must be no state.
    pub(super) fn shrink(&mut self) {
        (self.more, self.rows) = (FxHashMap::default(), Vec::new());
    }
}

fn wants(state: &State, mode: Mode, rank: u32, child: u32) -> bool {
    !state.done
        && match mode {
            Mode::Any | Mode::Not => true,
            Mode::All => state.left >> (rank - 1) & 1 != 0,
            Mode::Ordered => state.left == u64::from(rank) && state.branch != child,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows with states at one level and at several, one above the other and taken up again; levels end from the deepest
    /// on, and then nothing is left to be cleared.
    #[test]
    fn what_was_touched_is_taken_back() {
        let branches = Branches { mode: Mode::All, count: 2 };
        let mut states = States::default();
        states.resize(200);
        let find = |states: &mut States, row, level| {
            assert_eq!(states.find(row, level, branches, 1, 1), Some(false))
        };
        for (row, level) in [(3, 1), (3, 2), (70, 2), (3, 5), (150, 5)] {
            find(&mut states, row, level);
        }
        states.end(5);
        assert_eq!([3, 70, 150].map(|row| states.has_any(row)), [true, true, false]);
        // While a row has states at several levels, another one's only state goes.
        states.end(2);
        assert_eq!([3, 70].map(|row| states.has_any(row)), [true, false]);
        states.end(1);
        assert!(states.more.is_empty() && states.some.iter().all(|&word| word == 0));
        assert!(states.first.iter().all(|state| state.level == FREE && state.more == 0));

        // The first state of a row ends while another one is there, which is so after a document broke off.
        find(&mut states, 9, 4);
        find(&mut states, 9, 6);
        states.end(4);
        assert!(states.has_any(9) && !states.wants(9, 6, branches, 1, 1));
        find(&mut states, 9, 4);
        states.end(6);
        assert!(states.has_any(9) && !states.wants(9, 4, branches, 1, 1));
        states.end(4);
        assert!(!states.has_any(9) && states.len() == 0);
    }
}
