//! Counts and sizes of an index.

use crate::engine::CacheStats;
use crate::engine::auto::{Choice, Profile};

/// Counts and sizes of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Stats {
    pub subscriptions: usize,
    pub distinct: usize,
    pub linear: usize,
    pub twigs: usize,
    /// Twigs that the engine decides as a whole.
    pub native: usize,
    pub always: usize,
    /// Twigs that keep a tree of each document, because they look sideways or back.
    pub on_tree: usize,
    pub shared_conditions: usize,
    /// Expressions with a part that only XPath's types can say.
    pub typed: usize,
    pub names: usize,
    pub memory_bytes: usize,
    /// The engine at work: the one asked for, or the one that `auto` chose.
    pub engine: &'static str,
    /// Why `auto` chose it, and what its paths are like.
    pub choice: Option<(Choice, Profile)>,
    /// What pruning by a schema came to.
    pub pruning: Option<&'static str>,
    /// Paths that are not for the engine and run on the shared automaton inside it.
    pub unsuited: usize,
    /// The caches of all threads that are not at work now.
    pub cache: CacheStats,
    pub remembered_bytes: usize,
    /// What else the threads that are not at work now keep from one document to the next.
    pub run_bytes: usize,
}
