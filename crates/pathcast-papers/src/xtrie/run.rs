//! A run over one document: events, the walk through the trie, and what is reset at each end tag.
//!
//! **Invariant.** All that is noted for a level is forgotten when the element at that level ends, by lists of what was
//! noted there. So a document that touches little costs little, however large the table is.

use super::levels::LevelSets;
use super::lineage::Target;
use super::link::{Kind, Link};
use super::node::{NONE, NodeId, ROOT, Special};
use super::open::Open;
use super::shared::{Variant, XTrie};
use super::state::States;
use pathcast_core::engine::{Found, PathId};
use pathcast_core::names::{NameId, Resolved};

/// So many bytes are kept in any case.
const LEAST: usize = 1 << 20;

/// A look at a chain in a list takes so much less than one in the index.
const SCAN: usize = 3;

/// What a document changes.
#[derive(Debug, Default)]
pub struct Run {
    pub(super) open: Open,
    /// By level: the trie node of the longest substring that ends there.
    nodes: Vec<NodeId>,
    /// The levels at which each substring was met.
    pub(super) met: LevelSets,
    /// Eager: the levels at which each lineage holds.
    pub(super) held: LevelSets,
    /// The levels at which it is known whether a lineage holds, where that is asked.
    pub(super) asked: LevelSets,
    /// By level: the lineages asked about.
    answers: Vec<Vec<u32>>,
    /// Nodes and lineages that were noted, level by level.
    met_nodes: Vec<NodeId>,
    /// Each once: nodes that were met on open elements and that chains hang on.
    holders: Vec<NodeId>,
    pub(super) noted: Vec<u32>,
    marks: Vec<Marks>,
    pub(super) states: States,
    /// By number of tests at the start tag: the element that was last asked, and in the lowest bit what it said.
    pub(super) verdicts: Vec<u64>,
    /// By lineage: the element below which its leaves were tried. And lineages whose paths were found.
    pub(super) tried: Vec<u64>,
    pub(super) spent: Found,
    /// Lineages that may hang on others at their own level: they are tried last.
    late: Vec<u32>,
    /// By level: rows whose branches are found and whose tests wait for the end tag.
    pub(super) waiting: Vec<Vec<u32>>,
    /// By level: what is tested at the end tag, with the number of the tests.
    tested: Vec<Vec<(Target, u32)>>,
    /// By subtree: the levels below which it is complete. And by level: the subtrees that are, below it.
    pub(super) complete: LevelSets,
    pub(super) completed: Vec<Vec<u32>>,
    /// Rows that were just completed, at their levels.
    pub(super) agenda: Vec<(u32, u32)>,
    /// Rows that are about to be completed, and what was fetched for them.
    pub(super) batch: Vec<(u32, u32)>,
    pub(super) found: Found,
    /// The text node that is being read.
    text: String,
    /// Bytes that may be kept for the next document, beyond what the table asks for.
    budget: usize,
    #[cfg(test)]
    pub(super) trace: Vec<(u32, u32, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Marks {
    met: usize,
    noted: usize,
    holders: usize,
}

impl Run {
    /// The level of the innermost node: a text node, while it is looked at, lies below the innermost element.
    #[inline]
    pub(super) fn level(&self) -> u32 {
        self.marks.len() as u32
    }

    /// Whether the leaves of a lineage without tests were tried below the same element.
    #[inline]
    fn was_tried(&self, link: &Link, level: u32) -> bool {
        link.parent != NONE && self.tried[link.lineage as usize] == self.open.serial(level - link.reach.min)
    }

    /// A row waits for the end tag at a level.
    pub(super) fn wait(&mut self, level: u32, row: u32) {
        put(&mut self.waiting, level, row);
    }

    /// A path or a subtree waits for the end tag at a level, with its tests.
    pub(super) fn wait_for(&mut self, level: u32, target: Target, ends: u32) {
        put(&mut self.tested, level, (target, ends));
    }

    /// A subtree is complete below the element at a level.
    pub(super) fn note_complete(&mut self, subtree: u32, level: u32) {
        self.complete.insert(subtree, level);
        put(&mut self.completed, level, subtree);
    }

    /// Forgets what is complete below a level.
    fn forget_complete(&mut self, level: u32) {
        if let Some(subtrees) = self.completed.get_mut(level as usize) {
            for subtree in subtrees.drain(..) {
                self.complete.remove(subtree, level);
            }
        }
    }

    /// Remembers whether a lineage holds at a level, while the element there is open.
    pub(super) fn answer(&mut self, lineage: u32, level: u32, holds: bool) {
        put(&mut self.answers, level, lineage);
        self.asked.insert(lineage, level);
        if holds {
            self.held.insert(lineage, level);
        }
    }

    /// Forgets the answers at a level.
    fn forget_answers(&mut self, level: u32) {
        if let Some(answers) = self.answers.get_mut(level as usize) {
            for lineage in answers.drain(..) {
                self.asked.remove(lineage, level);
                self.held.remove(lineage, level);
            }
        }
    }

    fn mark(&mut self) {
        let (met, noted, holders) = (self.met_nodes.len(), self.noted.len(), self.holders.len());
        self.marks.push(Marks { met, noted, holders });
    }

    /// A run that keeps so many bytes at most from one document to the next, beyond what the table asks for.
    pub(super) fn with_budget(budget: usize) -> Self {
        Self { budget, ..Self::default() }
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let sets = [&self.met, &self.held, &self.asked, &self.complete];
        sets.iter().map(|sets| sets.memory_bytes()).sum::<usize>()
            + (self.tried.capacity() + self.verdicts.capacity()) * size_of::<u64>()
            + self.states.memory_bytes()
            + self.grown_bytes()
    }

    /// Of these, what grew with a document: lists by level.
    fn grown_bytes(&self) -> usize {
        fn lists<T>(lists: &[Vec<T>]) -> usize {
            lists.iter().map(|list| list.capacity() * size_of::<T>() + size_of::<Vec<T>>()).sum()
        }
        self.open.memory_bytes()
            + self.text.capacity()
            + 4 * (self.nodes.capacity() + self.met_nodes.capacity())
            + 4 * (self.noted.capacity() + self.holders.capacity())
            + 8 * (self.agenda.capacity() + self.batch.capacity())
            + lists(&self.answers)
            + lists(&self.waiting)
            + lists(&self.tested)
            + lists(&self.completed)
    }

    /// Gives back what a document made large; nothing may be noted.
    fn shrink(&mut self) {
        self.open.shrink();
        let sets = [&self.met, &self.held, &self.asked, &self.complete];
        let grown = sets.iter().map(|sets| sets.grown_bytes()).sum::<usize>() + self.states.grown_bytes();
        if grown + self.grown_bytes() <= self.budget.max(LEAST) {
            return;
        }
        (self.answers, self.waiting) = (Vec::new(), Vec::new());
        (self.tested, self.completed) = (Vec::new(), Vec::new());
        (self.met_nodes, self.noted, self.holders) = (Vec::new(), Vec::new(), Vec::new());
        (self.agenda, self.batch) = (Vec::new(), Vec::new());
        self.text = String::new();
        for sets in [&mut self.met, &mut self.held, &mut self.asked, &mut self.complete] {
            sets.shrink();
        }
        self.states.shrink();
    }
}

/// Adds to the list of a level.
fn put<T: Clone>(lists: &mut Vec<Vec<T>>, level: u32, item: T) {
    if lists.len() <= level as usize {
        lists.resize(level as usize + 1, Vec::new());
    }
    lists[level as usize].push(item);
}

impl XTrie {
    pub(super) fn begin_run(&self, run: &mut Run) {
        while run.level() > 0 {
            self.forget(run); // a document that broke off
        }
        run.states.end(0);
        run.forget_answers(0);
        run.forget_complete(0);
        run.shrink();
        run.open.begin();
        run.nodes.clear();
        run.nodes.push(ROOT);
        run.text.clear();
        // All of this makes room; what the last document touched was taken back at its end tags.
        run.met.resize(self.trie.nodes.len());
        run.states.resize(self.table.state_bound());
        run.complete.resize(self.table.subtrees.bound());
        let lineages = self.table.lineages.bound();
        run.held.resize(lineages);
        run.asked.resize(lineages);
        run.tried.resize(lineages, 0);
        run.spent.clear(lineages);
        run.verdicts.resize(self.table.start_bound(), 0);
        run.found.clear(self.table.pattern_bound());
    }

    pub(super) fn start_element<'a>(
        &self,
        run: &mut Run,
        element: Resolved,
        attributes: &[Resolved],
        values: impl Iterator<Item = (Resolved, &'a str)>,
    ) {
        self.end_text(run);
        run.open.start(element, values);
        run.mark();
        let from = run.nodes.last().copied().unwrap_or(ROOT);
        let node = self.trie.step(from, element.name);
        run.nodes.push(node);
        let mut at = node;
        while at != ROOT {
            self.meet(run, at);
            at = self.trie.nodes[at as usize].max_suffix;
        }
        self.meet_special(run, Special::Any);
        for part in element.partials() {
            self.meet_special(run, Special::Partial(part));
        }
        if self.trie.attribute_specials > 0 {
            for attribute in attributes.iter().filter(|attribute| attribute.name != NameId::OTHER) {
                self.meet_special(run, Special::Attribute(attribute.name));
            }
        }
        if !run.late.is_empty() {
            self.probe_late(run);
        }
    }

    fn meet_special(&self, run: &mut Run, special: Special) {
        let Some(node) = self.trie.special(special) else { return };
        // Without namespaces two attributes may have one name.
        let known = run.marks.last().is_some_and(|marks| run.met_nodes[marks.met..].contains(&node));
        if !known {
            self.meet(run, node);
        }
    }

    /// A substring ends at the innermost node.
    #[inline]
    fn meet(&self, run: &mut Run, node: NodeId) {
        let substring = &self.trie.nodes[node as usize];
        if substring.readers > 0 && substring.special != Some(Special::Text) {
            run.open.read();
        }
        let level = run.level();
        if substring.hung > 0 && !run.met.has_any(node) {
            run.holders.push(node);
        }
        run.met.insert(node, level);
        run.met_nodes.push(node);
        if substring.chains.len() <= SCAN * run.holders.len() {
            for hook in &substring.chains {
                if hook.above == NONE || run.met.has_any(hook.above) {
                    self.follow(run, hook.above, hook.chain, level);
                }
            }
            return;
        }
        if let Some(chain) = self.trie.chains.find(node, NONE) {
            self.follow(run, NONE, chain, level);
        }
        for at in 0..run.holders.len() {
            let above = run.holders[at];
            if let Some(chain) = self.trie.chains.find(node, above) {
                self.follow(run, above, chain, level);
            }
        }
    }

    /// Tries the lineages of a chain, whose substring ends at the innermost node and hangs on one that is met, or on
    /// none.
    fn follow(&self, run: &mut Run, above: NodeId, chain: u32, level: u32) {
        let lacks = !run.open.has();
        let (first, more) = self.trie.chains.links(chain);
        let mut link = first;
        let mut more = more.iter();
        loop {
            // Most lineages are passed over here.
            if link.needs & lacks == 0 && self.may_hold(run, link, above, level) {
                self.try_link(run, link, level);
            }
            match more.next() {
                Some(next) => link = next,
                None => return,
            }
        }
    }

    /// Whether it is known that a lineage hangs on the one above, if it may hold.
    #[inline(always)]
    fn surely_hangs(&self, link: &Link) -> bool {
        link.first || self.options.variant == Variant::Eager && link.parent != NONE
    }

    #[inline(always)]
    fn may_hold(&self, run: &Run, link: &Link, above: NodeId, level: u32) -> bool {
        if link.kind == Kind::Paths && run.spent.contains(PathId(link.lineage)) {
            false
        } else if link.late {
            true
        } else if above == NONE {
            link.reach.fits(level)
        } else if self.surely_hangs(link) {
            run.held.has_above(link.parent, level, link.reach)
        } else {
            let eager = self.options.variant == Variant::Eager;
            (eager || !matches!(link.kind, Kind::Inner | Kind::Tested))
                && run.met.has_above(above, level, link.reach)
        }
    }

    /// Does what there is to do; what has nothing is not looked at.
    #[inline(always)]
    fn try_link(&self, run: &mut Run, link: &Link, level: u32) {
        if link.late {
            run.late.push(link.lineage);
            return;
        }
        let eager = self.options.variant == Variant::Eager;
        let known = self.surely_hangs(link);
        match link.kind {
            Kind::Inner if known && eager => self.note(run, link.lineage, level),
            Kind::Tested if known && eager => {
                if self.starts_pass(run, link.tests, level) {
                    self.note(run, link.lineage, level);
                }
            }
            Kind::Leaf if eager && link.parent != NONE => self.complete_leaf(run, link, level),
            Kind::Leaf | Kind::Leaves if run.was_tried(link, level) => {}
            _ => self.probe(run, link.lineage, level, known),
        }
    }

    /// All substrings of the start tag are met, and all lineages that others may hang on are noted; those that hang on
    /// late ones come after them.
    fn probe_late(&self, run: &mut Run) {
        let level = run.level();
        let mut late = std::mem::take(&mut run.late);
        if late.len() > 1 {
            late.sort_by_cached_key(|&lineage| self.depth(lineage));
        }
        late.drain(..).for_each(|lineage| self.probe(run, lineage, level, false));
        run.late = late;
    }

    pub(super) fn end_element(&self, run: &mut Run) {
        self.end_text(run);
        let level = run.level();
        while let Some((target, ends)) = run.tested.get_mut(level as usize).and_then(Vec::pop) {
            self.end_tested(run, target, ends, level);
        }
        self.end_subtrees(run, level);
        // Branches before what they are branches of: a row that asks for none of them must know. Completing a row may
        // let another one at this level wait, whose turn it is then.
        if let Some(rows) = run.waiting.get_mut(level as usize) {
            rows.sort_unstable();
        }
        while let Some(row) = run.waiting.get_mut(level as usize).and_then(Vec::pop) {
            self.end_row(run, row, level);
        }
        self.forget(run);
    }

    pub(super) fn text_piece(&self, run: &mut Run, piece: &str) {
        run.open.text(piece);
        if run.level() > 0 && self.trie.special(Special::Text).is_some() {
            run.text.push_str(piece);
        }
    }

    /// A text node is complete: it begins and ends below the innermost element.
    pub(super) fn end_text(&self, run: &mut Run) {
        if run.text.is_empty() {
            return;
        }
        let Some(node) = self.trie.special(Special::Text) else { return };
        run.mark();
        self.meet(run, node);
        let level = run.level();
        let text = std::mem::take(&mut run.text);
        while let Some(row) = run.waiting.get_mut(level as usize).and_then(Vec::pop) {
            self.end_text_row(run, row, level, &text);
        }
        while let Some((target, ends)) = run.tested.get_mut(level as usize).and_then(Vec::pop) {
            self.end_tested_text(run, target, ends, level, &text);
        }
        run.text = text;
        run.text.clear();
        self.forget_level(run);
    }

    /// Leaves the innermost element without a look at what waits.
    fn forget(&self, run: &mut Run) {
        self.forget_level(run);
        run.nodes.pop();
        run.open.end();
    }

    fn forget_level(&self, run: &mut Run) {
        let level = run.level();
        let Some(marks) = run.marks.pop() else { return };
        for node in run.met_nodes.drain(marks.met..) {
            run.met.remove(node, level);
        }
        run.holders.truncate(marks.holders);
        for lineage in run.noted.drain(marks.noted..) {
            run.held.remove(lineage, level);
        }
        if let Some(list) = run.waiting.get_mut(level as usize) {
            list.clear();
        }
        if let Some(list) = run.tested.get_mut(level as usize) {
            list.clear();
        }
        run.forget_complete(level);
        run.states.end(level);
        run.forget_answers(level);
    }
}
