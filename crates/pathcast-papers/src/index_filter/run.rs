//! A run over one document: the index grows, and is joined when it is full and at the end.

use super::IndexFilter;
use super::join::Join;
use super::streams::{Interval, Streams};
use crate::hops::Symbol;
use pathcast_core::engine::{CacheStats, Found};
use pathcast_core::names::Resolved;

/// Intervals in the index at most, however large the budget is: a join may hold so many for each hop of a path, and a
/// megabyte of them stays in a processor's cache.
const MOST: usize = 1 << 16;
/// And at least, however small it is: joining has a cost of its own.
const LEAST: usize = 8;

/// The index over the document, and what joining needs.
#[derive(Debug)]
pub struct Run {
    streams: Streams,
    join: Join,
    capacity: usize,
    /// Intervals that make the index full: those kept from before, and the capacity.
    full: usize,
    peak: usize,
    stats: CacheStats,
}

impl Run {
    /// A run whose index takes about so many bytes at most.
    pub(super) fn with_budget(bytes: usize) -> Self {
        Self {
            streams: Streams::default(),
            join: Join::default(),
            capacity: (bytes / size_of::<Interval>()).clamp(LEAST, MOST),
            full: 0,
            peak: 0,
            stats: CacheStats::default(),
        }
    }

    pub(super) fn begin(&mut self, tree: &IndexFilter) {
        self.streams.begin(tree.symbols());
        self.full = self.capacity;
    }

    #[inline]
    pub(super) fn start(
        &mut self,
        tree: &IndexFilter,
        element: Resolved,
        attributes: &[Resolved],
        found: &mut Found,
    ) {
        if self.streams.len() >= self.full {
            self.join_early(tree, found);
        }
        self.streams.start(Symbol::elements(element).filter(|&symbol| tree.uses(symbol)));
        if attributes.is_empty() {
            return;
        }
        let named = attributes.iter().flat_map(|&name| Symbol::attributes(name));
        for symbol in named.chain([Symbol::ANY_ATTRIBUTE]) {
            if tree.uses(symbol) {
                self.streams.attribute(symbol);
            }
        }
    }

    #[inline]
    pub(super) fn end(&mut self) {
        self.streams.end();
    }

    /// Joins what was read so far. What is still to come can only be found together with elements that are open now.
    #[cold]
    fn join_early(&mut self, tree: &IndexFilter, found: &mut Found) {
        self.finish(tree, found);
        self.streams.keep_open();
        self.full = self.streams.len() + self.capacity;
        self.stats.clears += 1;
    }

    pub(super) fn finish(&mut self, tree: &IndexFilter, found: &mut Found) {
        self.peak = self.peak.max(self.streams.len());
        self.streams.settle();
        self.join.run(tree, &self.streams, found);
    }

    /// What the index took at most, and how often it was full.
    pub(super) fn stats(&self) -> CacheStats {
        CacheStats { bytes: (self.peak * size_of::<Interval>()) as u64, ..self.stats }
    }
}
