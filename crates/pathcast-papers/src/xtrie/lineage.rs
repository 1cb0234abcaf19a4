//! Lineages: the ways from the document node by substrings and relative levels.
//!
//! Where a row holds depends on nothing but its lineage: its substring, its relative level, its tests at the start tag,
//! and the lineage of its parent. Rows of different patterns often have the same (`/nitf/body` starts thousands), so a
//! lineage is kept once and whether it holds is found out once for all rows that have it. The paper does so row by
//! row. A lineage lists the rows that are tried when it holds: leaves, and rows that wait for the end tag.
//!
//! Leaves that are found by nothing but their lineage need not be tried again below the same elements: what they could
//! add to their parents there, they have added.

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

use super::levels::Gap;
use super::link::{Kind, Link};
use super::node::{NONE, NodeId};
use super::numbered;
use super::trie::Trie;

/// One way.
#[derive(Clone, Debug)]
pub(super) struct Lineage {
    /// The lineage above, or `NONE`.
    pub(super) parent: u32,
    pub(super) gap: Gap,
    /// The substring's node, or `NONE` for a dummy.
    pub(super) node: NodeId,
    /// Number of the tests at the start tag, or `NONE`. Tests of a leaf are its own, so that leaves with different tests
    /// share a lineage.
    pub(super) tests: u32,
    users: u32,
    /// Lineages below it.
    pub(super) below: u32,
    /// Whether the lineage above is a dummy's.
    pub(super) on_dummy: bool,
    /// Its chain, and its place there.
    chain: u32,
    place: u32,
    /// The subtree that is this lineage and nothing else, or `NONE`.
    pub(super) leaf: u32,
    /// Leaves that need not be tried again below the same elements.
    pub(super) plain: Vec<u32>,
    /// Other rows that are tried.
    pub(super) others: Vec<Other>,
    /// Single paths that are found when it holds, and what is tested then.
    pub(super) paths: Vec<u32>,
    pub(super) tested: Vec<Tested>,
}

/// What makes a lineage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Way {
    pub(super) parent: u32,
    pub(super) gap: Gap,
    pub(super) node: NodeId,
    pub(super) tests: u32,
}

/// What a lineage leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A single path.
    Path(u32),
    /// A subtree that is a leaf.
    Subtree(u32),
}

/// A row that is tried whenever its lineage holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other {
    pub(super) row: u32,
    /// If other branches must be found before it: the parent row, which has no state until then. Else `NONE`.
    pub(super) after: u32,
}

/// A single path or a leaf whose last substring has tests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tested {
    pub(super) target: Target,
    /// Number of the tests at the start tag and at the end tag, or `NONE`.
    pub(super) starts: u32,
    pub(super) ends: u32,
    /// Attributes without which the element fails: a bit for each name, some share one.
    pub(super) needs: u32,
}

/// Which list of a lineage a row is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// None: it is tried when its branches are found.
    Inner,
    Plain,
    Others,
    Paths,
}

impl Lineage {
    fn way(&self) -> Way {
        Way { parent: self.parent, gap: self.gap, node: self.node, tests: self.tests }
    }

    fn list(&mut self, list: List) -> Option<&mut Vec<u32>> {
        match list {
            List::Inner | List::Others => None,
            List::Plain => Some(&mut self.plain),
            List::Paths => Some(&mut self.paths),
        }
    }

    fn kind(&self) -> Kind {
        let leaves = self.leaf != NONE || !self.plain.is_empty();
        let simple = self.tests == NONE && self.others.is_empty() && self.tested.is_empty();
        let ends = leaves || !self.paths.is_empty();
        match (self.below > 0, ends) {
            (true, false) if simple => Kind::Inner,
            (_, false) if self.others.is_empty() && self.tested.is_empty() => Kind::Tested,
            (false, true) if simple && self.plain.is_empty() && self.paths.is_empty() => Kind::Leaf,
            (false, true) if simple && leaves => Kind::Leaves,
            (false, true) if simple => Kind::Paths,
            _ => Kind::Mixed,
        }
    }

    /// Keeps what its chain says of it.
    fn refresh(&self, trie: &mut Trie) {
        if self.node != NONE {
            let link = trie.chains.link(self.chain, self.place);
            (link.kind, link.leaf) = (self.kind(), self.leaf);
        }
    }
}

/// All lineages.
#[derive(Clone, Debug, Default)]
pub(super) struct Lineages {
    lineages: Vec<Lineage>,
    index: HashTable<u32>,
    free: Vec<u32>,
}

impl Lineages {
    #[inline]
    pub(super) fn get(&self, lineage: u32) -> &Lineage {
        &self.lineages[lineage as usize]
    }

    /// One more than the largest number.
    pub(super) fn bound(&self) -> usize {
        self.lineages.len()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.lineages.len() - self.free.len()
    }

    /// A lineage with one more user, and whether it is new. It takes over the user of `node` that the caller has, and
    /// if it is new that of `tests`; `needs` are attributes that these ask for.
    pub(super) fn insert(&mut self, way: Way, needs: u32, trie: &mut Trie) -> (u32, bool) {
        let Way { parent, gap, node, tests } = way;
        let key = hash(way);
        if let Some(&known) = self.index.find(key, |&at| self.lineages[at as usize].way() == way) {
            if node != NONE {
                trie.release(node);
            }
            self.lineages[known as usize].users += 1;
            return (known, false);
        }
        let mut fresh = Lineage {
            parent,
            gap,
            node,
            tests,
            users: 1,
            below: 0,
            on_dummy: self.lineages.get(parent as usize).is_some_and(|above| above.node == NONE),
            chain: NONE,
            place: NONE,
            leaf: NONE,
            plain: Vec::new(),
            others: Vec::new(),
            paths: Vec::new(),
            tested: Vec::new(),
        };
        let at = numbered::next(&self.lineages, &self.free);
        if node != NONE {
            let (probe, reach) = self.probe(parent, gap);
            let noted = self.lineages.get(parent as usize).is_some_and(|above| above.node != NONE);
            let first = parent == NONE;
            let parent = if noted { parent } else { NONE };
            let (kind, late) = (Kind::Mixed, gap.min == 0);
            let link = Link { lineage: at, parent, reach, tests, needs, leaf: NONE, kind, first, late };
            // What a late one hangs on may be met after it.
            let above = if late { NONE } else { probe };
            (fresh.chain, fresh.place) = trie.enchain(node, above, link);
        }
        numbered::put(&mut self.lineages, &mut self.free, fresh);
        if parent != NONE {
            let above = &mut self.lineages[parent as usize];
            above.users += 1;
            above.below += 1;
            above.refresh(trie);
        }
        let lineages = &self.lineages;
        self.index.insert_unique(key, at, |&each| hash(lineages[each as usize].way()));
        (at, true)
    }

    /// One user less; what nobody needs any more goes, from the end on. The tests that go with it.
    pub(super) fn release(&mut self, lineage: u32, trie: &mut Trie) -> Vec<u32> {
        let mut gone = Vec::new();
        let mut at = lineage;
        while at != NONE {
            let each = &mut self.lineages[at as usize];
            each.users -= 1;
            if each.users > 0 {
                break;
            }
            let Lineage { parent, node, tests, chain, place, .. } = *each;
            if let Ok(entry) = self.index.find_entry(hash(each.way()), |&other| other == at) {
                entry.remove();
            }
            if tests != NONE {
                gone.push(tests);
            }
            if node != NONE {
                if let Some(moved) = trie.unchain(node, chain, place) {
                    self.lineages[moved as usize].place = place;
                }
                trie.release(node);
            }
            self.free.push(at);
            if parent != NONE {
                let above = &mut self.lineages[parent as usize];
                above.below -= 1;
                above.refresh(trie);
            }
            at = parent;
        }
        gone
    }

    /// Lists a row that is tried whenever a lineage holds; its place.
    pub(super) fn enlist_other(&mut self, lineage: u32, other: Other, trie: &mut Trie) -> u32 {
        let each = &mut self.lineages[lineage as usize];
        each.others.push(other);
        each.refresh(trie);
        each.others.len() as u32 - 1
    }

    /// Lists a row that is tried when a lineage holds; its place.
    pub(super) fn enlist(&mut self, lineage: u32, list: List, row: u32, trie: &mut Trie) -> u32 {
        let each = &mut self.lineages[lineage as usize];
        let Some(rows) = each.list(list) else { return NONE };
        if rows.is_empty() {
            rows.reserve_exact(1);
        }
        rows.push(row);
        let place = rows.len() as u32 - 1;
        each.refresh(trie);
        place
    }

    /// Sets the subtree that is a lineage and nothing else, or `NONE`.
    pub(super) fn set_leaf(&mut self, lineage: u32, subtree: u32, trie: &mut Trie) {
        let each = &mut self.lineages[lineage as usize];
        each.leaf = subtree;
        each.refresh(trie);
    }

    /// Lists what is tested when a lineage holds; its place.
    pub(super) fn enlist_tested(&mut self, lineage: u32, tested: Tested, trie: &mut Trie) -> u32 {
        let each = &mut self.lineages[lineage as usize];
        each.tested.push(tested);
        each.refresh(trie);
        each.tested.len() as u32 - 1
    }

    /// Takes it off its list; what takes its place, if anything.
    pub(super) fn strike_tested(&mut self, lineage: u32, place: u32, trie: &mut Trie) -> Option<Target> {
        let each = &mut self.lineages[lineage as usize];
        each.tested.swap_remove(place as usize);
        if each.tested.capacity() > 4 * each.tested.len() + 16 {
            each.tested.shrink_to(2 * each.tested.len());
        }
        let moved = each.tested.get(place as usize).map(|tested| tested.target);
        each.refresh(trie);
        moved
    }

    /// The substring that ends at the element a lineage stands for: a dummy with tests stands for that of its parent.
    pub(super) fn element(&self, lineage: u32) -> Option<NodeId> {
        let mut at = lineage;
        while at != NONE {
            let each = &self.lineages[at as usize];
            if each.node != NONE {
                return Some(each.node);
            }
            at = each.parent;
        }
        None
    }

    /// The nearest substring above a lineage, and the level relative to it.
    fn probe(&self, mut parent: u32, mut gap: Gap) -> (NodeId, Gap) {
        while parent != NONE {
            let above = &self.lineages[parent as usize];
            if above.node != NONE {
                return (above.node, gap);
            }
            gap = above.gap.and(gap);
            parent = above.parent;
        }
        (NONE, gap)
    }

    /// Takes a row off its list; the row that takes its place, if any.
    pub(super) fn strike(&mut self, lineage: u32, list: List, place: u32, trie: &mut Trie) -> Option<u32> {
        let each = &mut self.lineages[lineage as usize];
        if list == List::Others {
            each.others.swap_remove(place as usize);
            if each.others.capacity() > 4 * each.others.len() + 16 {
                each.others.shrink_to(2 * each.others.len());
            }
            let moved = each.others.get(place as usize).map(|other| other.row);
            each.refresh(trie);
            return moved;
        }
        let rows = each.list(list)?;
        rows.swap_remove(place as usize);
        if rows.capacity() > 4 * rows.len() + 16 {
            rows.shrink_to(2 * rows.len());
        }
        let moved = rows.get(place as usize).copied();
        each.refresh(trie);
        moved
    }

    /// Whether a lineage has this substring and no other.
    #[cfg(test)]
    pub(super) fn is_at(&self, at: u32, node: NodeId) -> bool {
        self.get(at).node == node
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let lists = |each: &Lineage| {
            (each.plain.capacity() + each.paths.capacity()) * size_of::<u32>()
                + each.others.capacity() * size_of::<Other>()
                + each.tested.capacity() * size_of::<Tested>()
        };
        self.lineages.iter().map(lists).sum::<usize>()
            + self.lineages.capacity() * size_of::<Lineage>()
            + self.index.allocation_size()
            + self.free.capacity() * size_of::<u32>()
    }
}

/// The parts are our own numbers, so a cheap hash will do.
fn hash(way: Way) -> u64 {
    let mixed = FxBuildHasher.hash_one(way);
    mixed ^ (mixed >> 32)
}
