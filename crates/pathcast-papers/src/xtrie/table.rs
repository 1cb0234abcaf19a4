//! The substring-table: one row for each substring of each pattern.
//!
//! Rows of one pattern lie together in the order of its decomposition, so a parent comes before its children. Where a row
//! holds is a matter of its lineage ([`super::lineage`]), which rows of other patterns may share; what is a row's own
//! is its rank, its branches, and its tests at the end tag. Single paths need nothing of that: they have one small row,
//! for the last substring.

use rustc_hash::FxHashMap;

use super::decompose::{Piece, Substring, is_shared};
use super::gist::{Gist, Gists};
use super::interned::Interned;
use super::lineage::{Lineages, List, Other, Target, Tested, Way};
use super::local::reads_value;
use super::node::NONE;
use super::pattern::Mode;
use super::start_test::{StartTest, needs};
use super::subtree::{Parts, Subtrees};
use super::trie::Trie;
use pathcast_core::engine::PathId;
use pathcast_core::pattern::Condition;

/// A row of a tree pattern.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The parent row, or `NONE`.
    pub(super) parent: u32,
    pub(super) rank: u32,
    pub(super) children: u32,
    pub(super) mode: Mode,
    pub(super) lineage: u32,
    /// Its list and its place there.
    list: List,
    place: u32,
    /// Number of its tests at the end tag, or `NONE`; of a leaf also of those at the start tag.
    pub(super) ends: u32,
    pub(super) starts: u32,
    pub(super) pattern: PathId,
    /// The subtree that it is the top of, which does its work, or `NONE`.
    pub(super) subtree: u32,
}

/// A single path.
#[derive(Clone, Debug)]
pub(super) struct PathRow {
    /// That of its last substring.
    pub(super) lineage: u32,
    place: u32,
    /// Number of the tests of its last substring, or `NONE`.
    starts: u32,
    ends: u32,
}

/// Where the rows of a pattern are.
#[derive(Clone, Copy, Debug)]
enum Extent {
    Path,
    Rows { from: u32, len: u32 },
}

/// The substring-table.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    rows: Vec<Row>,
    /// Blocks of rows that are free, by length.
    free: FxHashMap<u32, Vec<u32>>,
    /// By pattern: single paths.
    paths: FxHashMap<u32, PathRow>,
    pub(super) lineages: Lineages,
    pub(super) subtrees: Subtrees,
    starts: Interned<Box<[StartTest]>>,
    ends: Interned<Box<[Condition]>>,
    /// By number of tests at the start tag.
    gists: Vec<Gists>,
    /// By pattern.
    extents: Vec<Option<Extent>>,
    /// Rows with a state of their own.
    stateful: usize,
}

impl Table {
    #[inline]
    pub(super) fn row(&self, row: u32) -> &Row {
        &self.rows[row as usize]
    }

    /// A single path.
    pub(super) fn path(&self, path: PathId) -> Option<&PathRow> {
        self.paths.get(&path.0)
    }

    #[inline]
    pub(super) fn starts(&self, tests: u32) -> &[StartTest] {
        self.starts.get(tests).map_or(&[], |tests| tests)
    }

    #[inline]
    pub(super) fn gists(&self, tests: u32) -> &Gists {
        self.gists.get(tests as usize).unwrap_or(&Gist::UNKNOWN)
    }

    #[inline]
    pub(super) fn ends(&self, tests: u32) -> &[Condition] {
        self.ends.get(tests).map_or(&[], |tests| tests)
    }

    /// One more than the largest number of a row.
    #[cfg(test)]
    pub(super) fn row_bound(&self) -> usize {
        self.rows.len()
    }

    /// The same, or nothing if no row has a state of its own.
    pub(super) fn state_bound(&self) -> usize {
        if self.stateful > 0 { self.rows.len() } else { 0 }
    }

    /// One more than the largest number of tests at the start tag.
    pub(super) fn start_bound(&self) -> usize {
        self.starts.bound()
    }

    /// One more than the largest number of a pattern.
    pub(super) fn pattern_bound(&self) -> usize {
        self.extents.len()
    }

    /// The rows of a tree pattern; nothing for a single path.
    pub(super) fn rows_of(&self, pattern: PathId) -> std::ops::Range<u32> {
        match self.extents.get(pattern.0 as usize) {
            Some(Some(Extent::Rows { from, len })) => *from..from + len,
            _ => 0..0,
        }
    }

    /// Adds a tree pattern.
    pub(super) fn insert(&mut self, pieces: Vec<Piece>, pattern: PathId, trie: &mut Trie) {
        let len = pieces.len() as u32;
        let shared = is_shared(&pieces);
        self.stateful += if shared { 0 } else { pieces.len() };
        let from = self.free.get_mut(&len).and_then(Vec::pop).unwrap_or(self.rows.len() as u32);
        for (at, piece) in (from..).zip(pieces) {
            let parent = piece.parent.map_or(NONE, |parent| from + parent as u32);
            let (above, counts) = match self.rows.get(parent as usize) {
                Some(row) if parent != NONE => (row.lineage, row.mode == Mode::Ordered),
                _ => (NONE, false),
            };
            let untested = piece.starts.is_empty() && piece.ends.is_empty();
            let list = match (piece.children, piece.mode) {
                _ if shared => List::Inner,
                (_, Mode::Not) => List::Others, // what is not there is noticed at the end tag alone
                // The first in order is wanted once: what is found later is no better.
                (0, _) if untested && (!counts || piece.rank == 1) => List::Plain,
                (0, _) => List::Others,
                _ => List::Inner,
            };
            let (rank, children, mode) = (piece.rank, piece.children, piece.mode);
            let (lineage, starts, ends) = self.way(piece, above, children == 0, trie);
            let place = if list == List::Others {
                let after = if counts && rank > 1 && children == 0 { parent } else { NONE };
                self.lineages.enlist_other(lineage, Other { row: at, after }, trie)
            } else {
                self.lineages.enlist(lineage, list, at, trie)
            };
            let subtree = NONE;
            let row =
                Row { parent, rank, children, mode, lineage, list, place, ends, starts, pattern, subtree };
            if at as usize == self.rows.len() {
                self.rows.push(row);
            } else {
                self.rows[at as usize] = row;
            }
        }
        if shared {
            self.share(from, len, trie);
        }
        self.note(pattern, Extent::Rows { from, len });
    }

    /// Gives the rows of a pattern their subtrees, from the leaves up: branches come after what they are branches of.
    fn share(&mut self, from: u32, len: u32, trie: &mut Trie) {
        let mut children = vec![Vec::new(); len as usize];
        for at in (from..from + len).rev() {
            let Row { lineage, starts, ends, parent, pattern, .. } = *self.row(at);
            let below = std::mem::take(&mut children[(at - from) as usize]);
            let needs = needs(self.starts(starts));
            let parts = Parts { lineage, starts, ends, children: below };
            let subtree = self.subtrees.insert(parts, needs, &mut self.lineages, trie);
            self.rows[at as usize].subtree = subtree;
            if parent == NONE {
                self.rows[at as usize].place = self.subtrees.name(subtree, pattern.0);
            } else {
                children[(parent - from) as usize].push(subtree);
            }
        }
    }

    /// Takes the rows of a pattern off their subtrees.
    fn unshare(&mut self, from: u32, len: u32, trie: &mut Trie) {
        for at in from..from + len {
            let Row { subtree, parent, place, .. } = *self.row(at);
            if parent == NONE
                && let Some(moved) = self.subtrees.unname(subtree, place)
                && let Some(Some(Extent::Rows { from, .. })) = self.extents.get(moved as usize)
            {
                self.rows[*from as usize].place = place;
            }
            let place = self.subtrees.place(subtree);
            if let Some(moved) = self.subtrees.release(subtree, &mut self.lineages, trie) {
                self.moved(moved, place);
            }
        }
    }

    /// What is tested for a lineage has a new place there.
    fn moved(&mut self, target: Target, place: u32) {
        match target {
            Target::Subtree(subtree) => self.subtrees.move_leaf(subtree, place),
            Target::Path(path) => {
                if let Some(path) = self.paths.get_mut(&path) {
                    path.place = place;
                }
            }
        }
    }

    /// Adds a single path.
    pub(super) fn insert_path(&mut self, pieces: Vec<Piece>, path: PathId, trie: &mut Trie) {
        let (mut lineage, mut starts, mut ends) = (NONE, NONE, NONE);
        for piece in pieces {
            let above = lineage;
            let leaf = piece.children == 0;
            (lineage, starts, ends) = self.way(piece, above, leaf, trie);
            if above != NONE {
                self.release(above, trie); // the one below holds it now
            }
        }
        let place = if starts == NONE && ends == NONE {
            self.lineages.enlist(lineage, List::Paths, path.0, trie)
        } else {
            let needs = needs(self.starts(starts));
            let tested = Tested { target: Target::Path(path.0), starts, ends, needs };
            self.lineages.enlist_tested(lineage, tested, trie)
        };
        self.paths.insert(path.0, PathRow { lineage, place, starts, ends });
        self.note(path, Extent::Path);
    }

    /// The lineage of a piece, with one more user, and the tests that are the piece's own: at the start tag, if it is a
    /// leaf, and at the end tag.
    fn way(&mut self, piece: Piece, above: u32, leaf: bool, trie: &mut Trie) -> (u32, u32, u32) {
        let node = match &piece.substring {
            Substring::Names(names) => trie.insert(names),
            Substring::Special(special) => trie.insert_special(*special),
            Substring::Empty => NONE,
        };
        let reads = piece.ends.iter().any(reads_value);
        let starts = self.put_starts(piece.starts);
        let ends = if piece.ends.is_empty() { NONE } else { self.ends.put(piece.ends.into()) };
        let (shared, own) = if leaf { (NONE, starts) } else { (starts, NONE) };
        let way = Way { parent: above, gap: piece.gap, node, tests: shared };
        let needs = needs(self.starts(shared));
        let (lineage, fresh) = self.lineages.insert(way, needs, trie);
        if shared != NONE && !fresh {
            self.starts.release(shared); // the lineage holds it
        }
        if let Some(node) = self.lineages.element(lineage) {
            trie.nodes[node as usize].readers += u32::from(reads);
        }
        (lineage, own, ends)
    }

    fn put_starts(&mut self, tests: Vec<StartTest>) -> u32 {
        if tests.is_empty() {
            return NONE;
        }
        let gists = Gist::of(&tests);
        let at = self.starts.put(tests.into());
        self.gists.resize(self.starts.bound(), Gist::UNKNOWN);
        self.gists[at as usize] = gists;
        at
    }

    fn note(&mut self, pattern: PathId, extent: Extent) {
        if self.extents.len() <= pattern.0 as usize {
            self.extents.resize(pattern.0 as usize + 1, None);
        }
        self.extents[pattern.0 as usize] = Some(extent);
    }

    /// Takes out a pattern.
    pub(super) fn remove(&mut self, pattern: PathId, trie: &mut Trie) {
        match self.extents.get_mut(pattern.0 as usize).and_then(Option::take) {
            None => {}
            Some(Extent::Path) => {
                let Some(path) = self.paths.remove(&pattern.0) else { return };
                let PathRow { lineage, place, starts, ends } = path;
                let moved = if starts == NONE && ends == NONE {
                    self.lineages.strike(lineage, List::Paths, place, trie).map(Target::Path)
                } else {
                    self.lineages.strike_tested(lineage, place, trie)
                };
                if let Some(moved) = moved {
                    self.moved(moved, place);
                }
                self.forget(lineage, starts, ends, trie);
            }
            Some(Extent::Rows { from, len }) => {
                if self.row(from).subtree == NONE {
                    self.stateful -= len as usize;
                } else {
                    self.unshare(from, len, trie);
                }
                for at in from..from + len {
                    let Row { lineage, list, place, starts, ends, .. } = *self.row(at);
                    if let Some(moved) = self.lineages.strike(lineage, list, place, trie) {
                        self.rows[moved as usize].place = place;
                    }
                    self.forget(lineage, starts, ends, trie);
                }
                self.free.entry(len).or_default().push(from);
            }
        }
    }

    /// What a row held on to.
    fn forget(&mut self, lineage: u32, starts: u32, ends: u32, trie: &mut Trie) {
        if let Some(node) = self.lineages.element(lineage) {
            let reads = self.ends(ends).iter().any(reads_value);
            trie.nodes[node as usize].readers -= u32::from(reads);
        }
        if ends != NONE {
            self.ends.release(ends);
        }
        if starts != NONE {
            self.starts.release(starts);
        }
        self.release(lineage, trie);
    }

    fn release(&mut self, lineage: u32, trie: &mut Trie) {
        for tests in self.lineages.release(lineage, trie) {
            self.starts.release(tests);
        }
    }

    /// Heap bytes held, but for those of long literals.
    pub(super) fn memory_bytes(&self) -> usize {
        let starts: usize = self.starts.iter().map(|tests| size_of_val::<[StartTest]>(tests)).sum();
        let ends: usize = self.ends.iter().map(|tests| size_of_val::<[Condition]>(tests)).sum();
        let free: usize = self.free.values().map(|list| list.capacity() * 4 + 40).sum();
        starts
            + ends
            + free
            + self.rows.capacity() * size_of::<Row>()
            + self.paths.capacity() * (size_of::<(u32, PathRow)>() + 1)
            + self.lineages.memory_bytes()
            + self.subtrees.memory_bytes()
            + self.starts.memory_bytes()
            + self.gists.capacity() * size_of::<Gists>()
            + self.ends.memory_bytes()
            + self.extents.capacity() * size_of::<Option<Extent>>()
    }
}
