//! What a start tag or an attribute is to a cache: one number.

use crate::names::{NameId, Resolved};

/// A name that leads on from a set of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol(pub(super) u32);

impl Symbol {
    const ATTRIBUTE: u32 = 1 << 31;
    const PARTIAL: u32 = 1 << 30;
    /// No symbol: no name has this number.
    pub(super) const NONE: Self = Self(u32::MAX);
    /// A name nobody uses that is met by its namespace and by its local part: one number cannot say both.
    pub(super) const SEVERAL: Self = Self(u32::MAX - 1);

    #[inline]
    pub(super) fn element(name: Resolved) -> Self {
        // A name implies its parts; only a name nobody uses can be met by one of them alone.
        if name.name != NameId::OTHER {
            return Self(name.name.0);
        }
        match (name.namespace, name.local) {
            (NameId::OTHER, NameId::OTHER) => Self(NameId::OTHER.0),
            (one, NameId::OTHER) | (NameId::OTHER, one) => Self(one.0 | Self::PARTIAL),
            _ => Self::SEVERAL,
        }
    }

    #[inline]
    pub(super) fn attribute(name: Resolved) -> Self {
        Self(Self::element(name).0 | Self::ATTRIBUTE)
    }
}
