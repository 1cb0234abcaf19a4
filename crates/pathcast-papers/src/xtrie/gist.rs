//! What tests at a start tag say, in few bytes: mostly enough to tell whether elements pass without a look at the tests.
//!
//! Thousands of tests are asked of an element and most fail. A test as it was written is four steps away from its
//! number; the gists of the first two tests lie side by side, in a list beside all others.

use std::hash::{BuildHasher, Hasher};

use rustc_hash::FxBuildHasher;

use super::start_test::StartTest;
use pathcast_core::names::NameId;
use pathcast_core::pattern::{Condition, NameTest};
use pathcast_core::values::Comparison;
use pathcast_core::values::ValueTest;

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
    use crate::xtrie::local::passes;
    use crate::xtrie::open::Open;
    use pathcast_core::names::Resolved;
    use pathcast_core::values::Real;

    /// Two fit half a line of the processor's cache.
    #[test]
    fn gists_are_small() {
        assert_eq!(size_of::<Gists>(), 32);
    }

    /// What a gist tells is what the test says, and it tells all but whether equal hashes are equal texts.
    #[test]
    fn gists_agree_with_tests() {
        let number = |text: f64| Real::new(text).unwrap();
        let inner = [
            Condition::True,
            Condition::Value(ValueTest::Equals("x".into())),
            Condition::Value(ValueTest::Differs("x".into())),
            Condition::Value(ValueTest::Number(Comparison::Less, number(5.0))),
            Condition::Value(ValueTest::Number(Comparison::NotEqual, number(3.0))),
            Condition::Value(ValueTest::Contains("x".into())),
        ];
        let name = |id: u32| Resolved { name: NameId(id), ..Resolved::OTHER };
        // Without namespaces two attributes may have one name.
        let elements: [&[(u32, &str)]; 7] = [
            &[],
            &[(9, "x")],
            &[(8, "x")],
            &[(8, "y")],
            &[(8, "x"), (8, "y")],
            &[(8, "3")],
            &[(8, "3"), (8, "7")],
        ];
        let mut told = 0;
        for attributes in elements {
            let mut open = Open::default();
            open.begin();
            open.start(name(1), attributes.iter().map(|&(id, value)| (name(id), value)));
            for inner in &inner {
                let condition = Condition::Attribute(NameTest::Name(NameId(8)), Box::new(inner.clone()));
                let [gist, rest] = Gist::of(&[StartTest { up: 2, condition: condition.clone() }]);
                let element = open.element(1);
                assert_eq!((rest, element.verdict(&rest)), (Gist::Nothing, Some(true)));
                if let Some(verdict) = element.verdict(&gist) {
                    assert_eq!(verdict, passes(&condition, &element, None), "{condition:?} {attributes:?}");
                    assert_eq!(gist.up(), 2);
                    told += 1;
                }
            }
        }
        // Not told: whether a value contains the text (7), is it where the hash is (2), differs where no hash does (1).
        assert_eq!(told, 7 * 6 - 7 - 2 - 1);
    }

    /// Further tests than two, and those without a gist, are left to the tests themselves.
    #[test]
    fn gists_leave_the_rest_to_the_tests() {
        let has = |up: u32| StartTest {
            up,
            condition: Condition::Attribute(NameTest::Name(NameId(8)), Box::new(Condition::True)),
        };
        let other =
            StartTest { up: 0, condition: Condition::Attribute(NameTest::Any, Box::new(Condition::True)) };
        let gist = |up: u8| Gist::Has { up, name: NameId(8) };
        assert_eq!(Gist::of(&[has(0), has(1)]), [gist(0), gist(1)]);
        assert_eq!(Gist::of(&[other.clone(), has(1)]), [gist(1), Gist::Other]);
        assert_eq!(Gist::of(&[has(2), has(1), has(0)]), [gist(2), Gist::Other]);
        assert_eq!(Gist::of(&[has(300)]), Gist::UNKNOWN);
        assert_eq!(Gist::of(&[other]), Gist::UNKNOWN);
    }
}
