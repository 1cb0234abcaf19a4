//! Engines find which of many linear paths a document holds.
//!
//! Every engine sees the same [`LinearPath`]s and reports the numbers of those it finds. An engine is shared and does not
//! change while documents run; what a run changes is in its [`Engine::Run`], one for each thread.
//!
//! [`Engine`] is what every engine can do. What only some can do is in small traits of their own ([`capability`]): take
//! whole trees or filters on attributes, read values and text, tell what was found by numbers, choose.
//!
//! Here are the engines that run by default: [`auto`], the two ways it runs one automaton, [`lazy_dfa`] and
//! [`yfilter`], and the table of keys that it takes where neither pays. The replications of papers are in a crate of their own.

mod any;
pub mod auto;
pub mod capability;
mod found;
mod keyed;
pub mod lazy_dfa;
pub mod yfilter;

pub use any::AnyEngine;
pub use capability::{
    AttributeFilters, Cache, CacheStats, Capabilities, Content, Describe, Filters, Takes, Trees,
};
pub use found::Found;

pub use crate::pattern::PathId;

use crate::names::Resolved;
use crate::pattern::LinearPath;

/// A matcher of linear paths.
pub trait Engine: Send + Sync + 'static {
    /// What changes while a document runs; reused from one document to the next.
    type Run: Send + 'static;

    /// A run whose cache, if it has one, holds about so many bytes at most.
    fn new_run(&self, cache_bytes: usize) -> Self::Run;

    /// Adds a path; the index adds no path twice.
    fn insert(&mut self, path: &LinearPath, id: PathId);

    /// Takes out a path that was added under this number.
    fn remove(&mut self, path: &LinearPath, id: PathId);

    /// What it takes beside linear paths.
    fn takes(&mut self) -> Takes<'_> {
        Takes::Paths
    }

    /// Gives back room that was kept for growth: many paths have been added, and no more are expected soon.
    fn settle(&mut self) {}

    /// Starts a document.
    fn begin(&self, run: &mut Self::Run);

    /// A start tag: the element's name and its attributes' names.
    fn start(&self, run: &mut Self::Run, element: Resolved, attributes: &[Resolved], found: &mut Found);

    /// An end tag.
    fn end(&self, run: &mut Self::Run);

    /// Reports what `start` has not reported yet.
    fn finish(&self, _run: &mut Self::Run, _found: &mut Found) {}

    /// What it can do beside this.
    #[inline]
    fn capabilities(&self) -> Capabilities<'_, Self::Run> {
        Capabilities::default()
    }

    /// Whether `start` looks at attributes at all.
    fn wants_attributes(&self) -> bool;

    /// Heap bytes held by the shared part.
    fn memory_bytes(&self) -> usize;
}
