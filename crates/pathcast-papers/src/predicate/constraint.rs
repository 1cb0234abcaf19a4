//! What a predicate says about the positions of tags.

use super::tags::TagId;

/// The number of a distinct predicate.
pub(super) type PredicateId = u32;

/// `= min` or `>= min` levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Distance {
    pub(super) min: u32,
    pub(super) exact: bool,
}

/// One constraint on the positions of tags in a path of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Predicate {
    /// A tag so many levels below the document node.
    Absolute { tag: TagId, distance: Distance },
    /// A tag so many levels below another.
    Relative { from: TagId, to: TagId, distance: Distance },
    /// So many levels below a tag, at least.
    EndOfPath { tag: TagId, levels: u32 },
    /// A path of so many levels, at least.
    Length { levels: u32 },
}
