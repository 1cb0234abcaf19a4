//! What has been built so far: sets, transitions, accepted paths; and what goes when there is no more room.

use hashbrown::HashMap;

use super::accepted::{Accepted, AcceptedId};
use super::sets::{EMPTY, SetId, Sets};
use super::symbol::Symbol;
use super::transitions::{Step, Transitions};
use crate::engine::yfilter::{Configuration, StateId, YFilter};
use crate::names::Resolved;

/// Bytes for remembered unions; beyond them they are found out again.
const UNION_BYTES: usize = 1 << 20;

/// The deterministic automaton as far as it is built.
#[derive(Default)]
pub(super) struct Cache {
    pub(super) sets: Sets,
    transitions: Transitions,
    pub(super) accepted: Accepted,
    /// Unions of sets by their numbers.
    unions: HashMap<Box<[SetId]>, SetId>,
    union_bytes: usize,
    next: Configuration,
}

impl Cache {
    pub(super) fn clear(&mut self) {
        *self = Self { next: std::mem::take(&mut self.next), ..Self::default() };
    }

    /// Bytes held; counted from capacities, so it is what the allocator gave.
    pub(super) fn bytes(&self) -> usize {
        self.sets.bytes() + self.transitions.bytes() + self.accepted.bytes() + self.union_bytes
    }

    /// The states of the document node: those that the first start tag leaves, and those that stay active below.
    pub(super) fn start(&mut self, automaton: &YFilter) -> (SetId, SetId) {
        automaton.initial(&mut self.next);
        let passing = self.sets.intern(&mut self.next.passing, automaton);
        (passing, self.sets.intern(&mut self.next.staying, automaton))
    }

    #[inline]
    pub(super) fn known(&self, from: SetId, symbol: Symbol) -> Option<Step> {
        self.transitions.get(from, symbol)
    }

    /// Builds the transition that a start tag makes.
    pub(super) fn build(&mut self, automaton: &YFilter, from: SetId, element: Resolved) -> Step {
        let Self { sets, transitions, accepted, next, .. } = self;
        automaton.step(sets.states(from), &[], element, next);
        let step = Step {
            passing: sets.intern(&mut next.passing, automaton),
            staying: sets.intern(&mut next.staying, automaton),
            accepted: accepted.intern(&mut next.paths),
        };
        transitions.insert(from, Symbol::element(element), step);
        step
    }

    /// Builds what an attribute is accepted for.
    pub(super) fn build_attribute(&mut self, automaton: &YFilter, at: SetId, name: Resolved) -> AcceptedId {
        let Self { sets, transitions, accepted, next, .. } = self;
        next.paths.clear();
        for &state in sets.states(at) {
            automaton.attribute_paths(state, name, &mut next.paths);
        }
        let accepted = accepted.intern(&mut next.paths);
        transitions.insert(at, Symbol::attribute(name), Step { passing: EMPTY, staying: EMPTY, accepted });
        accepted
    }

    /// One set that stands for several.
    pub(super) fn union(&mut self, automaton: &YFilter, parts: &[SetId]) -> SetId {
        if let Some(&known) = self.unions.get(parts) {
            return known;
        }
        let mut states: Vec<StateId> =
            parts.iter().flat_map(|&part| self.sets.states(part)).copied().collect();
        let union = self.sets.intern(&mut states, automaton);
        if self.union_bytes > UNION_BYTES {
            self.unions.clear();
            self.union_bytes = 0;
        }
        self.union_bytes += size_of_val(parts) + 32;
        self.unions.insert(parts.into(), union);
        union
    }

    /// Forgets what led from states, sorted, whose edges have changed.
    pub(super) fn forget(&mut self, changed: &[StateId], automaton: &YFilter) {
        let sets = self.sets.holding(changed);
        for &set in &sets {
            self.sets.look_at(set, automaton);
        }
        self.transitions.forget(&sets);
    }

    /// Lets go of about half: the sets that were not used for longest, and what leads from or to them.
    pub(super) fn evict(&mut self, automaton: &YFilter) {
        let mut ages: Vec<u32> = (1..self.sets.len() as SetId).map(|set| self.sets.last_used(set)).collect();
        if ages.is_empty() {
            return self.clear();
        }
        let middle = ages.len() / 2;
        let (_, &mut oldest, _) = ages.select_nth_unstable(middle);
        let old = std::mem::take(self);
        self.next = old.next;
        let mut states = Vec::new();
        let mut moved: Vec<Option<SetId>> = vec![None; old.sets.len()];
        for set in 1..old.sets.len() as SetId {
            if old.sets.last_used(set) > oldest {
                states.clear();
                states.extend_from_slice(old.sets.states(set));
                let fresh = self.sets.intern(&mut states, automaton);
                self.sets.used(fresh, old.sets.last_used(set));
                moved[set as usize] = Some(fresh);
            }
        }
        if let Some(empty) = moved.first_mut() {
            *empty = Some(EMPTY);
        }
        let mut paths = Vec::new();
        for (from, symbol, step) in old.transitions.iter() {
            let [from, passing, staying] = [from, step.passing, step.staying].map(|set| moved[set as usize]);
            if let (Some(from), Some(passing), Some(staying)) = (from, passing, staying) {
                paths.clear();
                paths.extend_from_slice(old.accepted.get(step.accepted));
                let accepted = self.accepted.intern(&mut paths);
                self.transitions.insert(from, symbol, Step { passing, staying, accepted });
            }
        }
    }
}
