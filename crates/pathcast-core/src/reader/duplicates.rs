//! Attributes that are given twice: by name, or by namespace and local name.
//!
//! Names are compared pairwise while there are few and by hash when there are many, so 100,000 attributes on one element
//! are no trouble; the hash is seeded, so names cannot be chosen to collide. Mostly nothing is compared at all: a
//! fingerprint of each name, taken while it is scanned, shows that all differ.

use std::hash::{BuildHasher, Hash};

use hashbrown::{DefaultHashBuilder, HashTable};

use super::attributes::Slot;
use super::error::Fault;
use super::sink::UriId;
use crate::chars::quoted;

/// Up to this many names, comparing all pairs is faster than hashing.
const FEW: usize = 8;

/// One of 64 bits, the same for equal names.
#[inline]
pub(super) fn fingerprint(name: &[u8]) -> u64 {
    match name {
        [first, .., last] => 1 << ((usize::from(*first) * 5 + usize::from(*last) * 11 + name.len() * 3) % 64),
        _ => 1 << (name.first().copied().unwrap_or(0) % 64),
    }
}

/// Finds duplicates; keeps its table from tag to tag.
#[derive(Default)]
pub(super) struct Duplicates {
    seen: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Duplicates {
    /// Refuses two attributes of the same name as it is written. All of them are in the tag.
    pub(super) fn refuse(&mut self, slots: &[Slot], tag: &str) -> Result<(), Fault> {
        match self.first(slots, |slot| slot.name(tag, "")) {
            Some(slot) => {
                let reason = format!("attribute \"{}\" is given twice", quoted(slot.name(tag, "")));
                Err(Fault::malformed(slot.place(), reason))
            }
            None => Ok(()),
        }
    }

    /// Refuses two attributes of the same namespace and local name.
    pub(super) fn refuse_expanded(&mut self, slots: &[Slot], tag: &str, scratch: &str) -> Result<(), Fault> {
        // an attribute without prefix is in no namespace and was compared by name already
        let Some(start) = slots.iter().position(|slot| slot.uri != UriId::NONE) else { return Ok(()) };
        match self.first(&slots[start..], |slot| (slot.uri, slot.local(tag, scratch))) {
            Some(slot) => {
                let reason = format!(
                    "attribute \"{}\" is given twice: two prefixes stand for the same namespace",
                    quoted(slot.name(tag, scratch))
                );
                Err(Fault::malformed(slot.place(), reason))
            }
            None => Ok(()),
        }
    }

    /// The first slot whose key an earlier one has.
    #[inline]
    fn first<'s, K: Eq + Hash>(
        &mut self,
        slots: &'s [Slot],
        key: impl Fn(&'s Slot) -> K,
    ) -> Option<&'s Slot> {
        if slots.len() <= FEW {
            // local names of different lengths need no look at the text, and most differ in length
            let length = |slot: &Slot| slot.name_end - slot.local;
            let same =
                |one: &'s Slot, other: &'s Slot| length(one) == length(other) && key(one) == key(other);
            return (1..slots.len())
                .find(|&i| slots[..i].iter().any(|one| same(one, &slots[i])))
                .map(|i| &slots[i]);
        }
        let Self { seen, hasher } = self;
        // clearing a table costs its capacity: do not let one wide element slow all that follow
        if seen.capacity() > 8 * slots.len() + 64 {
            *seen = HashTable::new();
        }
        seen.clear();
        let hash = |i: &u32| hasher.hash_one(key(&slots[*i as usize]));
        for i in 0..slots.len() as u32 {
            let code = hash(&i);
            if seen.find(code, |&one| key(&slots[one as usize]) == key(&slots[i as usize])).is_some() {
                return Some(&slots[i as usize]);
            }
            seen.insert_unique(code, i, hash);
        }
        None
    }
}
