//! The predicate index: distinct predicates, and which of them one more element of a path satisfies.
//!
//! First by kind and tag variables, then by value, as in the paper: absolute and end-of-path predicates lie with their
//! tag variable, relative ones with their pair of variables, lengths in an array. A list is sorted by value. `>=`
//! predicates that a position satisfies are those with a value from 1 up to it (the paper's text looks on the other
//! side).

use hashbrown::HashTable;
use pathcast_core::hashing::spread_pair;

use super::constraint::{Distance, Predicate, PredicateId};
use super::places::Places;
use super::tags::TagId;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    distance: Distance,
    id: PredicateId,
}

/// Slots in order of distance.
type Slots = Vec<Slot>;

/// What is known about one tag variable.
#[derive(Clone, Debug, Default)]
struct Entry {
    absolute: Slots,
    end_of_path: Slots,
    /// The pairs with this variable as the second.
    pairs: Vec<PairId>,
    /// A bit for each first variable of them, its number modulo 64; bits of pairs that are gone may stay.
    sketch: u64,
}

type PairId = u32;

#[derive(Clone, Debug)]
struct Pair {
    from: TagId,
    to: TagId,
    /// Where it lies in its entry.
    place: u32,
    slots: Slots,
}

/// All distinct predicates.
#[derive(Clone, Debug, Default)]
pub(super) struct PredicateIndex {
    items: Vec<(Predicate, u32)>,
    free: Vec<PredicateId>,
    entries: Vec<Entry>,
    pairs: Vec<Pair>,
    free_pairs: Vec<PairId>,
    pair_index: HashTable<PairId>,
    /// By levels: the length-of-expression predicate.
    lengths: Vec<PredicateId>,
}

impl PredicateIndex {
    /// One more than the largest number.
    pub(super) fn bound(&self) -> usize {
        self.items.len()
    }

    /// How many distinct predicates there are.
    pub(super) fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }

    #[inline]
    pub(super) fn get(&self, id: PredicateId) -> Predicate {
        self.items[id as usize].0
    }

    /// Whether end-of-path predicates speak of this tag variable.
    #[inline]
    pub(super) fn has_end_of_path(&self, tag: TagId) -> bool {
        self.entries.get(tag as usize).is_some_and(|entry| !entry.end_of_path.is_empty())
    }

    fn pair(&self, from: TagId, to: TagId) -> Option<PairId> {
        let equal = |&id: &PairId| self.pairs[id as usize].is(from, to);
        self.pair_index.find(spread_pair(from, to), equal).copied()
    }

    /// The number of a predicate, if it is there.
    pub(super) fn find(&self, predicate: Predicate) -> Option<PredicateId> {
        let slots = match predicate {
            Predicate::Absolute { tag, .. } => &self.entries.get(tag as usize)?.absolute,
            Predicate::EndOfPath { tag, .. } => &self.entries.get(tag as usize)?.end_of_path,
            Predicate::Relative { from, to, .. } => &self.pairs[self.pair(from, to)? as usize].slots,
            Predicate::Length { levels } => {
                return self.lengths.get(levels as usize).copied().filter(|&id| id != NONE);
            }
        };
        slots.binary_search_by_key(&predicate.distance(), |slot| slot.distance).ok().map(|at| slots[at].id)
    }

    /// The number of a predicate, with one more user.
    pub(super) fn intern(&mut self, predicate: Predicate) -> PredicateId {
        if let Some(known) = self.find(predicate) {
            self.items[known as usize].1 += 1;
            return known;
        }
        let id = match self.free.pop() {
            Some(id) => {
                self.items[id as usize] = (predicate, 1);
                id
            }
            None => {
                self.items.push((predicate, 1));
                (self.items.len() - 1) as PredicateId
            }
        };
        let slot = Slot { distance: predicate.distance(), id };
        match predicate {
            Predicate::Absolute { tag, .. } => insert(&mut self.entry(tag).absolute, slot),
            Predicate::EndOfPath { tag, .. } => insert(&mut self.entry(tag).end_of_path, slot),
            Predicate::Relative { from, to, .. } => {
                let pair = self.pair(from, to).unwrap_or_else(|| self.add_pair(from, to));
                insert(&mut self.pairs[pair as usize].slots, slot);
            }
            Predicate::Length { levels } => {
                let at = levels as usize;
                if self.lengths.len() <= at {
                    self.lengths.resize(at + 1, NONE);
                }
                self.lengths[at] = id;
            }
        }
        id
    }

    fn entry(&mut self, tag: TagId) -> &mut Entry {
        let at = tag as usize;
        if self.entries.len() <= at {
            self.entries.resize_with(at + 1, Entry::default);
        }
        &mut self.entries[at]
    }

    fn add_pair(&mut self, from: TagId, to: TagId) -> PairId {
        let entry = self.entry(to);
        entry.sketch |= sketch(from);
        let pair = Pair { from, to, place: entry.pairs.len() as u32, slots: Vec::with_capacity(1) };
        let id = match self.free_pairs.pop() {
            Some(id) => {
                self.pairs[id as usize] = pair;
                id
            }
            None => {
                self.pairs.push(pair);
                (self.pairs.len() - 1) as PairId
            }
        };
        self.entry(to).pairs.push(id);
        let pairs = &self.pairs;
        let rehash = |&id: &PairId| spread_pair(pairs[id as usize].from, pairs[id as usize].to);
        self.pair_index.insert_unique(spread_pair(from, to), id, rehash);
        id
    }

    /// One user less; the last takes the predicate out.
    pub(super) fn release(&mut self, id: PredicateId) {
        let (predicate, users) = &mut self.items[id as usize];
        *users -= 1;
        if *users > 0 {
            return;
        }
        match *predicate {
            Predicate::Absolute { tag, .. } => remove(&mut self.entry(tag).absolute, id),
            Predicate::EndOfPath { tag, .. } => remove(&mut self.entry(tag).end_of_path, id),
            Predicate::Length { levels } => self.lengths[levels as usize] = NONE,
            Predicate::Relative { from, to, .. } => {
                if let Some(pair) = self.pair(from, to) {
                    remove(&mut self.pairs[pair as usize].slots, id);
                    if self.pairs[pair as usize].slots.is_empty() {
                        self.remove_pair(pair);
                    }
                }
            }
        }
        self.free.push(id);
    }

    fn remove_pair(&mut self, id: PairId) {
        let Pair { from, to, place, .. } = self.pairs[id as usize];
        if let Ok(entry) = self.pair_index.find_entry(spread_pair(from, to), |&each| each == id) {
            entry.remove();
        }
        let entry = &mut self.entries[to as usize];
        entry.pairs.swap_remove(place as usize);
        if entry.pairs.is_empty() {
            entry.sketch = 0;
        }
        if let Some(&moved) = entry.pairs.get(place as usize) {
            self.pairs[moved as usize].place = place;
        }
        self.pairs[id as usize].slots = Vec::new();
        self.free_pairs.push(id);
    }

    /// The predicates that the element at the end of the path makes true, whatever was true before.
    ///
    /// `tags` are the variables it is one of, `present` all variables of the path, each once, `ending` those of them
    /// with end-of-path predicates.
    pub(super) fn satisfied(
        &self,
        places: &Places,
        tags: &[TagId],
        present: &[TagId],
        ending: &[TagId],
        hit: &mut impl FnMut(PredicateId),
    ) {
        let depth = places.depth();
        if let Some(&id) = self.lengths.get(depth as usize)
            && id != NONE
        {
            hit(id);
        }
        for &tag in ending {
            for slot in &self.entries[tag as usize].end_of_path {
                let levels = slot.distance.min;
                if levels >= depth {
                    break;
                }
                if places.holds(tag, depth - levels) {
                    hit(slot.id);
                }
            }
        }
        for &to in tags {
            let Some(entry) = self.entries.get(to as usize) else { continue };
            for slot in &entry.absolute {
                let Distance { min, exact } = slot.distance;
                if min > depth {
                    break;
                }
                if !exact || min == depth {
                    hit(slot.id);
                }
            }
            if entry.pairs.len() <= present.len() {
                for &pair in &entry.pairs {
                    self.pairs[pair as usize].satisfied(places, depth, hit);
                }
            } else {
                for &from in present.iter().filter(|&&from| entry.sketch & sketch(from) != 0) {
                    if let Some(pair) = self.pair(from, to) {
                        self.pairs[pair as usize].satisfied(places, depth, hit);
                    }
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_vacant(&self) -> bool {
        let slots = |entry: &Entry| entry.absolute.len() + entry.end_of_path.len() + entry.pairs.len();
        self.items.len() == self.free.len()
            && self.pairs.len() == self.free_pairs.len()
            && self.pair_index.is_empty()
            && self.entries.iter().all(|entry| slots(entry) == 0 && entry.sketch == 0)
            && self.lengths.iter().all(|&id| id == NONE)
    }

    /// Heap bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        let slots: usize = self.pairs.iter().map(|pair| pair.slots.capacity()).sum::<usize>()
            + self
                .entries
                .iter()
                .map(|entry| entry.absolute.capacity() + entry.end_of_path.capacity())
                .sum::<usize>();
        let pairs: usize = self.entries.iter().map(|entry| entry.pairs.capacity()).sum();
        slots * size_of::<Slot>()
            + pairs * size_of::<PairId>()
            + self.items.capacity() * size_of::<(Predicate, u32)>()
            + self.entries.capacity() * size_of::<Entry>()
            + self.pairs.capacity() * size_of::<Pair>()
            + self.pair_index.allocation_size()
            + (self.free.capacity() + self.free_pairs.capacity() + self.lengths.capacity()) * size_of::<u32>()
    }
}

impl Predicate {
    fn distance(self) -> Distance {
        match self {
            Self::Absolute { distance, .. } | Self::Relative { distance, .. } => distance,
            Self::EndOfPath { levels, .. } | Self::Length { levels } => {
                Distance { min: levels, exact: false }
            }
        }
    }
}

impl Pair {
    fn is(&self, from: TagId, to: TagId) -> bool {
        self.from == from && self.to == to
    }

    #[inline]
    fn satisfied(&self, places: &Places, depth: u32, hit: &mut impl FnMut(PredicateId)) {
        let Some(lowest) = places.lowest(self.from) else { return };
        for slot in &self.slots {
            let Distance { min, exact } = slot.distance;
            if min > depth - lowest {
                break;
            }
            if !exact || places.holds(self.from, depth - min) {
                hit(slot.id);
            }
        }
    }
}

fn insert(slots: &mut Slots, slot: Slot) {
    let at = slots.partition_point(|each| each.distance < slot.distance);
    slots.insert(at, slot);
}

fn remove(slots: &mut Slots, id: PredicateId) {
    if let Some(at) = slots.iter().position(|slot| slot.id == id) {
        slots.remove(at);
    }
}

fn sketch(tag: TagId) -> u64 {
    1 << (tag & 63)
}
