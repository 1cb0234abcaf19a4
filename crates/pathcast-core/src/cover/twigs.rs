//! Tree patterns found by their atoms ([`super::atoms`]): which may cover a condition, and which it may cover.
//!
//! If one pattern covers another, the atoms that it requires are among those present in the other. *What covers this?*
//! asks for subsets. A pattern is kept in a list under one of its atoms, the one under which fewest are; where
//! that list is full, it goes on to a list under one more of its atoms, and so on. Whoever asks looks under its own atoms,
//! and goes on where a list was full. *What does this cover?* asks for supersets. A pattern is
//! also kept under all atoms that are present in it, and whoever asks looks under its rarest.
//!
//! Everything in a list has its atoms as bits, which tell most pairs apart that have one atom in common, and then the
//! atoms themselves, so that few are proven in vain. So an
//! insertion costs some look-ups, and comparisons of bits, however many patterns there are. Those that have left stay
//! in the second kind of list until they are half of them: to look for them there would cost more than anything else.

use rustc_hash::FxHashMap;

use super::Handle;
use super::atoms::{Atom, Required, bits};
use crate::hashing::spread;

/// Patterns in one list before others go on with one more atom. To compare the bits of so many costs as much as it does to
/// look under so many more atoms as a pattern has.
const FULL: usize = 128;
/// Atoms that lead to a list.
const LONGEST: usize = 4;
/// Look-ups of one search.
const LOOKUPS: usize = 8_192;
/// Places of patterns that have left and may stay, however few others there are.
const STALE: usize = 4_096;

/// The atoms that lead to a list, as a hash: two that meet by chance share it.
type Key = u64;

const TOP: Key = 0;

fn key(above: Key, atom: Atom) -> Key {
    spread(above ^ u64::from(atom)).wrapping_add(1)
}

/// What a pattern requires, as far as there is room in a line of the processor's cache; the rest is for the proof.
#[derive(Clone, Debug)]
struct Demands {
    atoms: [Atom; 12],
    either: [(Atom, Atom); 2],
}

impl Demands {
    fn new(required: &Required) -> Self {
        let mut made = Self { atoms: [0; 12], either: [(0, 0); 2] };
        made.atoms.iter_mut().zip(&required.atoms).for_each(|(place, &atom)| *place = atom);
        made.either.iter_mut().zip(&required.either).for_each(|(place, &pair)| *place = pair);
        made
    }

    /// Whether what is present is enough; 0 is nothing.
    fn are_met(&self, present: &[Atom]) -> bool {
        let has = |atom| present.binary_search(&atom).is_ok();
        self.atoms.iter().all(|&atom| atom == 0 || has(atom))
            && self.either.iter().all(|&(one, other)| one == 0 || has(one) || has(other))
    }
}

#[derive(Clone, Debug)]
struct Entry {
    /// The atoms that the pattern requires.
    bits: u128,
    handle: Handle,
    demands: Box<Demands>,
}

#[derive(Clone, Debug, Default)]
struct List {
    entries: Vec<Entry>,
    /// Patterns here and in the lists that it leads to.
    size: u32,
    /// The atoms by which others go on from here, as bits.
    onward: u128,
}

/// A pattern that others may cover, in a list.
#[derive(Clone, Copy, Debug)]
struct Specific {
    /// Its atoms: most that do not fit are told apart without a look at anything else.
    bits: u64,
    handle: Handle,
}

/// Half as many bits.
fn folded(bits: u128) -> u64 {
    bits as u64 | (bits >> 64) as u64
}

/// Tree patterns by their atoms.
#[derive(Clone, Debug, Default)]
pub(super) struct Twigs {
    generals: FxHashMap<Key, List>,
    /// By pattern: the lists that lead to it, its own last.
    ways: FxHashMap<Handle, Vec<Key>>,
    specifics: FxHashMap<Atom, Vec<Specific>>,
    /// By pattern that others may cover: the atoms that are present in it, also as bits.
    known: FxHashMap<Handle, (u128, Box<[Atom]>)>,
    kept: usize,
    stale: usize,
}

impl Twigs {
    /// Keeps a pattern that may cover others; not one that requires nothing.
    pub(super) fn insert_general(&mut self, required: &Required, handle: Handle) -> bool {
        if required.atoms.is_empty() {
            return false;
        }
        let mut left = required.atoms.clone();
        let mut way: Vec<Key> = Vec::with_capacity(2);
        let mut above = TOP;
        loop {
            let size = |atom: &Atom| self.generals.get(&key(above, *atom)).map_or(0, |list| list.size);
            let Some((at, _)) = left.iter().map(size).enumerate().min_by_key(|&(_, size)| size) else {
                break;
            };
            let atom = left.swap_remove(at);
            if let Some(list) = self.generals.get_mut(&above) {
                list.onward |= bits(&[atom]);
            }
            above = key(above, atom);
            way.push(above);
            let list = self.generals.entry(above).or_default();
            list.size += 1;
            if list.entries.len() < FULL || left.is_empty() || way.len() == LONGEST {
                let demands = Box::new(Demands::new(required));
                list.entries.push(Entry { bits: bits(&required.atoms), handle, demands });
                break;
            }
        }
        self.ways.insert(handle, way);
        true
    }

    /// Takes it out; whether it was here.
    pub(super) fn remove_general(&mut self, handle: Handle) -> bool {
        let Some(way) = self.ways.remove(&handle) else { return false };
        for place in way {
            let Some(list) = self.generals.get_mut(&place) else { continue };
            if let Some(at) = list.entries.iter().position(|each| each.handle == handle) {
                list.entries.swap_remove(at);
            }
            list.size -= 1;
            if list.size == 0 {
                self.generals.remove(&place);
            }
        }
        true
    }

    /// Keeps a pattern that others may cover.
    pub(super) fn insert_specific(&mut self, present: &[Atom], handle: Handle) {
        let all = bits(present);
        let specific = Specific { bits: folded(all), handle };
        for &atom in present {
            self.specifics.entry(atom).or_default().push(specific);
        }
        self.kept += present.len();
        self.known.insert(handle, (all, present.into()));
    }

    /// Such a pattern has left.
    pub(super) fn forget_specific(&mut self, handle: Handle) {
        if let Some((_, present)) = self.known.remove(&handle) {
            self.stale += present.len();
        }
    }

    /// Whether so many have left that all should be kept anew, after [`Twigs::forget_specifics`].
    pub(super) fn is_stale(&self) -> bool {
        self.stale > STALE && self.stale > self.kept / 2
    }

    /// Forgets all patterns that others may cover.
    pub(super) fn forget_specifics(&mut self) {
        self.specifics = FxHashMap::default();
        self.known = FxHashMap::default();
        (self.kept, self.stale) = (0, 0);
    }

    /// Whether a pattern is kept that others may cover.
    pub(super) fn has_specifics(&self) -> bool {
        !self.known.is_empty()
    }

    /// Whether no pattern is kept that may cover others.
    pub(super) fn is_empty(&self) -> bool {
        self.ways.is_empty()
    }

    /// Gives the patterns whose atoms may all be among those that are present, until `visit` says that it is enough.
    pub(super) fn covering(&self, present: &[Atom], visit: &mut impl FnMut(Handle) -> bool) {
        let mut lookups = LOOKUPS;
        self.covering_below(TOP, u128::MAX, present, bits(present), &mut lookups, visit);
    }

    fn covering_below(
        &self,
        above: Key,
        onward: u128,
        present: &[Atom],
        known: u128,
        lookups: &mut usize,
        visit: &mut impl FnMut(Handle) -> bool,
    ) -> bool {
        for &atom in present.iter().filter(|&&atom| onward >> (atom % 128) & 1 == 1) {
            if *lookups == 0 {
                return true;
            }
            *lookups -= 1;
            let here = key(above, atom);
            let Some(list) = self.generals.get(&here) else { continue };
            let mut entries = list.entries.iter();
            if entries
                .any(|each| each.bits & !known == 0 && each.demands.are_met(present) && visit(each.handle))
                || list.onward != 0 && self.covering_below(here, list.onward, present, known, lookups, visit)
            {
                return true;
            }
        }
        false
    }

    /// Gives the patterns in which all required atoms may be present, until `visit` says that it is enough. Where none is
    /// required, that is all of them, in no order.
    pub(super) fn covered(&self, required: &Required, visit: &mut impl FnMut(Handle) -> bool) {
        let demands = Demands::new(required);
        if required.atoms.is_empty() {
            let mut all = self.known.iter().filter(|(_, (_, present))| demands.are_met(present));
            all.any(|(&handle, _)| visit(handle));
            return;
        }
        let lists = required.atoms.iter().map(|atom| self.specifics.get(atom));
        // An atom that nobody has: nothing is covered.
        let Some(Some(rarest)) = lists.min_by_key(|list| list.map_or(0, Vec::len)) else { return };
        let wanted = bits(&required.atoms);
        let folded = folded(wanted);
        for specific in rarest.iter().filter(|specific| folded & !specific.bits == 0) {
            let fits = self
                .known
                .get(&specific.handle)
                .is_some_and(|(bits, present)| wanted & !bits == 0 && demands.are_met(present));
            if fits && visit(specific.handle) {
                return;
            }
        }
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let lists = self.generals.values().map(|list| {
            list.entries.capacity() * size_of::<Entry>() + list.entries.len() * size_of::<Demands>()
        });
        let specifics = self.specifics.values().map(|handles| handles.capacity() * size_of::<Specific>());
        self.generals.capacity() * (size_of::<(Key, List)>() + 1)
            + self.ways.capacity() * (size_of::<(Handle, Vec<Key>)>() + 1)
            + self.ways.values().map(|way| way.capacity() * size_of::<Key>()).sum::<usize>()
            + self.specifics.capacity() * (size_of::<(Atom, Vec<Specific>)>() + 1)
            + self.known.capacity() * (size_of::<(Handle, (u128, Box<[Atom]>))>() + 1)
            + (self.kept - self.stale) * size_of::<Atom>()
            + lists.sum::<usize>()
            + specifics.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covering(twigs: &Twigs, present: &[Atom]) -> Vec<Handle> {
        let mut found = Vec::new();
        twigs.covering(present, &mut |handle| {
            found.push(handle);
            false
        });
        found.sort_unstable();
        found
    }

    fn requiring(atoms: &[Atom]) -> Required {
        Required { atoms: atoms.to_vec(), ..Required::default() }
    }

    /// Of two atoms one is enough, and none is not.
    #[test]
    fn either_of_two() {
        let mut twigs = Twigs::default();
        assert!(twigs.insert_general(&Required { either: vec![(5, 6)], ..requiring(&[1]) }, 0));
        for (present, found) in [(&[1][..], 0), (&[1, 5], 1), (&[1, 6], 1), (&[5, 6], 0)] {
            assert_eq!(covering(&twigs, present).len(), found, "{present:?}");
        }
    }

    /// Subsets are found however full their lists are, and what leaves leaves nothing.
    #[test]
    fn subsets_and_supersets_are_found() {
        let mut twigs = Twigs::default();
        let sets: Vec<Vec<Atom>> = (0..3_000_u32)
            .map(|number| [1, 2 + number % 3, 10 + number % 17, 40 + number % 29].into())
            .collect();
        for (handle, set) in sets.iter().enumerate() {
            assert!(twigs.insert_general(&requiring(set), handle as Handle));
            twigs.insert_specific(set, handle as Handle);
        }
        assert!(!twigs.insert_general(&requiring(&[]), 9_999));
        let asked: Vec<Atom> = vec![1, 2, 4, 11, 12, 41, 60];
        let expected: Vec<Handle> =
            (0..3_000).filter(|&at| sets[at as usize].iter().all(|atom| asked.contains(atom))).collect();
        let found = covering(&twigs, &asked);
        assert!(!expected.is_empty() && expected.iter().all(|handle| found.contains(handle)));
        let mut supersets = Vec::new();
        twigs.covered(&requiring(&[1, 11, 45]), &mut |handle| {
            supersets.push(handle);
            false
        });
        let wanted = (0..3_000_u32).filter(|at| at % 17 == 1 && at % 29 == 5);
        assert!(wanted.clone().count() > 0 && wanted.clone().all(|at| supersets.contains(&at)));
        for handle in 0..3_000 {
            assert!(twigs.remove_general(handle));
            twigs.forget_specific(handle);
        }
        assert!(twigs.is_empty() && twigs.generals.is_empty() && twigs.is_stale());
        twigs.covered(&requiring(&[1]), &mut |handle| panic!("{handle} has left"));
        twigs.forget_specifics();
        assert!(twigs.specifics.is_empty() && twigs.known.is_empty());
    }
}
