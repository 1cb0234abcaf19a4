//! One comparison of a node's string-value with a constant, by the rules of XPath 1.0.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use memchr::memmem;

use super::comparison::{Comparison, compare};
use super::number::from_xpath_number;
use crate::image::Flat;

/// A number that can be a key: never NaN, and zero has one sign.
#[derive(Clone, Copy, Debug)]
pub struct Real(f64);

impl Real {
    /// The key for a number; `None` for NaN.
    pub fn new(value: f64) -> Option<Self> {
        (!value.is_nan()).then_some(Self(value + 0.0))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Flat for Real {
    const SIZE: usize = u64::SIZE;

    fn put(&self, out: &mut Vec<u8>) {
        self.0.to_bits().put(out);
    }

    fn get(bytes: &[u8]) -> Self {
        Self::new(f64::from_bits(u64::get(bytes))).unwrap_or(Self(0.0))
    }
}

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Real {}

impl Hash for Real {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl PartialOrd for Real {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Real {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// A test on one string-value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueTest {
    /// Equal as strings.
    Equals(Box<str>),
    /// Different as strings.
    Differs(Box<str>),
    /// Compared as numbers, the value on the left.
    Number(Comparison, Real),
    /// The value contains the constant.
    Contains(Box<str>),
    /// The value starts with the constant.
    StartsWith(Box<str>),
    /// The constant contains the value.
    ContainedIn(Box<str>),
    /// The constant starts with the value.
    PrefixOf(Box<str>),
}

impl ValueTest {
    /// Whether a string-value passes.
    pub fn accepts(&self, value: &str) -> bool {
        match self {
            Self::Equals(text) => value == &**text,
            Self::Differs(text) => value != &**text,
            Self::Number(comparison, number) => compare(*comparison, from_xpath_number(value), number.get()),
            Self::Contains(text) => memmem::find(value.as_bytes(), text.as_bytes()).is_some(),
            Self::StartsWith(text) => value.starts_with(&**text),
            Self::ContainedIn(text) => text.contains(value),
            Self::PrefixOf(text) => text.starts_with(value),
        }
    }

    /// Heap bytes held.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Self::Number(..) => 0,
            Self::Equals(text)
            | Self::Differs(text)
            | Self::Contains(text)
            | Self::StartsWith(text)
            | Self::ContainedIn(text)
            | Self::PrefixOf(text) => text.len(),
        }
    }
}
