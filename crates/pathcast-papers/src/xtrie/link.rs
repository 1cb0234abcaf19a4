//! A lineage in its chain.

use super::levels::Gap;

/// A lineage in its chain, with what it takes to pass over it without a look at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) lineage: u32,
    /// The lineage above, or `NONE` if there is none or it is a dummy.
    pub(super) parent: u32,
    /// The level relative to the nearest substring above, or the document node.
    pub(super) reach: Gap,
    /// Number of its tests at the start tag, or `NONE`, and attributes without which the element fails them.
    pub(super) tests: u32,
    pub(super) needs: u32,
    /// The subtree that is this lineage and nothing else, or `NONE`.
    pub(super) leaf: u32,
    pub(super) kind: Kind,
    /// Whether it hangs on the document node itself.
    pub(super) first: bool,
    /// Whether it may hang on a lineage at its own level.
    pub(super) late: bool,
}

/// What there is to do when a lineage holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// To note it: only others hang on it.
    Inner,
    /// The same, if tests pass.
    Tested,
    /// Paths are found, once a document.
    Paths,
    /// One leaf is found that patterns share.
    Leaf,
    /// Leaves are found, and perhaps paths, once below an element.
    Leaves,
    /// More than one of these.
    Mixed,
}
