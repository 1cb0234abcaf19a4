//! A run over one document: the candidate lists.

use super::XFilter;
use super::automata::{ListId, Node, NodeId, Pivot};
use super::backwards::leads_to;
use super::candidates::{Bits, Candidates, Segment};
use crate::hops::Symbol;
use pathcast_core::engine::{CacheStats, Found};
use pathcast_core::names::Resolved;

/// No list.
const NONE: u32 = u32::MAX;
const NODE_BYTES: usize = size_of::<NodeId>();
/// A segment, and the note that it is there: with many names most segments hold one node.
const SEGMENT_BYTES: usize = size_of::<Segment>() + size_of::<Touched>();

/// A list with a segment of the element, and whether its gap is exact.
#[derive(Clone, Copy, Debug)]
struct Touched {
    slot: u32,
    exact: bool,
}

/// The candidate lists, and what the open elements put into them.
#[derive(Debug)]
pub struct Run {
    lists: Vec<Candidates>,
    /// By list of the shared part: its number in `lists`, once the document came to it.
    slots: Vec<u32>,
    /// The lists that the document came to; the number of each in `lists` is its place here.
    used: Vec<ListId>,
    /// The nodes with an open gap that are candidates.
    staying: Bits,
    open: Vec<Resolved>,
    /// By open element: where its lists start in `touched`.
    marks: Vec<usize>,
    /// Lists that open elements put candidates into.
    touched: Vec<Touched>,
    /// Lists whose pivots are not those of the shared part.
    thinned: Vec<u32>,
    /// Nodes of found paths that were dropped and count as staying.
    dropped: Vec<NodeId>,
    scanned: Vec<(NodeId, Node)>,
    /// Bytes that candidates take now, and took at most.
    live: usize,
    peak: usize,
    budget: usize,
    gave_up: bool,
    stats: CacheStats,
}

impl Run {
    /// A run whose candidates take about so many bytes at most.
    pub(super) fn with_budget(bytes: usize) -> Self {
        Self {
            lists: Vec::new(),
            slots: Vec::new(),
            used: Vec::new(),
            staying: Bits::default(),
            open: Vec::new(),
            marks: Vec::new(),
            touched: Vec::new(),
            thinned: Vec::new(),
            dropped: Vec::new(),
            scanned: Vec::new(),
            live: 0,
            peak: 0,
            budget: bytes,
            gave_up: false,
            stats: CacheStats::default(),
        }
    }

    pub(super) fn begin(&mut self, automata: &XFilter) {
        self.empty();
        self.open.clear();
        self.marks.clear();
        self.gave_up = false;
        for list in self.used.drain(..) {
            self.slots[list as usize] = NONE;
        }
        self.slots.resize(automata.lists.len(), NONE);
        self.staying.resize(automata.nodes.len());
    }

    /// Takes out every candidate, of a document that broke off too.
    fn empty(&mut self) {
        self.take_out(0);
        for node in self.dropped.drain(..) {
            self.staying.remove(node);
        }
        for slot in self.thinned.drain(..) {
            self.lists[slot as usize].pivots = None;
        }
    }

    /// Takes out what was put into the lists from this mark on.
    fn take_out(&mut self, mark: usize) {
        while self.touched.len() > mark
            && let Some(Touched { slot, exact }) = self.touched.pop()
        {
            let list = &mut self.lists[slot as usize];
            let out = list.last_segment();
            self.live -= out.len() * NODE_BYTES + SEGMENT_BYTES;
            if !exact {
                out.iter().for_each(|&node| self.staying.remove(node));
            }
            list.pop_segment();
        }
    }

    pub(super) fn end(&mut self) {
        self.open.pop();
        if let Some(mark) = self.marks.pop() {
            self.take_out(mark);
        }
    }

    pub(super) fn start(
        &mut self,
        automata: &XFilter,
        element: Resolved,
        attributes: &[Resolved],
        found: &mut Found,
    ) {
        self.open.push(element);
        self.marks.push(self.touched.len());
        self.stats.loose_steps += u64::from(self.gave_up);
        // Attributes last: what the element itself is met for may wait for them.
        let any_attribute = (!attributes.is_empty()).then_some(Symbol::ANY_ATTRIBUTE);
        let symbols = Symbol::elements(element)
            .chain([Symbol::ANY_ELEMENT])
            .chain(any_attribute)
            .chain(attributes.iter().flat_map(|&name| Symbol::attributes(name)));
        for symbol in symbols {
            for list in automata.lists_of(symbol) {
                if self.gave_up {
                    self.check_ends(automata, list, found);
                } else {
                    self.meet_pivots(automata, list, found);
                    self.meet_candidates(automata, list, found);
                }
            }
        }
        self.peak = self.peak.max(self.live);
        if self.live > self.budget && !self.gave_up {
            self.gave_up = true;
            self.stats.clears += 1;
            self.empty();
        }
    }

    #[inline]
    fn level(&self) -> u32 {
        self.open.len() as u32
    }

    /// Meets the candidates from the start.
    #[inline]
    fn meet_pivots(&mut self, automata: &XFilter, id: ListId, found: &mut Found) {
        let list = &automata.lists[id as usize];
        if list.pivots.is_empty() || !list.gap.admits(self.level()) {
            return;
        }
        let slot = self.slots[id as usize];
        let left = self.lists.get_mut(slot as usize).and_then(|list| list.pivots.take());
        let pivots = left.as_deref().unwrap_or(&list.pivots);
        let level = self.level();
        let mut done = 0;
        for &Pivot { id, prefix, node } in pivots {
            if found.contains(node.path) {
                done += 1;
                continue;
            }
            let prefix = &automata.hops[(id - prefix) as usize..id as usize];
            if prefix.is_empty() || leads_to(prefix, automata.hops[id as usize].gap, level, &self.open) {
                done += usize::from(self.meet(node, id, found));
            }
        }
        if 2 * done > pivots.len() {
            let is_open = |pivot: &&Pivot| !found.contains(pivot.node.path);
            let open = pivots.iter().filter(is_open).copied().collect();
            let slot = self.slot(id);
            if left.is_none() {
                self.thinned.push(slot);
            }
            self.lists[slot as usize].pivots = Some(open);
        } else if left.is_some() {
            self.lists[slot as usize].pivots = left;
        }
    }

    /// The number of a list in `lists`.
    #[inline]
    fn slot(&mut self, id: ListId) -> u32 {
        let slot = self.slots[id as usize];
        if slot != NONE { slot } else { self.take_slot(id) }
    }

    #[cold]
    fn take_slot(&mut self, id: ListId) -> u32 {
        let slot = self.used.len() as u32;
        self.used.push(id);
        self.slots[id as usize] = slot;
        if slot as usize == self.lists.len() {
            self.lists.push(Candidates::default());
        }
        slot
    }

    /// Meets what open elements put into the list for this level.
    #[inline]
    fn meet_candidates(&mut self, automata: &XFilter, id: ListId, found: &mut Found) {
        let slot = self.slots[id as usize];
        let Some(list) = self.lists.get(slot as usize) else { return };
        let Some((segment, range)) = list.range(automata.lists[id as usize].gap, self.level()) else {
            return;
        };
        let mut scanned = std::mem::take(&mut self.scanned);
        scanned.clear();
        // Fetched in a loop of its own, in which no step waits for the one before: in a long list each is a cache miss.
        scanned.extend(list.nodes(range).iter().map(|&id| (id, automata.nodes[id as usize])));
        let mut done = 0;
        for &(id, node) in &scanned {
            done += usize::from(found.contains(node.path) || self.meet(node, id, found));
        }
        if 2 * done > scanned.len() {
            self.thin(automata, slot, segment, found);
        }
        self.scanned = scanned;
    }

    /// A node of a path not found yet is met: the path is found, or the next node becomes a candidate. Whether the
    /// path is done with.
    #[inline]
    fn meet(&mut self, node: Node, id: NodeId, found: &mut Found) -> bool {
        let Some((to, exact)) = node.next() else {
            found.add(node.path);
            return true;
        };
        if !exact {
            if self.staying.contains(id + 1) {
                return false;
            }
            self.staying.insert(id + 1);
        }
        let level = self.level();
        let slot = self.slot(to);
        let list = &mut self.lists[slot as usize];
        self.live += NODE_BYTES;
        if list.push(id + 1, level) {
            self.live += SEGMENT_BYTES;
            self.touched.push(Touched { slot, exact });
        }
        false
    }

    /// Drops candidates of found paths from a segment on.
    fn thin(&mut self, automata: &XFilter, slot: u32, from: usize, found: &Found) {
        let Self { lists, staying, dropped, live, .. } = self;
        *live -= NODE_BYTES
            * lists[slot as usize].retain(from, |node| {
                let keep = !found.contains(automata.nodes[node as usize].path);
                if !keep && staying.contains(node) {
                    dropped.push(node);
                }
                keep
            });
    }

    /// Checks, without candidates, every path that ends in this list.
    #[cold]
    fn check_ends(&mut self, automata: &XFilter, id: ListId, found: &mut Found) {
        for &end in &automata.lists[id as usize].ends {
            let path = automata.nodes[end as usize].path;
            let (hops, gap) = automata.before_end(end);
            if !found.contains(path) && leads_to(hops, gap, self.level(), &self.open) {
                found.add(path);
            }
        }
    }

    /// What the candidates took at most, and how often they were too many.
    pub(super) fn stats(&self) -> CacheStats {
        let bytes = self.peak + self.lists.len() * size_of::<Candidates>() + self.slots.len() * 4;
        CacheStats { bytes: bytes as u64, ..self.stats }
    }
}
