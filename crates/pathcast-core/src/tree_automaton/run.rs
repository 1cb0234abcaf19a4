//! A run over one document: open elements, and what they have been told.

use super::TreeAutomaton;
use super::atoms::AtomId;
use super::keys::TOLD;
use super::place::{Asker, At};
use super::rules::RuleId;
use super::subjects::{Leaf, SubjectId};
use super::summary::Summary;
use crate::names::Resolved;

/// The number of an element in document order, going on from one document to the next.
pub(super) type Serial = u32;

/// So many atoms may be told to an element before repetitions are taken out.
const TOLD_OFTEN: usize = 1 << 12;

/// An open element, or the document node.
#[derive(Debug, Default)]
pub(super) struct Open {
    pub(super) name: Option<Resolved>,
    pub(super) serial: Serial,
    /// Where its string-value starts, if that is asked for.
    own: Option<usize>,
    /// Whether its text nodes are asked for.
    text: bool,
    /// Atoms that are so, some perhaps more than once.
    pub(super) told: Vec<AtomId>,
    often: usize,
    pub(super) summaries: Vec<(SubjectId, Summary)>,
    /// Subjects of which only the first counts, that it has had.
    had: Vec<SubjectId>,
}

/// What a run knows of an atom.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// The element that was told last.
    pub(super) told: Serial,
    /// The element that it was last found to be so of, when that ended.
    pub(super) so: Serial,
    pub(super) hits: u32,
}

/// All that changes while documents are read; reused from one to the next.
#[derive(Debug, Default)]
pub struct Run {
    /// The document node, then the open elements, then what is kept for others.
    pub(super) open: Vec<Open>,
    pub(super) depth: usize,
    pub(super) states: Vec<State>,
    serial: Serial,
    text: String,
    /// Open elements whose string-value is asked for.
    valued: usize,
    /// Where the text node at hand starts.
    node: Option<usize>,
    /// By subject: the summary of the element that ends.
    pub(super) current: Vec<(Serial, Option<Summary>)>,
    pub(super) queue: Vec<AtomId>,
    /// By stratum: rules to be looked at when the atoms before are known.
    pub(super) later: Vec<Vec<RuleId>>,
    found: Vec<u64>,
    matched: Vec<u32>,
    documents: u32,
}

impl Run {
    /// Starts a document.
    pub fn begin(&mut self, automaton: &TreeAutomaton) {
        for expression in self.matched.drain(..) {
            self.found[expression as usize / 64] = 0;
        }
        self.found.resize(automaton.held.len().div_ceil(64), 0);
        self.states.resize(automaton.atoms.bound(), State::default());
        self.current.resize(automaton.subjects.bound(), (0, None));
        // Half of all numbers are left for one document.
        if self.serial > Serial::MAX / 2 {
            self.serial = 0;
            self.states.fill(State::default());
            self.current.fill((0, None));
        }
        self.documents += 1;
        if self.documents >= TOLD {
            self.tell(automaton);
        }
        self.text.clear();
        (self.depth, self.valued, self.node) = (0, 0, None);
        self.push(None);
    }

    fn tell(&mut self, automaton: &TreeAutomaton) {
        let hits = (0..).zip(&mut self.states).filter(|(_, state)| state.hits > 0);
        automaton
            .seen
            .tell(self.documents, hits.map(|(atom, state)| (atom, std::mem::take(&mut state.hits))));
        self.documents = 0;
    }

    fn push(&mut self, name: Option<Resolved>) -> &mut Open {
        self.serial = self.serial.saturating_add(1);
        if self.open.len() == self.depth {
            self.open.push(Open::default());
        }
        let open = &mut self.open[self.depth];
        self.depth += 1;
        open.told.clear();
        open.summaries.clear();
        open.had.clear();
        (open.name, open.serial, open.own, open.text) = (name, self.serial, None, false);
        open.often = TOLD_OFTEN;
        open
    }

    /// Whether the document has more elements than there are numbers.
    pub fn overflows(&self) -> bool {
        self.serial == Serial::MAX
    }

    /// A start tag; `value` tells an attribute's value by its place.
    pub fn start<'v>(
        &mut self,
        automaton: &TreeAutomaton,
        name: Resolved,
        attributes: &[Resolved],
        value: impl Fn(usize) -> &'v str,
    ) {
        self.end_text(automaton);
        let at = self.text.len();
        let (mut own, mut text) = (false, false);
        for asked in automaton.places.of(name) {
            own |= !asked.own.is_empty();
            text |= !asked.text.is_empty();
        }
        let open = self.push(Some(name));
        open.own = own.then_some(at);
        open.text = text;
        self.valued += usize::from(own);
        let element = self.depth - 1;
        for asked in automaton.places.of(name) {
            for &asker in &asked.here {
                self.value(automaton, asker, element, "");
            }
            if asked.attributes.is_empty() && asked.wild.is_empty() {
                continue;
            }
            for (place, &found) in attributes.iter().enumerate() {
                let wild = asked.wild.iter().filter(|(wanted, _)| wanted.admits(found));
                let askers = asked.attribute(found.name).chain(wild.map(|&(_, asker)| asker));
                askers.for_each(|asker| self.value(automaton, asker, element, value(place)));
            }
        }
    }

    /// A piece of text; pieces with no other event between them are one text node.
    pub fn text(&mut self, piece: &str) {
        let inner = self.depth > 1 && !piece.is_empty();
        let text = inner && self.open[self.depth - 1].text;
        if inner && (text || self.valued > 0) {
            if text && self.node.is_none() {
                self.node = Some(self.text.len());
            }
            self.text.push_str(piece);
        }
    }

    /// A comment or a processing instruction, which separates text nodes.
    pub fn aside(&mut self, automaton: &TreeAutomaton) {
        self.end_text(automaton);
    }

    fn end_text(&mut self, automaton: &TreeAutomaton) {
        if let Some(from) = self.node.take()
            && let Some(name) = self.open[self.depth - 1].name
        {
            let text = std::mem::take(&mut self.text);
            for asked in automaton.places.of(name) {
                for &asker in &asked.text {
                    self.value(automaton, asker, self.depth - 1, &text[from..]);
                }
            }
            self.text = text;
        }
        if self.valued == 0 {
            self.text.clear();
        }
    }

    /// An end tag.
    pub fn end(&mut self, automaton: &TreeAutomaton) {
        self.end_text(automaton);
        let element = self.depth - 1;
        if let Some(from) = self.open[element].own
            && let Some(name) = self.open[element].name
        {
            let text = std::mem::take(&mut self.text);
            for asked in automaton.places.of(name) {
                for &asker in &asked.own {
                    self.value(automaton, asker, element, &text[from..]);
                }
            }
            self.text = text;
            self.valued -= 1;
        }
        self.decide(automaton);
        self.depth -= 1;
        if self.valued == 0 {
            self.text.clear();
        }
    }

    /// Ends the document: the expressions that it satisfies, each once.
    pub fn finish(&mut self, automaton: &TreeAutomaton) -> &[u32] {
        self.decide(automaton);
        self.depth = 0;
        &self.matched
    }

    pub(super) fn found(&mut self, expression: u32) {
        let word = &mut self.found[expression as usize / 64];
        let bit = 1 << (expression % 64);
        if *word & bit == 0 {
            *word |= bit;
            self.matched.push(expression);
        }
    }

    /// Whether the element at a level is one of those meant.
    #[inline]
    pub(super) fn is(&self, level: usize, at: At) -> bool {
        match self.open[level].name {
            Some(name) => at.accepts(name),
            None => at == At::DOCUMENT,
        }
    }

    /// Looks a value of a subject up and tells the element that it is of.
    fn value(&mut self, automaton: &TreeAutomaton, asker: Asker, element: usize, value: &str) {
        let Some(above) = element.checked_sub(asker.up as usize) else { return };
        if !self.is(above, asker.at) {
            return;
        }
        let subject = asker.subject;
        let way = automaton.subjects.get(subject);
        let mut level = element;
        for &(min, name) in way.steps.iter().rev() {
            if !self.is(level, At::element(name)) || level < min as usize {
                return;
            }
            level -= min as usize;
        }
        if !self.is(level, way.of) {
            return;
        }
        if way.first {
            if self.open[level].had.contains(&subject) {
                return;
            }
            self.open[level].had.push(subject);
        }
        debug_assert!(way.leaf != Leaf::Here || value.is_empty());
        let known = (&automaton.atoms, &automaton.constants);
        let tests = &automaton.tests[subject as usize];
        let summary = tests.look_up(subject, value, known, |atom| self.tell_once(level, atom));
        if let Some(summary) = summary {
            let summaries = &mut self.open[level].summaries;
            match summaries.iter_mut().find(|(each, _)| *each == subject) {
                Some((_, known)) => known.add(&summary),
                None => summaries.push((subject, summary)),
            }
        }
    }

    /// Tells an element that an atom is so.
    #[inline]
    pub(super) fn tell_once(&mut self, level: usize, atom: AtomId) {
        let open = &mut self.open[level];
        let state = &mut self.states[atom as usize];
        if state.told == open.serial {
            return;
        }
        state.told = open.serial;
        open.told.push(atom);
        if open.told.len() > open.often {
            open.told.sort_unstable();
            open.told.dedup();
            open.often = 2 * open.told.len() + TOLD_OFTEN;
        }
    }

    /// Heap bytes of text held.
    pub fn text_bytes(&self) -> usize {
        self.text.capacity()
    }

    /// Heap bytes held.
    pub fn memory_bytes(&self) -> usize {
        let open = |open: &Open| {
            open.told.capacity() * size_of::<AtomId>()
                + open.summaries.capacity() * size_of::<(SubjectId, Summary)>()
                + open.had.capacity() * size_of::<SubjectId>()
        };
        self.open.iter().map(open).sum::<usize>()
            + self.open.capacity() * size_of::<Open>()
            + self.states.capacity() * size_of::<State>()
            + self.current.capacity() * size_of::<(Serial, Option<Summary>)>()
            + self.text.capacity()
            + self.found.capacity() * 8
            + (self.queue.capacity() + self.matched.capacity()) * 4
    }
}
