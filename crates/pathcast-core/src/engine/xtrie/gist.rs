//! What tests at a start tag say, in few bytes: enough to tell that an element fails without a look at the tests.
//!
//! Thousands of tests are asked of an element and most fail. A test as it was written is four steps away from its number; its
//! gist lies in a list beside all others.

use std::hash::{BuildHasher, Hasher};

use rustc_hash::FxBuildHasher;

use super::decompose::StartTest;
use crate::names::NameId;
use crate::pattern::{Condition, NameTest};
use crate::values::ValueTest;
use crate::xpath::ast::Comparison;

/// One thing that the last element of a substring must pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Gist {
    /// An attribute whose value has this hash.
    Text { name: NameId, hash: u32 },
    /// An attribute whose value compares so.
    Number { name: NameId, comparison: Comparison, number: f64 },
    /// Only the tests themselves tell.
    #[default]
    Other,
}

impl Gist {
    pub(super) fn of(tests: &[StartTest]) -> Self {
        tests.iter().map(Self::of_one).find(|gist| *gist != Self::Other).unwrap_or_default()
    }

    fn of_one(test: &StartTest) -> Self {
        match &test.condition {
            Condition::Attribute(NameTest::Name(name), inner) if test.up == 0 => match &**inner {
                Condition::Value(ValueTest::Equals(text)) => Self::Text { name: *name, hash: hash_of(text) },
                Condition::Value(ValueTest::Number(comparison, number)) => {
                    Self::Number { name: *name, comparison: *comparison, number: number.get() }
                }
                _ => Self::Other,
            },
            _ => Self::Other,
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
