//! The substring-table: one row for each substring of each pattern.
//!
//! Rows of one pattern lie together in the order of its decomposition, so a parent comes before its children. Rows of
//! one substring are chained ([`super::chain`]). Single paths have a table of their own with smaller rows: the parent is
//! the row before.

use rustc_hash::FxHashMap;

use super::chain::{AT_ROOT, Again, Chains, Key};
use super::decompose::{Piece, StartTest, Substring};
use super::levels::Gap;
use super::local::reads_value;
use super::pattern::Mode;
use super::trie::{NodeId, Trie};
use crate::engine::PathId;
use crate::pattern::Condition;

/// No row, no node, no tests.
pub(super) const NONE: u32 = u32::MAX;

/// Tests of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Tests {
    /// Decided at the start tag.
    pub(super) starts: Box<[StartTest]>,
    /// Decided at the end tag.
    pub(super) ends: Box<[Condition]>,
}

/// A row of a tree pattern.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The parent row, or `NONE`.
    pub(super) parent: u32,
    pub(super) gap: Gap,
    pub(super) rank: u32,
    pub(super) children: u32,
    pub(super) mode: Mode,
    /// The substring's node, or `NONE` for a dummy.
    pub(super) node: NodeId,
    /// Its group in the chain, or `NONE`, and its place there.
    chained: (u32, u32),
    /// Number of its tests, or `NONE`.
    pub(super) tests: u32,
    pub(super) pattern: PathId,
}

/// A row of a single path; its parent is the row before.
#[derive(Clone, Debug)]
pub(super) struct PathRow {
    pub(super) gap: Gap,
    pub(super) node: NodeId,
    chained: (u32, u32),
    pub(super) tests: u32,
    /// Whether it is the first of its path.
    pub(super) first: bool,
    /// The path it completes, or `NONE`.
    pub(super) completes: u32,
}

/// Where the rows of a pattern lie.
#[derive(Clone, Copy, Debug)]
struct Extent {
    single: bool,
    from: u32,
    len: u32,
}

/// Rows in blocks; blocks that are free are found by length.
#[derive(Clone, Debug)]
struct Blocks<R> {
    rows: Vec<R>,
    free: FxHashMap<u32, Vec<u32>>,
}

impl<R> Default for Blocks<R> {
    fn default() -> Self {
        Self { rows: Vec::new(), free: FxHashMap::default() }
    }
}

impl<R: Clone> Blocks<R> {
    /// Where a block of so many rows would start.
    fn next(&mut self, len: u32) -> u32 {
        self.free.get_mut(&len).and_then(Vec::pop).unwrap_or(self.rows.len() as u32)
    }

    fn put(&mut self, at: u32, row: R) {
        if at as usize == self.rows.len() {
            self.rows.push(row);
        } else {
            self.rows[at as usize] = row;
        }
    }

    fn free(&mut self, from: u32, len: u32) {
        self.free.entry(len).or_default().push(from);
    }

    fn memory_bytes(&self) -> usize {
        let free: usize = self.free.values().map(|list| list.capacity() * 4 + 40).sum();
        self.rows.capacity() * size_of::<R>() + free
    }
}

/// The substring-tables.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    rows: Blocks<Row>,
    paths: Blocks<PathRow>,
    pub(super) chains: Chains,
    tests: Vec<Tests>,
    free_tests: Vec<u32>,
    /// By pattern.
    extents: Vec<Option<Extent>>,
}

/// Which chained rows there are: all, or those of leaves alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chained {
    All,
    Leaves,
}

impl Table {
    #[inline]
    pub(super) fn row(&self, row: u32) -> &Row {
        &self.rows.rows[row as usize]
    }

    #[inline]
    pub(super) fn path_row(&self, row: u32) -> &PathRow {
        &self.paths.rows[row as usize]
    }

    #[inline]
    pub(super) fn tests(&self, tests: u32) -> Option<&Tests> {
        self.tests.get(tests as usize)
    }

    /// One more than the largest number of a row, of tree patterns and of single paths.
    pub(super) fn bounds(&self) -> (usize, usize) {
        (self.rows.rows.len(), self.paths.rows.len())
    }

    /// One more than the largest number of a pattern.
    pub(super) fn pattern_bound(&self) -> usize {
        self.extents.len()
    }

    /// The rows of a pattern: whether they are of a single path, and their numbers.
    pub(super) fn extent(&self, pattern: PathId) -> Option<(bool, std::ops::Range<u32>)> {
        let extent = self.extents.get(pattern.0 as usize).copied().flatten()?;
        Some((extent.single, extent.from..extent.from + extent.len))
    }

    /// Adds the rows of a pattern.
    pub(super) fn insert(
        &mut self,
        pieces: Vec<Piece>,
        pattern: PathId,
        single: bool,
        chained: Chained,
        trie: &mut Trie,
    ) {
        let len = pieces.len() as u32;
        let from = if single { self.paths.next(len) } else { self.rows.next(len) };
        for (at, piece) in (from..).zip(pieces) {
            let node = match &piece.substring {
                Substring::Names(names) => trie.insert(names),
                Substring::Special(special) => trie.insert_special(*special),
                Substring::Empty => NONE,
            };
            if node != NONE {
                trie.nodes[node as usize].readers += u32::from(piece.ends.iter().any(reads_value));
            }
            let tests = self.keep(piece.starts, piece.ends);
            let (gap, leaf) = (piece.gap, piece.children == 0);
            let parent = piece.parent.map_or(NONE, |parent| from + parent as u32);
            let mut place = (NONE, 0);
            // What is not there is noticed at the end tag alone, so somebody must wait for it.
            if node != NONE && (leaf || chained == Chained::All || piece.mode == Mode::Not) {
                let (probe, gap) = self.probe(parent, gap, single);
                let again = self.again(parent, piece.gap, leaf && tests == NONE, single);
                let key = Key { node, probe, gap, single, again };
                let node = &mut trie.nodes[node as usize];
                let list = if single { &mut node.paths } else { &mut node.rows };
                place = self.chains.insert(key, at, list);
            }
            if single {
                let completes = if leaf { pattern.0 } else { NONE };
                let row = PathRow { gap, node, chained: place, tests, first: at == from, completes };
                self.paths.put(at, row);
            } else {
                let (rank, children, mode) = (piece.rank, piece.children, piece.mode);
                let chained = place;
                self.rows.put(at, Row { parent, gap, rank, children, mode, node, chained, tests, pattern });
            }
        }
        if self.extents.len() <= pattern.0 as usize {
            self.extents.resize(pattern.0 as usize + 1, None);
        }
        self.extents[pattern.0 as usize] = Some(Extent { single, from, len });
    }

    /// When a row must be tried again: a leaf without tests adds nothing to the same parents, unless they count branches.
    fn again(&self, parent: u32, gap: Gap, plain: bool, single: bool) -> Again {
        let counts = parent != NONE && !single && self.row(parent).mode == Mode::Ordered;
        match plain && !counts {
            false => Again::Always,
            true if parent == NONE => Again::Never,
            true => Again::BelowAnother(gap.min),
        }
    }

    /// The substring that must have been met above a row, and where.
    fn probe(&self, mut parent: u32, mut gap: Gap, single: bool) -> (NodeId, Gap) {
        while parent != NONE {
            if single {
                return (self.path_row(parent).node, gap);
            }
            let row = self.row(parent);
            if row.node != NONE {
                return (row.node, gap);
            }
            gap = row.gap.and(gap);
            parent = row.parent;
        }
        (AT_ROOT, gap)
    }

    /// Takes out the rows of a pattern.
    pub(super) fn remove(&mut self, pattern: PathId, trie: &mut Trie) {
        let Some(Extent { single, from, len }) =
            self.extents.get_mut(pattern.0 as usize).and_then(Option::take)
        else {
            return;
        };
        for at in from..from + len {
            let (node, chained, tests) = if single {
                let row = self.path_row(at);
                (row.node, row.chained, row.tests)
            } else {
                let row = self.row(at);
                (row.node, row.chained, row.tests)
            };
            let reads = self.tests(tests).is_some_and(|tests| tests.ends.iter().any(reads_value));
            if chained.0 != NONE {
                self.unchain(single, node, chained, trie);
            }
            if node != NONE {
                trie.nodes[node as usize].readers -= u32::from(reads);
                trie.release(node);
            }
            if tests != NONE {
                self.tests[tests as usize] = Tests::default();
                self.free_tests.push(tests);
            }
        }
        if single { self.paths.free(from, len) } else { self.rows.free(from, len) }
    }

    /// The last row of the group takes the place of the one that goes.
    fn unchain(&mut self, single: bool, node: NodeId, (group, place): (u32, u32), trie: &mut Trie) {
        let node = &mut trie.nodes[node as usize];
        let list = if single { &mut node.paths } else { &mut node.rows };
        if let Some(moved) = self.chains.remove(group, place, list) {
            if single {
                self.paths.rows[moved as usize].chained.1 = place;
            } else {
                self.rows.rows[moved as usize].chained.1 = place;
            }
        }
    }

    fn keep(&mut self, starts: Vec<StartTest>, ends: Vec<Condition>) -> u32 {
        if starts.is_empty() && ends.is_empty() {
            return NONE;
        }
        let tests = Tests { starts: starts.into(), ends: ends.into() };
        match self.free_tests.pop() {
            Some(at) => {
                self.tests[at as usize] = tests;
                at
            }
            None => {
                self.tests.push(tests);
                (self.tests.len() - 1) as u32
            }
        }
    }

    /// Heap bytes held, but for those of long literals.
    pub(super) fn memory_bytes(&self) -> usize {
        let tests: usize = self
            .tests
            .iter()
            .map(|tests| size_of_val::<[StartTest]>(&tests.starts) + size_of_val::<[Condition]>(&tests.ends))
            .sum();
        tests
            + self.rows.memory_bytes()
            + self.chains.memory_bytes()
            + self.paths.memory_bytes()
            + self.tests.capacity() * size_of::<Tests>()
            + self.extents.capacity() * size_of::<Option<Extent>>()
    }
}
