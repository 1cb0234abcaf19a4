//! A run over one document: the stack of states to go back to.

use hashbrown::HashTable;

use super::Pma;
use super::frontier::Frontier;
use super::keywords::Symbol;
use super::trie::{INITIAL, Links, StateId, hash};
use pathcast_core::engine::yfilter;
use pathcast_core::engine::{CacheStats, Found, PathId};
use pathcast_core::names::{NameId, Resolved};

/// The path that a number of a signature stands for.
pub(super) fn path_of(engine: &Pma, number: u32) -> Option<PathId> {
    let place = number >> 1;
    if number & 1 == 0 {
        engine.trie.path(place)
    } else {
        Some(PathId(engine.sequences.nodes[place as usize].path))
    }
}

/// An open element.
#[derive(Clone, Copy, Debug)]
struct Level {
    state: StateId,
    /// The moves of the frontier before it.
    mark: usize,
}

/// A move that took fail arcs, or found nothing.
#[derive(Clone, Copy, Debug)]
struct Known {
    from: StateId,
    symbol: Symbol,
    to: StateId,
}

/// Where the automaton stands, and what it met.
#[derive(Debug, Default)]
pub struct Run {
    levels: Vec<Level>,
    state: StateId,
    frontier: Frontier,
    /// By state: the document that last met it.
    scanned: Vec<u32>,
    document: u32,
    /// States with a path that this document met, each once.
    met: Vec<StateId>,
    signature: Vec<u32>,
    /// Moves by fail arcs, remembered: siblings would walk the same arcs again.
    known: HashTable<Known>,
    budget: usize,
    version: Option<u64>,
    /// The run of what is not for this automaton.
    pub(super) rest: yfilter::Run,
}

impl Run {
    pub(super) fn with_budget(budget: usize) -> Self {
        Self { budget, ..Self::default() }
    }

    pub(super) fn begin(&mut self, engine: &Pma, links: &Links) {
        if self.version.replace(engine.version) != Some(engine.version) {
            self.frontier = Frontier::new(&engine.sequences, engine.trie.states.len(), engine.output);
            self.known.clear();
            self.scanned.clear();
            self.document = 0;
        }
        self.frontier.begin(&engine.sequences);
        self.scanned.resize(engine.trie.states.len(), 0);
        self.document = self.document.wrapping_add(1);
        if self.document == 0 {
            self.scanned.fill(0);
            self.document = 1;
        }
        self.levels.clear();
        self.met.clear();
        self.state = engine.trie.goto(INITIAL, Symbol::DOCUMENT).unwrap_or(INITIAL);
        self.report(engine, links, self.state, 1);
    }

    #[inline]
    pub(super) fn start(&mut self, engine: &Pma, links: &Links, element: Resolved, attributes: &[Resolved]) {
        self.levels.push(Level { state: self.state, mark: self.frontier.mark() });
        // `#` is the first symbol, the root element the second.
        let depth = self.levels.len() as u32 + 1;
        if element.name == NameId::OTHER {
            self.state = INITIAL;
        } else {
            self.state = self.step(engine, links, self.state, Symbol::element(element.name));
            self.report(engine, links, self.state, depth);
        }
        if engine.trie.attribute_edges == 0 {
            return;
        }
        for attribute in attributes.iter().filter(|attribute| attribute.name != NameId::OTHER) {
            // Nothing follows an attribute, so what it moves is found and never undone.
            let state = self.step(engine, links, self.state, Symbol::attribute(attribute.name));
            self.report(engine, links, state, depth + 1);
        }
    }

    #[inline]
    pub(super) fn end(&mut self, engine: &Pma) {
        if let Some(level) = self.levels.pop() {
            self.state = level.state;
            self.frontier.undo(&engine.sequences, level.mark);
        }
    }

    #[inline]
    fn step(&mut self, engine: &Pma, links: &Links, from: StateId, symbol: Symbol) -> StateId {
        if let Some(to) = engine.trie.goto(from, symbol) {
            return to;
        }
        if from == INITIAL {
            return INITIAL;
        }
        let place = hash(from, symbol);
        let known = self.known.find(place, |each| each.from == from && each.symbol == symbol);
        if let Some(known) = known {
            return known.to;
        }
        let to = links.step(&engine.trie, from, symbol);
        if self.known.allocation_size() < self.budget {
            self.known.insert_unique(place, Known { from, symbol, to }, |each| hash(each.from, each.symbol));
        }
        to
    }

    /// Notes what ends in a state and in those on its output path.
    #[inline]
    fn report(&mut self, engine: &Pma, links: &Links, state: StateId, depth: u32) {
        let mut at = links.first_path(&engine.trie, state);
        // Behind a state that was met, all have been met.
        while at != INITIAL && self.scanned[at as usize] != self.document {
            self.scanned[at as usize] = self.document;
            self.met.push(at);
            at = links.next_path(at);
        }
        if engine.sequences.is_empty() {
            return;
        }
        let mut at = links.first_tuples(&engine.trie, state);
        while at != INITIAL {
            let keyword = &engine.trie.states[at as usize];
            self.frontier.meet(&engine.sequences, at, keyword.depth, keyword.tuples, depth);
            at = links.next_tuples(at);
        }
    }

    /// The states met and the sequences found tell the answer, if nothing else is looked for.
    pub(super) fn signature(&mut self, engine: &Pma) -> Option<&[u32]> {
        if engine.unsuited > 0 {
            return None;
        }
        self.signature.clear();
        // States are even, sequences of keywords odd.
        self.signature.extend(self.met.iter().map(|state| state << 1));
        self.signature.extend(self.frontier.found().iter().map(|sequence| sequence << 1 | 1));
        self.signature.sort_unstable();
        Some(&self.signature)
    }

    pub(super) fn finish(&self, engine: &Pma, found: &mut Found) {
        for path in self.met.iter().filter_map(|&state| engine.trie.path(state)) {
            found.add(path);
        }
        for &sequence in self.frontier.found() {
            found.add(PathId(engine.sequences.nodes[sequence as usize].path));
        }
    }

    pub(super) fn stats(&self) -> CacheStats {
        CacheStats {
            states: self.known.len() as u64,
            bytes: (self.known.allocation_size() + self.scanned.capacity() * 4 + self.frontier.memory_bytes())
                as u64,
            generation: self.version.unwrap_or_default(),
            ..CacheStats::default()
        }
    }
}
