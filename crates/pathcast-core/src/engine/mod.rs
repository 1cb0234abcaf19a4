//! Engines find which of many linear paths a document holds.
//!
//! Every engine sees the same [`LinearPath`]s and reports the numbers of those it finds. What is not linear is offered
//! to it as a whole; an engine that does not take it leaves it to [`crate::twig`], which decides it on top of any of
//! them. An engine is shared and immutable while documents run; what a run changes is in its [`Engine::Run`], one for
//! each thread.

mod any;
pub mod auto;
mod found;
mod hops;
pub mod index_filter;
pub mod lazy_dfa;
pub mod pma;
pub mod predicate;
pub mod xfilter;
pub mod xtrie;
pub mod yfilter;

pub use any::{AnyEngine, AnyRun, EngineName, Visitor};
pub use found::Found;

use auto::{Choice, Profile};

use crate::names::Resolved;
use crate::pattern::{Condition, FilteredPath, LinearPath};
use crate::reader::StartTag;

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

    /// Offers a condition on the document node that is no linear path. An engine that takes it reports the number for
    /// every document that satisfies it.
    fn insert_tree(&mut self, _condition: &Condition, _id: PathId) -> bool {
        false
    }

    /// Takes out a condition that was taken under this number.
    fn remove_tree(&mut self, _id: PathId) {}

    /// Whether it decides filters on attributes itself, and twigs are decomposed for it into paths with filters.
    fn takes_filters(&self) -> bool {
        false
    }

    /// Says when to decide filters; before the first path.
    fn set_attribute_filters(&mut self, _when: AttributeFilters) {}

    /// Adds a path with filters; only if it takes them.
    fn insert_filtered(&mut self, _path: &FilteredPath, _id: PathId) {}

    /// Takes out a path with filters that was added under this number.
    fn remove_filtered(&mut self, _path: &FilteredPath, _id: PathId) {}

    /// Gives back room that was kept for growth: many paths have been added, and no more are expected soon.
    fn settle(&mut self) {}

    /// Starts a document.
    fn begin(&self, run: &mut Self::Run);

    /// A start tag: the element's name and its attributes' names.
    fn start(&self, run: &mut Self::Run, element: Resolved, attributes: &[Resolved], found: &mut Found);

    /// A start tag with its attributes' values, for engines that test them. The names are resolved if
    /// [`Engine::wants_attributes`] says so.
    #[inline]
    fn start_tag(
        &self,
        run: &mut Self::Run,
        element: Resolved,
        attributes: &[Resolved],
        _tag: &StartTag<'_>,
        found: &mut Found,
    ) {
        self.start(run, element, attributes, found);
    }

    /// An end tag.
    fn end(&self, run: &mut Self::Run);

    /// A piece of text; pieces with no other event between them are one text node.
    #[inline]
    fn text(&self, _run: &mut Self::Run, _piece: &str) {}

    /// A comment or a processing instruction, which separates text nodes.
    #[inline]
    fn aside(&self, _run: &mut Self::Run) {}

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

    /// Which way an engine that chooses would go with such caches, why, and what its paths are like.
    fn choice(&self, _cache_bytes: usize) -> Option<(Choice, Profile)> {
        None
    }

    /// Paths that are not for this engine and run on the shared automaton inside it.
    fn unsuited(&self) -> usize {
        0
    }

    /// Whether `start` looks at attributes at all.
    fn wants_attributes(&self) -> bool;

    /// Whether it must be told of text, comments and instructions.
    fn wants_text(&self) -> bool {
        false
    }

    /// Heap bytes held by the shared part.
    fn memory_bytes(&self) -> usize;
}

/// When an engine that takes filters on attributes decides them; the answer is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AttributeFilters {
    /// With the structure: an element that does not pass is none of those looked for.
    #[default]
    Inline,
    /// After the structure was found.
    Postponed,
}

impl AttributeFilters {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Inline, Self::Postponed];

    /// As users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::Postponed => "postponed",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.as_str() == name)
    }
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
    /// Of an engine that chooses: documents that ran on remembered states.
    pub cached_documents: u64,
    /// Of an engine that chooses: documents that ran on the shared automaton.
    pub shared_documents: u64,
    /// Of an engine that chooses: times the cache did not pay and was left alone for a while.
    pub rests: u64,
}
