//! Engines find which of many linear paths a document holds.
//!
//! Every engine sees the same [`LinearPath`]s and reports the numbers of those it finds; what is not linear is decided
//! by [`crate::twig`] on top of any of them. An engine is shared and immutable while documents run; what a run changes
//! is in its [`Engine::Run`], one for each thread.

mod any;
mod found;
mod hops;
pub mod index_filter;
pub mod lazy_dfa;
pub mod xfilter;
pub mod yfilter;

pub use any::{AnyEngine, AnyRun, EngineName, Visitor};
pub use found::Found;

use crate::names::Resolved;
use crate::pattern::LinearPath;

/// The number of a distinct linear path, given by the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);

/// A matcher of linear paths.
pub trait Engine {
    /// What changes while a document runs; reused from one document to the next.
    type Run: Default + Send;

    /// A run whose cache, if it has one, holds about so many bytes at most.
    fn new_run(&self, _cache_bytes: usize) -> Self::Run {
        Self::Run::default()
    }

    /// Adds a path; the index adds no path twice.
    fn insert(&mut self, path: &LinearPath, id: PathId);

    /// Takes out a path that was added under this number.
    fn remove(&mut self, path: &LinearPath, id: PathId);

    /// Starts a document.
    fn begin(&self, run: &mut Self::Run);

    /// A start tag: the element's name and its attributes' names.
    fn start(&self, run: &mut Self::Run, element: Resolved, attributes: &[Resolved], found: &mut Found);

    /// An end tag.
    fn end(&self, run: &mut Self::Run);

    /// Numbers that tell, once the document is read, all that was found: equal numbers, equal paths. `None` when the
    /// engine has no such numbers for this document.
    fn signature<'r>(&self, _run: &'r mut Self::Run) -> Option<&'r [u32]> {
        None
    }

    /// Reports what `start` has not reported yet.
    fn finish(&self, _run: &mut Self::Run, _found: &mut Found) {}

    /// What the run's cache, if it has one, did.
    fn cache_stats(&self, _run: &Self::Run) -> CacheStats {
        CacheStats::default()
    }

    /// Whether `start` looks at attributes at all.
    fn wants_attributes(&self) -> bool;

    /// Heap bytes held by the shared part.
    fn memory_bytes(&self) -> usize;
}

/// What a run keeps from one document to the next, and how often it gave up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// States built.
    pub states: u64,
    /// Bytes held.
    pub bytes: u64,
    /// Times the cache was full and had to be emptied.
    pub clears: u64,
    /// Start tags that were stepped without the cache, because it was full.
    pub loose_steps: u64,
    /// Changes whenever numbers of a signature change their meaning.
    pub generation: u64,
}
