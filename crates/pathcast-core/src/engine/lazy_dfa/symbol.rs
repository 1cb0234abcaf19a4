//! What a start tag or an attribute is to a cache: one number.

use crate::names::{NameId, Resolved};

/// A name that leads on from a set of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol(pub(super) u32);

impl Symbol {
    const ATTRIBUTE: u32 = 1 << 31;
    const NAMESPACE: u32 = 1 << 30;
    /// No symbol: no name has this number.
    pub(super) const NONE: Self = Self(u32::MAX);

    #[inline]
    pub(super) fn element(name: Resolved) -> Self {
        // A name implies its namespace; only a name nobody uses can be met by its namespace alone.
        if name.name == NameId::OTHER && name.namespace != NameId::OTHER {
            Self(name.namespace.0 | Self::NAMESPACE)
        } else {
            Self(name.name.0)
        }
    }

    #[inline]
    pub(super) fn attribute(name: Resolved) -> Self {
        Self(Self::element(name).0 | Self::ATTRIBUTE)
    }
}
