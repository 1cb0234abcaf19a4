//! What tests at a start tag say, in few bytes: mostly enough to tell whether elements pass without a look at the tests.
//!
//! Thousands of tests are asked of an element and most fail. A test as it was written is four steps away from its
//! number; the gists of the first two tests lie side by side, in a list beside all others.

use std::hash::{BuildHasher, Hasher};

use rustc_hash::FxBuildHasher;

use super::decompose::StartTest;
use crate::names::NameId;
use crate::pattern::{Condition, NameTest};
use crate::values::ValueTest;
use crate::xpath::ast::Comparison;

/// The gist of one test, on the element so many levels `up` from the last one of a substring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Gist {
    /// There is no test.
    Nothing,
    /// An attribute is there.
    Has { up: u8, name: NameId },
    /// An attribute has a value with this hash; then the test itself tells.
    Equals { up: u8, name: NameId, hash: u32 },
    /// An attribute has another value; where only the hash is the same, the test itself tells.
    Differs { up: u8, name: NameId, hash: u32 },
    /// An attribute's value compares so.
    Number { up: u8, comparison: Comparison, name: NameId, number: f64 },
    /// Only the test itself tells.
    Other,
}

/// The gists of the tests of a substring.
pub(super) type Gists = [Gist; 2];

impl Gist {
    /// Nothing is known.
    pub(super) const UNKNOWN: Gists = [Self::Other, Self::Nothing];

    pub(super) fn of(tests: &[StartTest]) -> Gists {
        let mut gists: Vec<Self> = tests.iter().map(Self::of_one).collect();
        // Those that can tell that an element fails come first; further ones are left to the tests.
        gists.sort_by_key(|gist| *gist == Self::Other);
        match *gists.as_slice() {
            [] => [Self::Nothing; 2],
            [only] => [only, Self::Nothing],
            [first, second] => [first, second],
            [first, ..] => [first, Self::Other],
        }
    }

    fn of_one(test: &StartTest) -> Self {
        let Ok(up) = u8::try_from(test.up) else { return Self::Other };
        let Condition::Attribute(NameTest::Name(name), inner) = &test.condition else { return Self::Other };
        let name = *name;
        match &**inner {
            Condition::True => Self::Has { up, name },
            Condition::Value(ValueTest::Equals(text)) => Self::Equals { up, name, hash: hash_of(text) },
            Condition::Value(ValueTest::Differs(text)) => Self::Differs { up, name, hash: hash_of(text) },
            Condition::Value(ValueTest::Number(comparison, number)) => {
                Self::Number { up, comparison: *comparison, name, number: number.get() }
            }
            _ => Self::Other,
        }
    }

    /// Levels from the last element up to the one that it is about.
    #[inline]
    pub(super) fn up(&self) -> u32 {
        match *self {
            Self::Nothing | Self::Other => 0,
            Self::Has { up, .. }
            | Self::Equals { up, .. }
            | Self::Differs { up, .. }
            | Self::Number { up, .. } => u32::from(up),
        }
    }
}

/// Never 0. That strangers can find equal ones costs a look at the tests.
pub(super) fn hash_of(text: &str) -> u32 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(text.as_bytes());
    let hash = hasher.finish();
    ((hash >> 32) as u32 ^ hash as u32) | 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two fit half a line of the processor's cache.
    #[test]
    fn gists_are_small() {
        assert_eq!(size_of::<Gists>(), 32);
    }
}
