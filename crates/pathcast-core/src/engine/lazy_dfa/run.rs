//! A run over one document.

use super::accepted::AcceptedId;
use super::cache::{Cache, DEAD, StateId, Symbol};
use crate::engine::yfilter::{Configuration, YFilter};
use crate::engine::{CacheStats, Found};
use crate::names::Resolved;

/// Where an open element stands.
enum Level {
    /// On a state of the cache.
    Kept(StateId),
    /// On a set of its own, because the budget is used up.
    Loose(Box<Configuration>),
}

/// The cache, and a stack of where the open elements stand.
pub struct Run {
    cache: Cache,
    budget: usize,
    version: Option<u64>,
    levels: Vec<Level>,
    /// Open elements below a dead one: nothing is looked up there.
    dead: usize,
    /// The accepted sets that this document met, each once.
    met: Vec<AcceptedId>,
    /// By accepted set: the document that last met it.
    met_in: Vec<u32>,
    document: u32,
    /// Whether some set was loose, so that `met` does not tell the whole.
    gave_up: bool,
    /// Transitions built for start tags.
    built: u64,
    stats: CacheStats,
}

impl Run {
    /// A run whose cache holds about so many bytes at most.
    pub fn with_budget(budget: usize) -> Self {
        Self {
            cache: Cache::default(),
            budget,
            version: None,
            levels: Vec::new(),
            dead: 0,
            met: Vec::new(),
            met_in: Vec::new(),
            document: 0,
            gave_up: false,
            built: 0,
            stats: CacheStats::default(),
        }
    }

    pub(super) fn begin(&mut self, automaton: &YFilter, version: u64) {
        self.levels.clear();
        self.dead = 0;
        self.met.clear();
        let outdated = self.version.replace(version) != Some(version);
        if outdated || self.gave_up {
            self.stats.clears += u64::from(self.gave_up);
            self.cache.clear();
            self.met_in.clear();
            self.stats.generation += 1;
        }
        self.gave_up = false;
        self.document = self.document.wrapping_add(1);
        if self.document == 0 {
            self.met_in.fill(0);
            self.document = 1;
        }
        let start = self.cache.start(automaton);
        self.levels.push(Level::Kept(start));
    }

    #[inline]
    pub(super) fn start(
        &mut self,
        automaton: &YFilter,
        element: Resolved,
        attributes: &[Resolved],
        found: &mut Found,
    ) {
        if self.dead > 0 {
            self.dead += 1;
            return;
        }
        let Some(Level::Kept(from)) = self.levels.last() else {
            self.start_loose(automaton, element, attributes, found);
            return;
        };
        let from = *from;
        let (to, accepted) = match self.cache.known(from, Symbol::element(element)) {
            Some(known) => known,
            None if self.full() => {
                self.start_loose(automaton, element, attributes, found);
                return;
            }
            None => {
                self.built += 1;
                self.cache.build(automaton, from, element)
            }
        };
        self.meet(accepted);
        if to == DEAD {
            self.dead = 1;
            return;
        }
        if !attributes.is_empty() && self.cache.looks_at_attributes(to) {
            for &name in attributes {
                let accepted = match self.cache.known(to, Symbol::attribute(name)) {
                    Some((_, accepted)) => accepted,
                    None => self.cache.build_attribute(automaton, to, name),
                };
                self.meet(accepted);
            }
        }
        self.levels.push(Level::Kept(to));
    }

    pub(super) fn end(&mut self) {
        if self.dead > 0 {
            self.dead -= 1;
        } else {
            self.levels.pop();
        }
    }

    fn full(&mut self) -> bool {
        let full = self.cache.bytes() >= self.budget;
        self.gave_up |= full;
        full
    }

    #[inline]
    fn meet(&mut self, accepted: AcceptedId) {
        if accepted == 0 {
            return;
        }
        let at = accepted as usize;
        if at >= self.met_in.len() {
            self.met_in.resize(self.cache.accepted.len(), 0);
        }
        if self.met_in[at] != self.document {
            self.met_in[at] = self.document;
            self.met.push(accepted);
        }
    }

    /// Steps on sets that are not kept.
    #[cold]
    fn start_loose(
        &mut self,
        automaton: &YFilter,
        element: Resolved,
        attributes: &[Resolved],
        found: &mut Found,
    ) {
        let mut next = Box::<Configuration>::default();
        match self.levels.last() {
            Some(Level::Kept(id)) => {
                let (passing, staying) = self.cache.configuration(*id);
                automaton.step(passing, staying, element, &mut next);
            }
            Some(Level::Loose(set)) => automaton.step(&set.passing, &set.staying, element, &mut next),
            None => return,
        }
        // A staying state that is entered again is there twice: left so, sets would double with every level.
        next.sort();
        for &name in attributes {
            let Configuration { passing, staying, paths } = &mut *next;
            for &state in passing.iter().chain(staying.iter()) {
                automaton.attribute_paths(state, name, paths);
            }
        }
        next.paths.drain(..).for_each(|path| found.add(crate::engine::PathId(path)));
        self.stats.loose_steps += 1;
        if next.is_empty() {
            self.dead = 1;
        } else {
            self.levels.push(Level::Loose(next));
        }
    }

    /// The accepted sets in order, if they tell the whole answer.
    pub(super) fn signature(&mut self) -> Option<&[u32]> {
        if self.gave_up {
            return None;
        }
        self.met.sort_unstable();
        Some(&self.met)
    }

    pub(super) fn finish(&mut self, found: &mut Found) {
        for &accepted in &self.met {
            self.cache.accepted.report(accepted, found);
        }
    }

    /// Start tags that the cache did not know what to do with.
    pub(in crate::engine) fn missed(&self) -> u64 {
        self.built + self.stats.loose_steps
    }

    /// Documents for which the budget was used up.
    pub(in crate::engine) fn times_full(&self) -> u64 {
        self.stats.clears + u64::from(self.gave_up)
    }

    pub(super) fn stats(&self) -> CacheStats {
        CacheStats { states: self.cache.len() as u64, bytes: self.cache.bytes() as u64, ..self.stats }
    }
}
