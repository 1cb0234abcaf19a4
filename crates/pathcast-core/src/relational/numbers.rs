//! Numbers made from content: equal content has an equal number, in every process.
//!
//! The lowest two bits say what is numbered, so numbers of different kinds never meet. The other 61 bits are a keyed
//! hash, and two contents may get the same ones. Such a collision is noticed: a second hash of the content, the *proof*,
//! is kept beside each number, in memory while a set is compiled and in the rows of the database. The secret key keeps
//! strangers from preparing a collision.

use std::hash::Hasher as _;

use rustc_hash::FxHashMap;
use siphasher::sip128::{Hasher128 as _, SipHasher24};

/// The key of one database.
pub type Key = (u64, u64);

/// Two contents with one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Met;

/// What is numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A subject, a predicate or a path: each has a column of its own.
    Other = 0,
    Step = 1,
    Slot = 2,
    Pattern = 3,
}

/// A number, the proof of its content, and whether it was not given before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbered {
    pub(super) number: i64,
    pub(super) proof: i64,
    pub(super) is_new: bool,
}

/// The number and the proof of some content.
pub(super) fn numbered(key: Key, kind: Kind, tag: u8, content: &[u8]) -> (i64, i64) {
    let mut hasher = SipHasher24::new_with_keys(key.0, key.1);
    hasher.write_u8(tag);
    hasher.write(content);
    let both = hasher.finish128();
    // Zero stays free for the pattern that every document matches.
    let number = ((both.h1 & MASK) << 2 | kind as u64).max(4);
    (number as i64, both.h2 as i64)
}

const MASK: u64 = (1 << 61) - 1;

/// Gives content its number, and remembers what it has given.
pub(super) struct Numbers {
    key: Key,
    known: FxHashMap<i64, i64>,
}

impl Numbers {
    pub(super) fn new(key: Key) -> Self {
        Self { key, known: FxHashMap::default() }
    }

    /// The number of some content; `tag` tells contents apart that are spelled alike.
    pub(super) fn of(&mut self, kind: Kind, tag: u8, content: &[u8]) -> Result<Numbered, Met> {
        let (number, proof) = numbered(self.key, kind, tag, content);
        self.remember(number, proof)
    }

    fn remember(&mut self, number: i64, proof: i64) -> Result<Numbered, Met> {
        match self.known.insert(number, proof) {
            Some(known) if known != proof => Err(Met),
            known => Ok(Numbered { number, proof, is_new: known.is_none() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_content_has_one_number_and_a_collision_is_noticed() {
        let mut numbers = Numbers::new((1, 2));
        let first = numbers.of(Kind::Step, 0, b"a").unwrap();
        assert!(first.is_new && first.number > 0);
        assert_eq!(numbers.of(Kind::Step, 0, b"a"), Ok(Numbered { is_new: false, ..first }));
        assert_ne!(numbers.of(Kind::Slot, 0, b"a").unwrap().number, first.number);
        assert_ne!(numbers.of(Kind::Step, 1, b"a").unwrap().number, first.number);
        // What is stored in a database must be the same tomorrow.
        assert_eq!(Numbers::new((1, 2)).of(Kind::Step, 0, b"a").unwrap().number, first.number);
        assert_eq!(numbers.remember(first.number, first.proof + 1), Err(Met));
    }
}
