//! Two hashes for [`hashbrown::HashTable`].
//!
//! [`hash`] is for keys that strangers choose: its seed is drawn when the process starts, so that no list of colliding
//! names, values or paths can be prepared. [`spread`] is for our own numbers and costs one multiplication.

use std::hash::{BuildHasher, Hash};
use std::sync::LazyLock;

use hashbrown::DefaultHashBuilder;

static SEED: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);

/// The hash of a key, the same within one process.
#[inline]
pub fn hash<T: Hash + ?Sized>(key: &T) -> u64 {
    SEED.hash_one(key)
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
