//! Numbers made from content: equal content, equal number, in every process and for good.
//!
//! A number has 63 bits, so two contents may meet. That is noticed, because a second number is made of the same content
//! and kept while a set is compiled; across sets the database compares the rows. A key that strangers do not know keeps
//! them from preparing such a meeting.

use std::hash::Hasher as _;

use rustc_hash::FxHashMap;
use siphasher::sip128::{Hasher128 as _, SipHasher24};

/// The key of one database.
pub type Key = (u64, u64);

/// Two contents with one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Met;

/// Gives content its number, and remembers what it has given.
pub(super) struct Numbers {
    key: Key,
    mask: u64,
    known: FxHashMap<i64, u64>,
}

impl Numbers {
    pub(super) fn new(key: Key) -> Self {
        // Zero is left free for the pattern that every document matches.
        Self { key, mask: i64::MAX as u64, known: FxHashMap::default() }
    }

    /// Few numbers, so that contents meet.
    #[cfg(test)]
    pub(super) fn narrow(key: Key, bits: u32) -> Self {
        Self { mask: (1 << bits) - 1, ..Self::new(key) }
    }

    /// The number of some content, and whether it is new here.
    pub(super) fn of(&mut self, kind: u8, content: &[u8]) -> Result<(i64, bool), Met> {
        let mut hasher = SipHasher24::new_with_keys(self.key.0, self.key.1);
        hasher.write_u8(kind);
        hasher.write(content);
        let both = hasher.finish128();
        let number = ((both.h1 & self.mask) as i64).max(1);
        match self.known.entry(number) {
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(both.h2);
                Ok((number, true))
            }
            std::collections::hash_map::Entry::Occupied(known) if *known.get() == both.h2 => {
                Ok((number, false))
            }
            std::collections::hash_map::Entry::Occupied(_) => Err(Met),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_content_has_one_number_and_a_meeting_is_noticed() {
        let mut numbers = Numbers::new((1, 2));
        let (first, new) = numbers.of(0, b"a").unwrap();
        assert!(new && first > 0);
        assert_eq!(numbers.of(0, b"a"), Ok((first, false)));
        assert_ne!(numbers.of(1, b"a").unwrap().0, first);
        // What is kept in a database must be the same tomorrow.
        assert_eq!(Numbers::new((1, 2)).of(0, b"a").unwrap().0, first);
        let mut few = Numbers::narrow((1, 2), 3);
        assert!((0..9_u8).any(|content| few.of(0, &[content]) == Err(Met)));
    }
}
