//! Linear paths found by their chains: names of which each is the child of the one before, the document node included.
//!
//! If one path covers another, every chain of the general path is a chain of the specific one: an exact gap of one
//! level can only meet an exact gap of one level. So a general path is kept under *one* of its chains, the one under
//! which fewest others are, and a specific path looks under all of its own. The other way round a specific path is
//! kept under *all* its chains, and a general path looks under the one that is rarest. What is found has
//! a chain in common and, by some bits, the right names; whoever asks compares the rest. So an insertion costs a look-up
//! for each chain, however many paths there are, and what it finds.
//!
//! Lists are bounded. A general path for which no list has room, or that has no chain, is not kept here, and neither
//! are specific paths under a chain that too many have: for those there is the [`super::trie::Trie`]. Specific paths
//! that leave stay in their lists until they are half of them. So whoever asks must know who is still there.

use rustc_hash::FxHashMap;

use super::Handle;
use super::trie::bit;
use crate::hashing::spread;
use crate::pattern::{LinearPath, LinearStep, NameTest};

/// General paths under one chain.
const GENERALS: usize = 64;
/// Names of the chains that are looked for: few paths have a long one in common, and most have a short one.
const SHORT: usize = 3;
const LONG: usize = 6;
/// Places of specific paths that have left and may stay, however few others there are.
const STALE: usize = 1_024;
/// Specific paths under one chain.
const SPECIFICS: usize = 4_096;

type Chain = u32;

/// A path in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// See [`Traits`], whose fields these are: so an entry has 16 bytes.
    names: u64,
    pairs: u32,
    handle: Handle,
}

impl Entry {
    fn new(path: &LinearPath, handle: Handle) -> Self {
        let Traits { names, pairs } = Traits::new(path);
        Self { names, pairs, handle }
    }

    fn traits(&self) -> Traits {
        Traits { names: self.names, pairs: self.pairs }
    }
}

#[derive(Clone, Debug)]
enum List {
    /// Most chains have one.
    One(Entry),
    Some(Vec<Entry>),
    /// So many that they are only counted.
    Many(u32),
}

impl List {
    fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Some(entries) => entries.len(),
            Self::Many(number) => *number as usize,
        }
    }

    /// Those that are kept; none if there are too many.
    fn entries(&self) -> Option<&[Entry]> {
        match self {
            Self::One(entry) => Some(std::slice::from_ref(entry)),
            Self::Some(entries) => Some(entries),
            Self::Many(_) => None,
        }
    }

    fn push(&mut self, entry: Entry, most: usize) {
        match self {
            Self::One(first) => *self = Self::Some(vec![*first, entry]),
            Self::Some(entries) if entries.len() < most => entries.push(entry),
            Self::Some(entries) => *self = Self::Many(entries.len() as u32 + 1),
            Self::Many(number) => *number += 1,
        }
    }

    /// Whether the path was here.
    fn remove(&mut self, handle: Handle) -> bool {
        match self {
            Self::One(entry) if entry.handle == handle => *self = Self::Many(0),
            Self::Some(entries) => match entries.iter().position(|entry| entry.handle == handle) {
                Some(at) => drop(entries.swap_remove(at)),
                None => return false,
            },
            Self::One(_) | Self::Many(_) => return false,
        }
        true
    }
}

#[derive(Clone, Debug, Default)]
struct Lists(FxHashMap<Chain, List>);

impl Lists {
    fn len(&self, chain: Chain) -> usize {
        self.0.get(&chain).map_or(0, List::len)
    }

    fn push(&mut self, chain: Chain, entry: Entry, most: usize) {
        self.0.entry(chain).and_modify(|list| list.push(entry, most)).or_insert(List::One(entry));
    }

    fn remove(&mut self, chain: Chain, handle: Handle) -> bool {
        let Some(list) = self.0.get_mut(&chain) else { return false };
        let removed = list.remove(handle);
        if list.len() == 0 {
            self.0.remove(&chain);
        }
        removed
    }

    fn memory_bytes(&self) -> usize {
        let kept = self.0.values().map(|list| match list {
            List::Some(entries) => entries.capacity() * size_of::<Entry>(),
            List::One(_) | List::Many(_) => 0,
        });
        self.0.capacity() * (size_of::<(Chain, List)>() + 1) + kept.sum::<usize>()
    }
}

/// Linear paths by their chains.
#[derive(Clone, Debug, Default)]
pub(super) struct Chains {
    generals: Lists,
    specifics: Lists,
    /// Places in lists of specific paths, and how many of them are of paths that have left.
    kept: usize,
    stale: usize,
}

impl Chains {
    /// Keeps a path that may cover others; whether there was room.
    pub(super) fn insert_general(&mut self, path: &LinearPath, handle: Handle) -> bool {
        // Of several with equally many the last: a longer one is looked for less often.
        let mut best: Option<(usize, Chain)> = None;
        for chain in keys(path) {
            let number = self.generals.len(chain);
            if best.is_none_or(|(least, _)| number <= least) {
                best = Some((number, chain));
            }
        }
        let Some((number, chain)) = best else { return false };
        let has_room = number < GENERALS;
        if has_room {
            self.generals.push(chain, Entry::new(path, handle), GENERALS);
        }
        has_room
    }

    /// Takes it out; whether it was here.
    pub(super) fn remove_general(&mut self, path: &LinearPath, handle: Handle) -> bool {
        keys(path).any(|chain| self.generals.remove(chain, handle))
    }

    /// Keeps a path that others may cover.
    pub(super) fn insert_specific(&mut self, path: &LinearPath, handle: Handle) {
        let entry = Entry::new(path, handle);
        for chain in keys(path) {
            self.specifics.push(chain, entry, SPECIFICS);
            self.kept += 1;
        }
    }

    /// Such a path has left. It stays in its lists, because to look for it there would cost more than anything else.
    pub(super) fn forget_specific(&mut self, path: &LinearPath) {
        self.stale += keys(path).count();
    }

    /// Whether so many have left that all specific paths should be kept anew, after [`Chains::forget_specifics`].
    pub(super) fn is_stale(&self) -> bool {
        self.stale > STALE && self.stale > self.kept / 2
    }

    /// Forgets all specific paths.
    pub(super) fn forget_specifics(&mut self) {
        self.specifics = Lists::default();
        (self.kept, self.stale) = (0, 0);
    }

    /// Gives the general paths that have a chain and all names in common with a path, until `visit` says that it is
    /// enough; whether it did.
    pub(super) fn covering(&self, path: &LinearPath, visit: &mut impl FnMut(Handle) -> bool) -> bool {
        let known = Traits::new(path);
        for chain in keys(path) {
            let Some(entries) = self.generals.0.get(&chain).and_then(List::entries) else { continue };
            for entry in entries {
                if entry.traits().may_cover(known) && visit(entry.handle) {
                    return true;
                }
            }
        }
        false
    }

    /// Gives the specific paths that have a chain and all names in common with a path, and some that have left, until
    /// `visit` says that it is enough. Whether they are known here.
    pub(super) fn covered(&self, path: &LinearPath, visit: &mut impl FnMut(Handle) -> bool) -> bool {
        let wanted = Traits::new(path);
        let lists = keys(path).map(|chain| self.specifics.0.get(&chain));
        let Some(rarest) = lists.min_by_key(|list| list.map_or(0, List::len)) else { return false };
        // A chain that nobody has: nothing is covered.
        let Some(entries) = rarest.map_or(Some(&[][..]), List::entries) else { return false };
        for entry in entries {
            if wanted.may_cover(entry.traits()) && visit(entry.handle) {
                break;
            }
        }
        true
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.generals.0.is_empty() && self.specifics.0.is_empty()
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.generals.memory_bytes() + self.specifics.memory_bytes()
    }
}

/// The chains under which a path is looked for.
fn keys(path: &LinearPath) -> impl Iterator<Item = Chain> {
    chains(&path.steps, LONG).filter(|(length, _)| [SHORT, LONG].contains(length)).map(|(_, chain)| chain)
}

/// A number for the names of some steps of which each is the child of the one before. Other steps may have the same
/// number.
fn link(number: u64, name: NameTest) -> Option<u64> {
    let NameTest::Name(id) = name else { return None };
    Some(spread(number ^ u64::from(id.0)))
}

/// Where a chain may begin: the name, or the document node, and the steps after it.
fn beginnings(steps: &[LinearStep]) -> impl Iterator<Item = (u64, &[LinearStep])> {
    let named = (0..steps.len()).filter_map(|at| Some((link(0, steps[at].name)?, &steps[at + 1..])));
    std::iter::once((1, steps)).chain(named)
}

/// All chains of up to so many names, each with its length.
fn chains(steps: &[LinearStep], longest: usize) -> impl Iterator<Item = (usize, Chain)> {
    beginnings(steps).flat_map(move |(first, rest)| {
        let close = rest.iter().take(longest - 1).take_while(|step| step.exact && step.min == 1);
        let numbers = close.scan(first, |number, step| {
            *number = link(*number, step.name)?;
            Some(*number)
        });
        numbers.enumerate().map(|(at, number)| (at + 2, (number >> 32) as Chain))
    })
}

/// What a path has, as bits: its names, and pairs of names that follow each other closely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Traits {
    names: u64,
    pairs: u32,
}

impl Traits {
    fn new(path: &LinearPath) -> Self {
        let names = path.steps.iter().fold(0, |all, step| all | bit(step.name));
        let pairs = chains(&path.steps, 2).fold(0, |all, (_, chain)| all | 1 << (chain % 32));
        Self { names: (names | names >> 64) as u64, pairs }
    }

    /// Whether a path with these may cover one with those.
    fn may_cover(self, specific: Self) -> bool {
        self.names & !specific.names == 0 && self.pairs & !specific.pairs == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::NameId;
    use crate::pattern::Tail;

    fn path(names: &[u32]) -> LinearPath {
        let steps =
            names.iter().map(|&id| LinearStep { min: 1, exact: true, name: NameTest::Name(NameId(id)) });
        LinearPath { steps: steps.collect(), tail: Tail::End }
    }

    #[test]
    fn what_was_kept_is_found_and_taken_out_again() {
        let mut chains = Chains::default();
        // The same chain twice in one path, and paths that share chains.
        let stored =
            [path(&[1, 2, 3]), path(&[1, 2, 3, 4, 5]), path(&[7, 7, 7, 7, 7, 7, 7]), path(&[9, 2, 3])];
        for (handle, path) in stored.iter().enumerate() {
            assert!(chains.insert_general(path, handle as Handle));
            chains.insert_specific(path, handle as Handle);
        }
        let mut found = Vec::new();
        let mut visit = |handle| {
            found.push(handle);
            false
        };
        assert!(!chains.covering(&stored[1], &mut visit));
        assert!(found.contains(&0) && found.contains(&1) && !found.contains(&3));
        found.clear();
        let mut visit = |handle| {
            found.push(handle);
            false
        };
        assert!(chains.covered(&stored[0], &mut visit) && chains.covered(&path(&[4, 4, 4]), &mut visit));
        assert!(!chains.covered(&path(&[1]), &mut visit), "it has no chain of three");
        found.sort_unstable();
        assert_eq!(found, [0, 1]);
        for (handle, path) in stored.iter().enumerate() {
            assert!(!chains.is_empty() && chains.remove_general(path, handle as Handle));
            chains.forget_specific(path);
        }
        assert_eq!((chains.kept, chains.stale), (18, 18));
        chains.forget_specifics();
        assert!(chains.is_empty());
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn lists_are_bounded() {
        let mut chains = Chains::default();
        let same = path(&[1, 2]);
        let kept = (0..200).filter(|&handle| chains.insert_general(&same, handle)).count();
        assert_eq!(kept, GENERALS);
        assert!((0..200).filter(|&handle| chains.remove_general(&same, handle)).count() == kept);
        for handle in 0..=SPECIFICS as Handle {
            chains.insert_specific(&same, handle);
        }
        assert!(!chains.covered(&same, &mut |_| false), "too many to be kept");
        assert!(!chains.is_stale());
        for _ in 0..=SPECIFICS / 2 {
            chains.forget_specific(&same);
        }
        assert!(chains.is_stale());
    }
}
