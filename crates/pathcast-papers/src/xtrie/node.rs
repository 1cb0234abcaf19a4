//! Nodes of the trie by number.

use pathcast_core::hashing::spread_pair;
use pathcast_core::names::NameId;

/// The number of a node.
pub(super) type NodeId = u32;

/// The root; as a max-suffix pointer: no suffix.
pub(super) const ROOT: NodeId = 0;

/// A substring that is no sequence of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// Any element.
    Any,
    /// Any element of a namespace, or of a local name in any namespace.
    Partial(NameId),
    /// Any element that has an attribute of this name.
    Attribute(NameId),
    /// A text node.
    Text,
}

/// No node, row, lineage or subtree.
pub(super) const NONE: u32 = u32::MAX;

/// The hash of a node and a name.
pub(super) fn hash(from: u32, name: NameId) -> u64 {
    spread_pair(from, name.0)
}
