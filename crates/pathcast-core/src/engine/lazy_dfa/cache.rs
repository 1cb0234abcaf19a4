//! What has been built so far: states, transitions, accepted sets.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::accepted::{Accepted, AcceptedId};
use super::transitions::Transitions;
use crate::engine::yfilter::{Configuration, YFilter};
use crate::names::{NameId, Resolved};

/// The number of a deterministic state; 0 is the dead one, from which nothing is reached.
pub(super) type StateId = u32;

pub(super) const DEAD: StateId = 0;

/// What a start tag or an attribute is to a cache: one number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Symbol(pub(super) u32);

impl Symbol {
    const ATTRIBUTE: u32 = 1 << 31;
    const NAMESPACE: u32 = 1 << 30;
    /// No symbol: no name has this number.
    pub(super) const NONE: Self = Self(u32::MAX);

    pub(super) fn element(name: Resolved) -> Self {
        // A name implies its namespace; only a name nobody uses can be met by its namespace alone.
        if name.name == NameId::OTHER && name.namespace != NameId::OTHER {
            Self(name.namespace.0 | Self::NAMESPACE)
        } else {
            Self(name.name.0)
        }
    }

    pub(super) fn attribute(name: Resolved) -> Self {
        Self(Self::element(name).0 | Self::ATTRIBUTE)
    }
}

/// A set of active states, in one vector of all sets: the passing ones, then the staying ones.
#[derive(Clone, Copy)]
struct Set {
    start: u32,
    staying: u32,
    end: u32,
    attributes: bool,
}

/// The deterministic automaton as far as it is built.
#[derive(Default)]
pub(super) struct Cache {
    active: Vec<u32>,
    sets: Vec<Set>,
    index: HashTable<StateId>,
    transitions: Transitions,
    pub(super) accepted: Accepted,
    next: Configuration,
}

impl Cache {
    pub(super) fn clear(&mut self) {
        *self = Self { next: std::mem::take(&mut self.next), ..Self::default() };
    }

    /// Bytes held; counted from capacities, so it is what the allocator gave.
    pub(super) fn bytes(&self) -> usize {
        self.active.capacity() * 4
            + self.sets.capacity() * size_of::<Set>()
            + self.index.allocation_size()
            + self.transitions.bytes()
            + self.accepted.bytes()
    }

    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    /// The state of the document node.
    pub(super) fn start(&mut self, automaton: &YFilter) -> StateId {
        if self.sets.is_empty() {
            self.sets.push(Set { start: 0, staying: 0, end: 0, attributes: false });
        }
        automaton.initial(&mut self.next);
        self.intern(automaton)
    }

    #[inline]
    pub(super) fn known(&self, from: StateId, symbol: Symbol) -> Option<(StateId, AcceptedId)> {
        self.transitions.get(from, symbol)
    }

    /// Builds the transition that a start tag makes.
    pub(super) fn build(
        &mut self,
        automaton: &YFilter,
        from: StateId,
        element: Resolved,
    ) -> (StateId, AcceptedId) {
        let set = self.sets[from as usize];
        let active = &self.active[set.start as usize..set.end as usize];
        let (passing, staying) = active.split_at((set.staying - set.start) as usize);
        automaton.step(passing, staying, element, &mut self.next);
        let to = self.intern(automaton);
        let accepted = self.accepted.intern(&mut self.next.paths);
        self.transitions.insert(from, Symbol::element(element), to, accepted);
        (to, accepted)
    }

    /// Builds what an attribute is accepted for.
    pub(super) fn build_attribute(&mut self, automaton: &YFilter, at: StateId, name: Resolved) -> AcceptedId {
        let set = self.sets[at as usize];
        self.next.paths.clear();
        for &state in &self.active[set.start as usize..set.end as usize] {
            automaton.attribute_paths(state, name, &mut self.next.paths);
        }
        let accepted = self.accepted.intern(&mut self.next.paths);
        self.transitions.insert(at, Symbol::attribute(name), DEAD, accepted);
        accepted
    }

    /// The state of the set in `self.next`.
    fn intern(&mut self, automaton: &YFilter) -> StateId {
        let Self { active, sets, index, next, .. } = self;
        next.sort();
        if next.is_empty() {
            return DEAD;
        }
        let same = |id: StateId| {
            let set = sets[id as usize];
            active[set.start as usize..set.staying as usize] == next.passing[..]
                && active[set.staying as usize..set.end as usize] == next.staying[..]
        };
        let key = hash(&next.passing) ^ hash(&next.staying).rotate_left(17);
        if let Some(&known) = index.find(key, |&id| same(id)) {
            return known;
        }
        let id = sets.len() as StateId;
        let start = active.len() as u32;
        active.extend_from_slice(&next.passing);
        let staying = active.len() as u32;
        active.extend_from_slice(&next.staying);
        let attributes = automaton.any_attributes(&next.passing) || automaton.any_attributes(&next.staying);
        sets.push(Set { start, staying, end: active.len() as u32, attributes });
        index.insert_unique(key, id, |&id| {
            let set = sets[id as usize];
            hash(&active[set.start as usize..set.staying as usize])
                ^ hash(&active[set.staying as usize..set.end as usize]).rotate_left(17)
        });
        id
    }

    /// The set behind a state.
    pub(super) fn configuration(&self, id: StateId) -> (&[u32], &[u32]) {
        let set = self.sets[id as usize];
        self.active[set.start as usize..set.end as usize].split_at((set.staying - set.start) as usize)
    }

    /// Whether some state of the set looks at attributes.
    #[inline]
    pub(super) fn looks_at_attributes(&self, id: StateId) -> bool {
        self.sets[id as usize].attributes
    }
}

pub(super) fn hash(numbers: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    numbers.hash(&mut hasher);
    hasher.finish()
}
