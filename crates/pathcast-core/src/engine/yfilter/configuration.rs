//! A set of active states outside any run, for engines that are built on this automaton.

use super::YFilter;
use super::automaton::{NONE, StateId, Symbol};
use crate::names::{NameId, Resolved};
use crate::pattern::NameTest;

/// The bit of `*` in a sketch; some names share it.
const STAR: u64 = 1 << 63;

/// Active states, and the paths that entering them accepted.
#[derive(Debug, Default)]
pub(in crate::engine) struct Configuration {
    /// States that the next start tag leaves.
    pub(in crate::engine) passing: Vec<StateId>,
    /// States that stay active below.
    pub(in crate::engine) staying: Vec<StateId>,
    /// Accepted paths, perhaps with repetitions.
    pub(in crate::engine) paths: Vec<u32>,
}

impl Configuration {
    fn clear(&mut self) {
        self.passing.clear();
        self.staying.clear();
        self.paths.clear();
    }
}

impl YFilter {
    /// The configuration of the document node.
    pub(in crate::engine) fn initial(&self, next: &mut Configuration) {
        next.clear();
        next.passing.push(0);
        next.staying.extend(Some(self.states[0].descendant).filter(|&state| state != NONE));
    }

    /// The configuration that a start tag leads to.
    pub(in crate::engine) fn step(
        &self,
        passing: &[StateId],
        staying: &[StateId],
        element: Resolved,
        next: &mut Configuration,
    ) {
        next.clear();
        next.staying.extend_from_slice(staying);
        let tests = [
            (element.name, Symbol::element(NameTest::Name(element.name))),
            (element.namespace, Symbol::element(NameTest::Partial(element.namespace))),
            (element.local, Symbol::element(NameTest::Partial(element.local))),
        ];
        for &id in passing.iter().chain(staying) {
            let state = &self.states[id as usize];
            for (name, symbol) in tests {
                if name != NameId::OTHER
                    && state.sketch & symbol.sketch() != 0
                    && let Some(to) = self.child(id, symbol)
                {
                    self.enter(to, next);
                }
            }
            if state.star != NONE {
                self.enter(state.star, next);
            }
        }
    }

    fn enter(&self, id: StateId, next: &mut Configuration) {
        let state = &self.states[id as usize];
        next.paths.extend(state.path().map(|path| path.0));
        if state.sketch != 0 || state.star != NONE || state.has_attributes() {
            next.passing.push(id);
        }
        next.staying.extend(Some(state.descendant).filter(|&state| state != NONE));
    }

    /// The paths that an attribute ends from a state.
    pub(in crate::engine) fn attribute_paths(&self, id: StateId, attribute: Resolved, paths: &mut Vec<u32>) {
        if !self.states[id as usize].has_attributes() {
            return;
        }
        let tests = [
            (true, NameTest::Any),
            (attribute.name != NameId::OTHER, NameTest::Name(attribute.name)),
            (attribute.namespace != NameId::OTHER, NameTest::Partial(attribute.namespace)),
            (attribute.local != NameId::OTHER, NameTest::Partial(attribute.local)),
        ];
        for (_, test) in tests.into_iter().filter(|(known, _)| *known) {
            let end = self.child(id, Symbol::attribute(test));
            paths.extend(end.and_then(|end| self.states[end as usize].path()).map(|path| path.0));
        }
    }

    /// A bit for each name that leads on from one of the states, and [`STAR`] if every name does. It may promise too
    /// much, never too little.
    pub(in crate::engine) fn sketch(&self, states: &[StateId]) -> u64 {
        states.iter().fold(0, |all, &id| {
            let state = &self.states[id as usize];
            all | state.sketch | if state.star == NONE { 0 } else { STAR }
        })
    }

    /// The bits of the names that an element is met by.
    #[inline]
    pub(in crate::engine) fn sketch_of(element: Resolved) -> u64 {
        let bit = |name: NameId, test: NameTest| {
            if name == NameId::OTHER { 0 } else { Symbol::element(test).sketch() }
        };
        STAR | bit(element.name, NameTest::Name(element.name))
            | bit(element.namespace, NameTest::Partial(element.namespace))
            | bit(element.local, NameTest::Partial(element.local))
    }

    /// Whether one of the states has attribute edges.
    pub(in crate::engine) fn any_attributes(&self, states: &[StateId]) -> bool {
        states.iter().any(|&id| self.states[id as usize].has_attributes())
    }
}
