//! A run over one document: the stack of active states.

use super::YFilter;
use super::automaton::{NONE, StateId, Symbol};
use crate::engine::Found;
use crate::names::{NameId, Resolved};
use crate::pattern::NameTest;

/// The active states.
///
/// States that stay active below the element that entered them are kept once, not copied for each level: copying
/// them would cost time and, for many `//` in a deep document, depth times states of memory.
#[derive(Debug, Default)]
pub struct Run {
    /// States of the open elements, one set after the other.
    passing: Vec<StateId>,
    /// States that stay active until the element that entered them ends.
    staying: Vec<StateId>,
    /// Those of them with attribute edges.
    staying_attributes: Vec<StateId>,
    /// By state: whether it is in `staying`.
    is_staying: Vec<bool>,
    levels: Vec<Level>,
}

/// Where the sets of an open element start.
#[derive(Clone, Copy, Debug)]
struct Level {
    passing: usize,
    staying: usize,
    staying_attributes: usize,
}

impl Run {
    pub(super) fn begin(&mut self, automaton: &YFilter) {
        while !self.levels.is_empty() {
            self.end(); // a document that broke off
        }
        self.is_staying.resize(automaton.states.len(), false);
        self.open();
        self.passing.push(0);
        self.stay(automaton, automaton.states[0].descendant);
    }

    /// Opens an element that is known to keep these states active, each once.
    pub(in crate::engine) fn resume(
        &mut self,
        automaton: &YFilter,
        passing: &[StateId],
        staying: &[StateId],
    ) {
        self.open();
        self.passing.extend_from_slice(passing);
        for &state in staying {
            self.stay(automaton, state);
        }
    }

    fn open(&mut self) {
        self.levels.push(Level {
            passing: self.passing.len(),
            staying: self.staying.len(),
            staying_attributes: self.staying_attributes.len(),
        });
    }

    pub(in crate::engine) fn end(&mut self) {
        if let Some(level) = self.levels.pop() {
            self.passing.truncate(level.passing);
            for state in self.staying.drain(level.staying..) {
                self.is_staying[state as usize] = false;
            }
            self.staying_attributes.truncate(level.staying_attributes);
        }
    }

    pub(super) fn start(
        &mut self,
        automaton: &YFilter,
        element: Resolved,
        attributes: &[Resolved],
        found: &mut Found,
    ) {
        let step = Step {
            name: Symbol::element(NameTest::Name(element.name)),
            name_sketch: sketch(NameTest::Name(element.name), element.name),
            partial: [element.namespace, element.local].map(|id| Symbol::element(NameTest::Partial(id))),
            partial_sketch: [element.namespace, element.local].map(|id| sketch(NameTest::Partial(id), id)),
        };
        let from = self.levels.last().map_or(0, |level| level.passing);
        let (to, staying) = (self.passing.len(), self.staying.len());
        self.open();
        for at in 0..staying {
            self.advance(automaton, self.staying[at], &step, found);
        }
        for at in from..to {
            self.advance(automaton, self.passing[at], &step, found);
        }
        if !attributes.is_empty() {
            for at in 0..self.staying_attributes.len() {
                test_attributes(automaton, self.staying_attributes[at], attributes, found);
            }
            for at in to..self.passing.len() {
                test_attributes(automaton, self.passing[at], attributes, found);
            }
        }
    }

    #[inline]
    fn advance(&mut self, automaton: &YFilter, id: StateId, step: &Step, found: &mut Found) {
        let state = &automaton.states[id as usize];
        if state.sketch & step.name_sketch != 0
            && let Some(next) = automaton.child(id, step.name)
        {
            self.enter(automaton, next, found);
        }
        for (symbol, sketch) in step.partial.into_iter().zip(step.partial_sketch) {
            if state.sketch & sketch != 0
                && let Some(next) = automaton.child(id, symbol)
            {
                self.enter(automaton, next, found);
            }
        }
        if state.star != NONE {
            self.enter(automaton, state.star, found);
        }
    }

    /// Puts a state into the new set, and what an empty move reaches from it.
    #[inline]
    fn enter(&mut self, automaton: &YFilter, id: StateId, found: &mut Found) {
        let state = &automaton.states[id as usize];
        if let Some(path) = state.path() {
            found.add(path);
        }
        if state.sketch != 0 || state.star != NONE || state.has_attributes() {
            self.passing.push(id);
        }
        self.stay(automaton, state.descendant);
    }

    #[inline]
    fn stay(&mut self, automaton: &YFilter, id: StateId) {
        if id == NONE || std::mem::replace(&mut self.is_staying[id as usize], true) {
            return;
        }
        self.staying.push(id);
        if automaton.states[id as usize].has_attributes() {
            self.staying_attributes.push(id);
        }
    }
}

/// The moves one start tag allows.
struct Step {
    name: Symbol,
    name_sketch: u64,
    partial: [Symbol; 2],
    partial_sketch: [u64; 2],
}

fn sketch(test: NameTest, id: NameId) -> u64 {
    if id == NameId::OTHER { 0 } else { Symbol::element(test).sketch() }
}

fn test_attributes(automaton: &YFilter, id: StateId, attributes: &[Resolved], found: &mut Found) {
    if !automaton.states[id as usize].has_attributes() {
        return;
    }
    let mut test = |name: NameTest| {
        let end = automaton.child(id, Symbol::attribute(name));
        if let Some(path) = end.and_then(|end| automaton.states[end as usize].path()) {
            found.add(path);
        }
    };
    test(NameTest::Any);
    for attribute in attributes {
        if attribute.name != NameId::OTHER {
            test(NameTest::Name(attribute.name));
        }
        attribute.partials().for_each(|id| test(NameTest::Partial(id)));
    }
}
