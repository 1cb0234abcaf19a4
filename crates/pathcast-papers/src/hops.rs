//! A linear path as hops: what is looked for, and how far below the hop before.
//!
//! Steps and tail of a [`LinearPath`] are the same thing to an engine that matches hop by hop. A tail of so many
//! wildcard levels is a hop to any element exactly that far down: where there is a deeper one, there is one there.

use pathcast_core::hashing::spread;
use pathcast_core::names::Resolved;
use pathcast_core::pattern::{LinearPath, NameTest, Tail};

/// What a hop looks for, as a dense number: elements are even, attributes odd; 0 and 1 are any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Symbol(pub(crate) u32);

impl Symbol {
    pub(crate) const ANY_ELEMENT: Self = Self(0);
    pub(crate) const ANY_ATTRIBUTE: Self = Self(1);

    fn new(name: NameTest, kind: Self) -> Self {
        match name {
            NameTest::Any => kind,
            // No two of them have the same number.
            NameTest::Name(id) | NameTest::Partial(id) => Self(id.0 << 1 | kind.0),
        }
    }

    /// What elements of a name are looked for as.
    pub(crate) fn element(name: NameTest) -> Self {
        Self::new(name, Self::ANY_ELEMENT)
    }

    /// What attributes of a name are looked for as.
    pub(crate) fn attribute(name: NameTest) -> Self {
        Self::new(name, Self::ANY_ATTRIBUTE)
    }

    /// What an element is found as by its own name or a part of it; `OTHER` as nothing.
    #[inline]
    pub(crate) fn elements(name: Resolved) -> impl Iterator<Item = Self> {
        Self::known(name, Self::ANY_ELEMENT)
    }

    /// What an attribute is found as.
    #[inline]
    pub(crate) fn attributes(name: Resolved) -> impl Iterator<Item = Self> {
        Self::known(name, Self::ANY_ATTRIBUTE)
    }

    #[inline]
    fn known(name: Resolved, kind: Self) -> impl Iterator<Item = Self> {
        name.known().map(move |id| Self(id.0 << 1 | kind.0))
    }

    pub(crate) fn is_attribute(self) -> bool {
        self.0 & 1 == 1
    }

    /// Whether an element of this name is what the symbol, which is not any element, looks for.
    #[inline]
    pub(crate) fn meets(self, name: Resolved) -> bool {
        let id = self.0 >> 1;
        name.name.0 == id || name.namespace.0 == id || name.local.0 == id
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Levels between two hops: so many, or so many at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap(u32);

impl Gap {
    /// More levels than any document has.
    const MOST: u32 = u32::MAX >> 1;

    pub(crate) fn new(min: u32, exact: bool) -> Self {
        Self(min.min(Self::MOST) << 1 | u32::from(exact))
    }

    #[inline]
    pub(crate) fn min(self) -> u32 {
        self.0 >> 1
    }

    #[inline]
    pub(crate) fn exact(self) -> bool {
        self.0 & 1 == 1
    }

    /// Whether something so many levels below is in the gap.
    #[inline]
    pub(crate) fn admits(self, levels: u32) -> bool {
        if self.exact() { levels == self.min() } else { levels >= self.min() }
    }

    /// Both gaps, one after the other.
    pub(crate) fn then(self, next: Self) -> Self {
        Self::new(self.min() + next.min(), self.exact() && next.exact())
    }

    /// A number that tells the gap.
    pub(crate) fn key(self) -> u32 {
        self.0
    }
}

/// Something that must be found, and how far below what was found before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) symbol: Symbol,
    pub(crate) gap: Gap,
}

/// The hops of a path, from the document node on; at least one.
pub(crate) fn hops(path: &LinearPath) -> impl Iterator<Item = Hop> + '_ {
    let steps = path.steps.iter().map(|step| Hop {
        symbol: Symbol::new(step.name, Symbol::ANY_ELEMENT),
        gap: Gap::new(step.min, step.exact),
    });
    let tail = match path.tail {
        Tail::End => None,
        Tail::Wild(levels) => Some(Hop { symbol: Symbol::ANY_ELEMENT, gap: Gap::new(levels, true) }),
        Tail::Attribute { min, exact, name } => {
            Some(Hop { symbol: Symbol::new(name, Symbol::ANY_ATTRIBUTE), gap: Gap::new(min, exact) })
        }
    };
    steps.chain(tail)
}

/// A hash of three of our own numbers, for [`hashbrown::HashTable`].
#[inline]
pub(crate) fn place(from: u32, symbol: Symbol, gap: Gap) -> u64 {
    let key = u64::from(from) << 32 | u64::from(symbol.0);
    spread(key.rotate_left(5) ^ u64::from(gap.key()))
}
