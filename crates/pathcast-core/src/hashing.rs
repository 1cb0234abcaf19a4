//! The hash for tables whose keys strangers choose: its seed is drawn when the process starts, so that no list of
//! colliding names, values or paths can be prepared. Tables of our own numbers use a cheaper one.

use std::hash::{BuildHasher, Hash};
use std::sync::LazyLock;

use hashbrown::DefaultHashBuilder;

static SEED: LazyLock<DefaultHashBuilder> = LazyLock::new(DefaultHashBuilder::default);

/// The hash of a key, the same within one process.
#[inline]
pub(crate) fn hash<T: Hash + ?Sized>(key: &T) -> u64 {
    SEED.hash_one(key)
}
