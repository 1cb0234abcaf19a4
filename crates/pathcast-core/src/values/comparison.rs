//! The six comparisons, and what they say of two numbers.

use crate::image::Flat;

/// The six comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Flat for Comparison {
    const SIZE: usize = 1;

    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }

    fn get(bytes: &[u8]) -> Self {
        match u8::get(bytes) {
            0 => Self::Equal,
            1 => Self::NotEqual,
            2 => Self::Less,
            3 => Self::LessEqual,
            4 => Self::Greater,
            _ => Self::GreaterEqual,
        }
    }
}

/// Compares two numbers; with NaN only `!=` holds.
#[allow(clippy::float_cmp, reason = "XPath compares doubles exactly")]
pub fn compare(comparison: Comparison, left: f64, right: f64) -> bool {
    match comparison {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::Less => left < right,
        Comparison::LessEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterEqual => left >= right,
    }
}

impl Comparison {
    /// The comparison that two numbers pass when they do not pass this one; NaN passes neither `<` nor `>=`.
    pub fn opposite(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterEqual,
            Self::LessEqual => Self::Greater,
            Self::Greater => Self::LessEqual,
            Self::GreaterEqual => Self::Less,
        }
    }

    /// The same question asked from the other side.
    pub fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessEqual => Self::GreaterEqual,
            Self::Greater => Self::Less,
            Self::GreaterEqual => Self::LessEqual,
            same => same,
        }
    }
}
