//! The candidates of one list, and a set of nodes.

use std::ops::Range;

use super::automata::{NodeId, Pivot};
use crate::hops::Gap;

/// The candidates of one list.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// The level of the last segment; 0 when there is none.
    level: u32,
    /// Nodes, in the order in which open elements put them here.
    nodes: Vec<NodeId>,
    /// For each element that put some here: its level, and where they start.
    segments: Vec<Segment>,
    /// The pivots that are left, when most of them were found.
    pub(super) pivots: Option<Vec<Pivot>>,
}

/// What one element put into a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    level: u32,
    start: u32,
}

/// A set of nodes.
#[derive(Debug, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn resize(&mut self, bound: usize) {
        self.0.resize(bound.div_ceil(64), 0);
    }

    #[inline]
    pub(super) fn contains(&self, at: u32) -> bool {
        self.0[at as usize / 64] & 1 << (at % 64) != 0
    }

    #[inline]
    pub(super) fn insert(&mut self, at: u32) {
        self.0[at as usize / 64] |= 1 << (at % 64);
    }

    #[inline]
    pub(super) fn remove(&mut self, at: u32) {
        self.0[at as usize / 64] &= !(1 << (at % 64));
    }
}

impl Candidates {
    /// Adds a candidate that an element of this level put here. Whether it is the element's first.
    #[inline]
    pub(super) fn push(&mut self, node: NodeId, level: u32) -> bool {
        let first = self.level != level;
        if first {
            self.level = level;
            self.segments.push(Segment { level, start: self.nodes.len() as u32 });
        }
        self.nodes.push(node);
        first
    }

    pub(super) fn nodes(&self, range: Range<usize>) -> &[NodeId] {
        &self.nodes[range]
    }

    pub(super) fn last_segment(&self) -> &[NodeId] {
        self.segments.last().map_or(&[], |segment| &self.nodes[segment.start as usize..])
    }

    pub(super) fn pop_segment(&mut self) {
        if let Some(segment) = self.segments.pop() {
            self.nodes.truncate(segment.start as usize);
            self.level = self.segments.last().map_or(0, |segment| segment.level);
        }
    }

    /// Keeps some of the candidates from a segment on; how many went.
    pub(super) fn retain(&mut self, from: usize, mut keep: impl FnMut(NodeId) -> bool) -> usize {
        let before = self.nodes.len();
        let mut kept = self.segments[from].start as usize;
        for at in from..self.segments.len() {
            let end = self.segments.get(at + 1).map_or(before, |next| next.start as usize);
            let start = std::mem::replace(&mut self.segments[at].start, kept as u32) as usize;
            for read in start..end {
                let node = self.nodes[read];
                if keep(node) {
                    self.nodes[kept] = node;
                    kept += 1;
                }
            }
        }
        self.nodes.truncate(kept);
        before - kept
    }

    /// The candidates for a level and the first of their segments, if there are any.
    #[inline]
    pub(super) fn range(&self, gap: Gap, level: u32) -> Option<(usize, Range<usize>)> {
        let highest = level.checked_sub(gap.min())?;
        let count = self.segments.len();
        // The levels of open elements are distinct, so at most as many segments are below as the gap has levels.
        let above = self.segments.iter().rev().take_while(|segment| segment.level > highest).count();
        let last = (count - above).checked_sub(1)?;
        let end = self.segments.get(last + 1).map_or(self.nodes.len(), |next| next.start as usize);
        if !gap.exact() {
            return (end > 0).then_some((0, 0..end));
        }
        let segment = self.segments[last];
        (segment.level == highest).then_some((last, segment.start as usize..end))
    }
}
