//! Tests that are decided at a start tag.

use pathcast_core::names::NameId;
use pathcast_core::pattern::{Condition, NameTest};

/// A test on an element so many levels above the last one of the substring.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct StartTest {
    pub(super) up: u32,
    pub(super) condition: Condition,
}

/// Attributes without which the last element of a substring fails its tests: a bit for each name, some share one.
pub(super) fn needs(tests: &[StartTest]) -> u32 {
    let need = |test: &StartTest| match test.condition {
        Condition::Attribute(NameTest::Name(name), _) if test.up == 0 => bit(name),
        _ => 0,
    };
    tests.iter().fold(0, |all, test| all | need(test))
}

/// The bit of an attribute's name.
#[inline]
pub(super) fn bit(name: NameId) -> u32 {
    1 << (name.0 % 32)
}
