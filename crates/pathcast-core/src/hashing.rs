//! Hashes for [`hashbrown::HashTable`] and for what is compared by its hash.
//!
//! [`hash`] is for keys that strangers choose: its seed is drawn when the process starts, so that no list of colliding
//! names, values or paths can be prepared. [`Seed`] is for such keys where the hash itself decides what comes first, so that a
//! simulated network can live the same life again under the same seed. [`spread`] is for our own numbers and costs one
//! multiplication.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::LazyLock;

use hashbrown::DefaultHashBuilder;
use siphasher::sip::SipHasher13;

static SEED: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);

/// The hash of a key, the same within one process.
#[inline]
pub fn hash<T: Hash + ?Sized>(key: &T) -> u64 {
    SEED.hash_one(key)
}

/// What a hash of something that a stranger has chosen begins with.
#[derive(Clone, Copy, Debug)]
pub struct Seed(u64, u64);

impl Seed {
    /// The same in every process that is given the same number.
    pub fn new(number: u64) -> Self {
        Self(spread(number), !number)
    }

    /// The hash of a key under this seed.
    pub fn hash<T: Hash + ?Sized>(self, key: &T) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(self.0, self.1);
        key.hash(&mut hasher);
        hasher.finish()
    }
}

impl Default for Seed {
    /// Drawn when the process starts.
    fn default() -> Self {
        Self(hash(&0_u8), hash(&1_u8))
    }
}

/// The hash of one of our own numbers.
#[inline]
pub fn spread(key: u64) -> u64 {
    // Fibonacci hashing; the table takes its tag from the top bits and its place from the bottom ones.
    let product = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ (product >> 32)
}

/// The hash of two of our own numbers.
#[inline]
pub fn spread_pair(left: u32, right: u32) -> u64 {
    spread(u64::from(left) << 32 | u64::from(right))
}
