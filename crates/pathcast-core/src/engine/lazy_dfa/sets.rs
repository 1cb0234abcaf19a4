//! Sets of states of the shared automaton, each stored once.

use hashbrown::HashTable;

use crate::engine::yfilter::YFilter;

/// The number of a set; 0 is the empty one.
pub(super) type SetId = u32;

pub(super) const EMPTY: SetId = 0;

/// Where a set lies, and what can be told without a look at it.
#[derive(Clone, Copy, Debug)]
struct Set {
    start: u32,
    end: u32,
    /// The document that last used it.
    used: u32,
    /// Whether one of its states has attribute edges.
    attributes: bool,
}

/// All sets that were met.
#[derive(Default)]
pub(super) struct Sets {
    states: Vec<u32>,
    sets: Vec<Set>,
    /// By set: a bit for each name that leads on, as the automaton has it; all of them if every name does.
    sketches: Vec<u64>,
    index: HashTable<SetId>,
}

impl Sets {
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    #[inline]
    pub(super) fn sketch(&self, id: SetId) -> u64 {
        self.sketches[id as usize]
    }

    #[inline]
    pub(super) fn looks_at_attributes(&self, id: SetId) -> bool {
        self.sets[id as usize].attributes
    }

    #[inline]
    pub(super) fn states(&self, id: SetId) -> &[u32] {
        let set = self.sets[id as usize];
        &self.states[set.start as usize..set.end as usize]
    }

    /// Notes that a document used a set.
    #[inline]
    pub(super) fn used(&mut self, id: SetId, document: u32) {
        self.sets[id as usize].used = document;
    }

    pub(super) fn last_used(&self, id: SetId) -> u32 {
        self.sets[id as usize].used
    }

    /// The set of some states, in any order.
    pub(super) fn intern(&mut self, states: &mut Vec<u32>, automaton: &YFilter) -> SetId {
        if self.sets.is_empty() {
            self.sets.push(Set { start: 0, end: 0, used: 0, attributes: false });
            self.sketches.push(0);
        }
        states.sort_unstable();
        states.dedup();
        if states.is_empty() {
            return EMPTY;
        }
        let key = hash(states);
        if let Some(&known) = self.index.find(key, |&id| self.states(id) == states.as_slice()) {
            return known;
        }
        let id = self.sets.len() as SetId;
        let start = self.states.len() as u32;
        self.states.extend_from_slice(states);
        self.sets.push(Set { start, end: self.states.len() as u32, used: 0, attributes: false });
        self.sketches.push(0);
        let (all, sets) = (&self.states, &self.sets);
        self.index.insert_unique(key, id, |&id| {
            let set = sets[id as usize];
            hash(&all[set.start as usize..set.end as usize])
        });
        self.look_at(id, automaton);
        id
    }

    /// Works out what can be told of a set, now or after the automaton changed.
    pub(super) fn look_at(&mut self, id: SetId, automaton: &YFilter) {
        let states = self.states(id);
        let sketch = automaton.sketch(states);
        let attributes = automaton.any_attributes(states);
        self.sketches[id as usize] = sketch;
        self.sets[id as usize].attributes = attributes;
    }

    /// The sets with one of these states, which are sorted.
    pub(super) fn holding(&self, states: &[u32]) -> Vec<SetId> {
        let holds = |id: &SetId| {
            let set = self.states(*id);
            let (few, many) = if set.len() < states.len() { (set, states) } else { (states, set) };
            few.iter().any(|state| many.binary_search(state).is_ok())
        };
        (1..self.sets.len() as SetId).filter(holds).collect()
    }

    pub(super) fn bytes(&self) -> usize {
        self.states.capacity() * 4
            + self.sets.capacity() * size_of::<Set>()
            + self.sketches.capacity() * 8
            + self.index.allocation_size()
    }
}

pub(super) fn hash(numbers: &[u32]) -> u64 {
    crate::hashing::hash(numbers)
}
