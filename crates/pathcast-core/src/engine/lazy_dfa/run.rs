//! A run over one document.

use super::accepted::AcceptedId;
use super::active::Active;
use super::cache::Cache;
use super::sets::{EMPTY, SetId};
use super::symbol::Symbol;
use crate::engine::yfilter::{self, StateId, YFilter};
use crate::engine::{CacheStats, Engine, Found};
use crate::names::Resolved;

/// More sets than this are made one, so that no document can make them multiply.
const MOST: usize = 64;

/// Where the sets of an open element start.
#[derive(Clone, Copy, Debug)]
struct Level {
    passing: usize,
    staying: usize,
    /// The first staying set that is still followed: those before it are part of it.
    followed: usize,
    /// Whether it was seen to that many sets are made one; that is put off until there is a child.
    united: bool,
}

/// The cache, and the sets that the open elements keep active.
pub struct Run {
    cache: Cache,
    budget: usize,
    version: Option<u64>,
    levels: Vec<Level>,
    /// Sets that the next start tag leaves, those of one open element after those of another.
    passing: Active,
    /// Sets that stay active until the element that entered them ends.
    staying: Active,
    /// By set: whether it is in `staying`.
    is_staying: Vec<bool>,
    /// The accepted sets that this document met, each once.
    met: Vec<AcceptedId>,
    /// By accepted set: the document that last met it.
    met_in: Vec<u32>,
    document: u32,
    /// Whether room runs short, so that it is worth to know which sets are used.
    short: bool,
    /// Whether the budget is used up, and the rest of the document runs on the shared automaton.
    gave_up: bool,
    shared: yfilter::Run,
    /// Transitions built for start tags.
    built: u64,
    /// Sets that start tags followed.
    followed: u64,
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
            passing: Active::default(),
            staying: Active::default(),
            is_staying: Vec::new(),
            met: Vec::new(),
            met_in: Vec::new(),
            document: 0,
            short: false,
            gave_up: false,
            shared: yfilter::Run::default(),
            built: 0,
            followed: 0,
            stats: CacheStats::default(),
        }
    }

    /// The version of the automaton that the cache is of.
    pub(in crate::engine) fn version(&self) -> Option<u64> {
        self.version
    }

    /// Starts a document. `changed` are the states whose edges changed since the last one, or `None` if they are not
    /// known: then the cache is of another automaton.
    pub(super) fn begin(&mut self, automaton: &YFilter, version: u64, changed: Option<&[StateId]>) {
        self.met.clear();
        self.levels.clear();
        self.leave(0, 0);
        self.version = Some(version);
        match changed {
            None => {
                self.cache.clear();
                self.forget_numbers();
            }
            Some([]) => {}
            Some(states) => self.cache.forget(states, automaton),
        }
        if std::mem::take(&mut self.gave_up) {
            self.stats.clears += 1;
            self.cache.evict(automaton);
            self.forget_numbers();
        }
        self.document = self.document.wrapping_add(1);
        if self.document == 0 {
            self.met_in.fill(0);
            self.document = 1;
        }
        self.short = 2 * self.cache.bytes() > self.budget;
        let (passing, staying) = self.cache.start(automaton);
        self.open();
        self.enter(passing, staying);
    }

    fn forget_numbers(&mut self) {
        self.met_in.clear();
        self.is_staying.clear();
        self.stats.generation += 1;
    }

    fn open(&mut self) {
        let followed = self.levels.last().map_or(0, |level| level.followed);
        let (passing, staying) = (self.passing.len(), self.staying.len());
        self.levels.push(Level { passing, staying, followed, united: false });
    }

    #[inline]
    fn enter(&mut self, passing: SetId, staying: SetId) {
        if passing != EMPTY {
            self.passing.push(passing, &self.cache.sets);
        }
        if staying != EMPTY {
            if self.is_staying.len() <= staying as usize {
                self.is_staying.resize(self.cache.sets.len(), false);
            }
            if !std::mem::replace(&mut self.is_staying[staying as usize], true) {
                self.staying.push(staying, &self.cache.sets);
            }
        }
        if self.short {
            self.cache.sets.used(passing, self.document);
            self.cache.sets.used(staying, self.document);
        }
    }

    #[inline]
    pub(super) fn start(
        &mut self,
        automaton: &YFilter,
        element: Resolved,
        attributes: &[Resolved],
        found: &mut Found,
    ) {
        if self.gave_up {
            self.stats.loose_steps += 1;
            automaton.start(&mut self.shared, element, attributes, found);
            return;
        }
        let Some(&Level { passing: from, united, .. }) = self.levels.last() else { return };
        if !united {
            self.unite(automaton, from);
        }
        let followed = self.levels.last().map_or(0, |level| level.followed);
        let (to, staying) = (self.passing.len(), self.staying.len());
        self.open();
        let (symbol, sketch) = (Symbol::element(element), YFilter::sketch_of(element));
        let mut at = followed;
        while let Some((place, set)) = self.staying.next(at, staying, sketch) {
            if !self.advance(automaton, set, symbol, element) {
                return self.give_up(automaton, element, attributes, found);
            }
            at = place + 1;
        }
        at = from;
        while let Some((place, set)) = self.passing.next(at, to, sketch) {
            if !self.advance(automaton, set, symbol, element) {
                return self.give_up(automaton, element, attributes, found);
            }
            at = place + 1;
        }
        if !attributes.is_empty() {
            for at in followed..self.staying.len() {
                self.test_attributes(automaton, self.staying.from(at)[0], attributes);
            }
            for at in to..self.passing.len() {
                self.test_attributes(automaton, self.passing.from(at)[0], attributes);
            }
        }
    }

    /// Follows one set; false when there is no room to build what it leads to.
    #[inline]
    fn advance(&mut self, automaton: &YFilter, set: SetId, symbol: Symbol, element: Resolved) -> bool {
        self.followed += 1;
        let step = match self.cache.known(set, symbol) {
            Some(known) => known,
            None if self.cache.bytes() >= self.budget => return false,
            None => {
                self.built += 1;
                self.cache.build(automaton, set, element)
            }
        };
        self.meet(step.accepted);
        self.enter(step.passing, step.staying);
        true
    }

    fn test_attributes(&mut self, automaton: &YFilter, set: SetId, attributes: &[Resolved]) {
        if !self.cache.sets.looks_at_attributes(set) {
            return;
        }
        for &name in attributes {
            let accepted = match self.cache.known(set, Symbol::attribute(name)) {
                Some(step) => step.accepted,
                None => self.cache.build_attribute(automaton, set, name),
            };
            self.meet(accepted);
        }
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

    /// Makes one set of those that the innermost element keeps active, if they are too many.
    fn unite(&mut self, automaton: &YFilter, passing: usize) {
        let Some(level) = self.levels.last_mut() else { return };
        level.united = true;
        let followed = level.followed;
        if let Some(union) = self.union(automaton, false, passing) {
            self.passing.truncate(passing);
            self.enter(union, EMPTY);
        }
        if let Some(union) = self.union(automaton, true, followed) {
            if self.is_staying.len() <= union as usize {
                self.is_staying.resize(self.cache.sets.len(), false);
            }
            self.is_staying[union as usize] = true;
            if let Some(level) = self.levels.last_mut() {
                level.followed = self.staying.len();
            }
            self.staying.push(union, &self.cache.sets);
        }
    }

    /// The set that stands for the sets from a place on, if they are too many.
    fn union(&mut self, automaton: &YFilter, staying: bool, from: usize) -> Option<SetId> {
        let parts = if staying { self.staying.from(from) } else { self.passing.from(from) };
        (parts.len() > MOST).then(|| self.cache.union(automaton, parts))
    }

    pub(super) fn end(&mut self) {
        if self.gave_up {
            self.shared.end();
        } else if let Some(level) = self.levels.pop() {
            self.leave(level.passing, level.staying);
        }
    }

    /// Takes off the sets from these places on.
    fn leave(&mut self, passing: usize, staying: usize) {
        self.passing.truncate(passing);
        for &set in self.staying.from(staying) {
            self.is_staying[set as usize] = false;
        }
        self.staying.truncate(staying);
    }

    /// Goes on with the shared automaton: every open element keeps the states of its sets.
    #[cold]
    fn give_up(
        &mut self,
        automaton: &YFilter,
        element: Resolved,
        attributes: &[Resolved],
        found: &mut Found,
    ) {
        self.end();
        self.gave_up = true;
        automaton.begin(&mut self.shared);
        let (mut passing, mut staying) = (Vec::new(), Vec::new());
        for (at, level) in self.levels.iter().enumerate().skip(1) {
            let next = self.levels.get(at + 1);
            let to = next.map_or(self.passing.len(), |next| next.passing);
            let stays = next.map_or(self.staying.len(), |next| next.staying);
            let states = |sets: &[SetId], all: &mut Vec<StateId>| {
                all.clear();
                all.extend(sets.iter().flat_map(|&set| self.cache.sets.states(set)));
                all.sort_unstable();
                all.dedup();
            };
            states(self.passing.between(level.passing, to), &mut passing);
            states(self.staying.between(level.staying, stays), &mut staying);
            self.shared.resume(automaton, &passing, &staying);
        }
        self.start(automaton, element, attributes, found);
    }

    /// The accepted sets in order, if they tell the whole answer.
    pub(super) fn signature(&mut self) -> Option<&[u32]> {
        if self.gave_up {
            return None;
        }
        self.met.sort_unstable();
        Some(&self.met)
    }

    /// The numbers of the paths of an accepted set.
    pub(super) fn accepted(&self, id: AcceptedId) -> &[u32] {
        self.cache.accepted.get(id)
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

    /// Sets that start tags followed, known or not.
    pub(in crate::engine) fn followed(&self) -> u64 {
        self.followed
    }

    /// Forgets what is built, to give its room to somebody else.
    pub(in crate::engine) fn release(&mut self) {
        self.cache.clear();
        self.forget_numbers();
        self.gave_up = false;
    }

    /// Documents for which the budget was used up.
    pub(in crate::engine) fn times_full(&self) -> u64 {
        self.stats.clears + u64::from(self.gave_up)
    }

    pub(super) fn stats(&self) -> CacheStats {
        CacheStats { states: self.cache.sets.len() as u64, bytes: self.cache.bytes() as u64, ..self.stats }
    }
}
