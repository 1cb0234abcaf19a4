//! A run over one document: open elements, and what they have been told.

use std::sync::Arc;

use super::atoms::AtomId;
use super::computed::Computed;
use super::keys::{Keys, TOLD};
use super::place::{Asked, Asker, At, Ats};
use super::rules::RuleId;
use super::subjects::{Leaf, SubjectId};
use super::summary::Summary;
use super::{NONE, TreeAutomaton};
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
    /// So many summaries may there be before those of one subject are put together.
    many: usize,
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

/// What a run knows of a subject.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Current {
    /// The element that ended last and had a value.
    pub(super) of: Serial,
    pub(super) hits: u32,
    pub(super) summary: Summary,
    /// The element that had a value last, and the place of its summary.
    open: Serial,
    place: u32,
}

/// All that changes while documents are read; reused from one to the next.
#[derive(Debug, Default)]
pub struct Run {
    /// The document node, then the open elements, then what is kept for others.
    pub(super) open: Vec<Open>,
    pub(super) depth: usize,
    pub(super) states: Vec<State>,
    /// What rules wait for while this document is read.
    pub(super) keys: Option<Arc<Keys>>,
    /// By way: where it leads from the element that ends.
    pub(super) reached: Vec<(Serial, u32)>,
    /// By several targets: the parent of the element that they were last told for.
    pub(super) sent: Vec<Serial>,
    serial: Serial,
    text: String,
    /// Open elements whose string-value is asked for.
    valued: usize,
    /// Where the text node at hand starts.
    node: Option<usize>,
    /// By subject: the summary of the element that ends.
    pub(super) current: Vec<Current>,
    /// Subjects that have a summary of the element that ends.
    pub(super) summed: Vec<SubjectId>,
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
        self.current.resize(automaton.subjects.bound(), Current::default());
        self.reached.resize(automaton.ways.bound(), (0, NONE));
        self.sent.resize(automaton.rules.several_bound(), 0);
        // Half of all numbers are left for one document.
        if self.serial > Serial::MAX / 2 {
            self.serial = 0;
            self.states.iter_mut().for_each(|state| (state.told, state.so) = (0, 0));
            self.current.iter_mut().for_each(|current| (current.of, current.open) = (0, 0));
            self.reached.fill((0, NONE));
            self.sent.fill(0);
        }
        self.documents += 1;
        if self.documents >= TOLD {
            self.tell(automaton);
        }
        self.keys = Some(automaton.keys());
        self.text.clear();
        (self.depth, self.valued, self.node) = (0, 0, None);
        self.push(None);
    }

    /// Tells what was counted.
    pub(super) fn tell(&mut self, automaton: &TreeAutomaton) {
        let atoms = self.states.iter().map(|state| state.hits);
        let subjects = self.current.iter().map(|current| current.hits);
        if automaton.learn(self.documents, atoms, subjects) {
            self.documents = 0;
            self.states.iter_mut().for_each(|state| state.hits = 0);
            self.current.iter_mut().for_each(|current| current.hits = 0);
        }
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
        (open.often, open.many) = (TOLD_OFTEN, TOLD_OFTEN);
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
            own |= asked.own;
            text |= asked.text;
        }
        let open = self.push(Some(name));
        open.own = own.then_some(at);
        open.text = text;
        self.valued += usize::from(own);
        let parent = self.parent();
        for asked in automaton.places.of(name) {
            self.asked(automaton, asked, Leaf::Here, &parent, "");
            for (place, &found) in attributes.iter().enumerate() {
                self.asked(automaton, asked, Leaf::Attribute(found.name), &parent, value(place));
                if asked.wild {
                    for &(leaf, asker) in asked.wild() {
                        if matches!(leaf, Leaf::Wild(wanted) if wanted.admits(found)) {
                            self.value(automaton, asker, value(place));
                        }
                    }
                }
            }
        }
    }

    /// What the parent of the innermost open element is.
    fn parent(&self) -> Ats {
        self.depth.checked_sub(2).map_or_else(Ats::default, |level| self.ats(level))
    }

    /// Tells a value to all who ask for it.
    fn asked(&mut self, automaton: &TreeAutomaton, asked: &Asked, leaf: Leaf, parent: &Ats, value: &str) {
        asked.asking(leaf, parent, |asker| self.value(automaton, asker, value));
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
            let parent = self.parent();
            for asked in automaton.places.of(name) {
                self.asked(automaton, asked, Leaf::Text, &parent, &text[from..]);
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
            let parent = self.parent();
            for asked in automaton.places.of(name) {
                self.asked(automaton, asked, Leaf::Own, &parent, &text[from..]);
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
        // Who changes the keys next need not copy them.
        self.keys = None;
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

    /// The kinds that the element at a level is of.
    pub(super) fn ats(&self, level: usize) -> Ats {
        Ats::of(self.open[level].name)
    }

    /// Looks a value of a subject up and tells the element that it is of.
    fn value(&mut self, automaton: &TreeAutomaton, asker: Asker, value: &str) {
        let element = self.depth - 1;
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
        match way.computed {
            Computed::Nothing => self.look_up(automaton, subject, level, value),
            Computed::Counted => self.sum_up(subject, level, &Summary::ONE),
            computed => self.look_up(automaton, subject, level, &computed.of(value)),
        }
    }

    /// Tells an element which tests a value of it passes.
    fn look_up(&mut self, automaton: &TreeAutomaton, subject: SubjectId, level: usize, value: &str) {
        let known = (&automaton.atoms, &automaton.constants);
        let tests = &automaton.tests[subject as usize];
        let summary = tests.look_up(subject, value, known, |atom| self.tell_once(level, atom));
        if let Some(summary) = summary {
            self.sum_up(subject, level, &summary);
        }
    }

    /// Adds to what is known of a subject's values below an element. A subject may have several summaries when elements
    /// of one kind lie within each other.
    fn sum_up(&mut self, subject: SubjectId, level: usize, summary: &Summary) {
        let Open { serial, summaries, many, .. } = &mut self.open[level];
        if self.current[subject as usize].open == *serial {
            summaries[self.current[subject as usize].place as usize].1.add(summary);
            return;
        }
        if summaries.len() > *many {
            summaries.sort_unstable_by_key(|&(subject, _)| subject);
            summaries.dedup_by(|(right, more), (left, summary)| {
                let same = left == right;
                if same {
                    summary.add(more);
                }
                same
            });
            for (place, (subject, _)) in (0..).zip(&*summaries) {
                (self.current[*subject as usize].open, self.current[*subject as usize].place) =
                    (*serial, place);
            }
            *many = 2 * summaries.len() + TOLD_OFTEN;
        }
        summaries.push((subject, *summary));
        let current = &mut self.current[subject as usize];
        (current.open, current.place) = (*serial, summaries.len() as u32 - 1);
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
            + self.current.capacity() * size_of::<Current>()
            + self.reached.capacity() * size_of::<(Serial, u32)>()
            + self.sent.capacity() * size_of::<Serial>()
            + self.text.capacity()
            + self.found.capacity() * 8
            + (self.queue.capacity() + self.summed.capacity() + self.matched.capacity()) * 4
    }
}
