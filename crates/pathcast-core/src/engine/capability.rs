//! What only some engines can do, a small trait each.

use super::auto::{Choice, Profile};
use super::{Found, PathId};
use crate::names::Resolved;
use crate::pattern::{Condition, FilteredPath};
use crate::reader::StartTag;

/// What an engine takes beside linear paths.
pub enum Takes<'e> {
    /// Nothing.
    Paths,
    /// Whole trees.
    Trees(&'e mut dyn Trees),
    /// Paths with filters on attributes.
    Filters(&'e mut dyn Filters),
}

/// Takes conditions that are no linear path.
pub trait Trees {
    /// Offers a condition on the document node. An engine that takes it reports the number for every document that
    /// satisfies it.
    fn insert_tree(&mut self, condition: &Condition, id: PathId) -> bool;

    /// Takes out a condition that was taken under this number.
    fn remove_tree(&mut self, id: PathId);
}

/// Decides filters on attributes itself; twigs are decomposed for it into paths with filters.
pub trait Filters {
    /// Says when to decide filters; before the first path.
    fn set_attribute_filters(&mut self, when: AttributeFilters);

    /// Adds a path with filters.
    fn insert_filtered(&mut self, path: &FilteredPath, id: PathId);

    /// Takes out a path with filters that was added under this number.
    fn remove_filtered(&mut self, path: &FilteredPath, id: PathId);
}

/// What an engine can do while a document runs, and tell about itself.
pub struct Capabilities<'e, R> {
    /// Reads more than names.
    pub content: Option<&'e dyn Content<R>>,
    /// Keeps something from one document to the next.
    pub cache: Option<&'e dyn Cache<R>>,
    /// Can say more about its paths.
    pub describe: Option<&'e dyn Describe>,
}

impl<R> Default for Capabilities<'_, R> {
    #[inline]
    fn default() -> Self {
        Self { content: None, cache: None, describe: None }
    }
}

/// Reads values of attributes, and perhaps text.
pub trait Content<R> {
    /// A start tag with its attributes' values; called instead of [`super::Engine::start`]. The attributes' names are
    /// resolved if [`super::Engine::wants_attributes`] says so.
    fn start_tag(
        &self,
        run: &mut R,
        element: Resolved,
        attributes: &[Resolved],
        tag: &StartTag<'_>,
        found: &mut Found,
    );

    /// Whether it must be told of text, comments and instructions.
    fn wants_text(&self) -> bool {
        false
    }

    /// A piece of text; pieces with no other event between them are one text node.
    fn text(&self, _run: &mut R, _piece: &str) {}

    /// A comment or a processing instruction, which separates text nodes.
    fn aside(&self, _run: &mut R) {}
}

/// Keeps something from one document to the next.
pub trait Cache<R> {
    /// Numbers that tell, once the document is read, all that was found: equal numbers, equal paths. `None` when the
    /// engine has no such numbers for this document.
    fn signature<'r>(&self, _run: &'r mut R) -> Option<&'r [u32]> {
        None
    }

    /// Adds the paths that one number of a signature stands for. It means the same until the generation changes.
    fn paths(&self, _run: &R, _number: u32, _paths: &mut Vec<PathId>) {}

    /// What the cache did.
    fn stats(&self, run: &R) -> CacheStats;
}

/// Tells about an engine's paths, for statistics.
pub trait Describe {
    /// Which way an engine that chooses would go with such caches, why, and what its paths are like.
    fn choice(&self, _cache_bytes: usize) -> Option<(Choice, Profile)> {
        None
    }

    /// Paths that are not for this engine and run on the shared automaton inside it.
    fn unsuited(&self) -> usize {
        0
    }
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
    /// Of an engine that chooses: documents whose paths were looked up by keys.
    pub keyed_documents: u64,
    /// Of an engine that chooses: times the cache did not pay and was left alone for a while.
    pub rests: u64,
}
