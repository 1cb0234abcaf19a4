//! Values that are computed before they are tested: `normalize-space(x) = 'c'`, `lower-case(x) = 'c'`, `count(x) > n`.
//!
//! A function of a string takes the first node of a path, and the empty string where there is none; `count` takes all.
//! Either way an element has one value, so a test that no node would pass as well is asked the other way round: it
//! fails only when there is a value that passes the opposite. What is left is a test of a subject like any other.

use std::borrow::Cow;

use super::subjects::{Leaf, Steps};
use crate::image::Flat;
use crate::pattern::{NameTest, NodeTest, Operator, Origin, Term, TermStep, Typed};
use crate::twig::normalized;
use crate::values::{Comparison, Real, ValueTest, compare, number::from_xpath_number};
use crate::xpath::ast::{Axis, Function};

/// What is done with a value before it is tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Computed {
    #[default]
    Nothing,
    Normalized,
    Lower,
    Upper,
    NormalizedLower,
    NormalizedUpper,
    Length,
    /// The number of values counts.
    Counted,
}

impl Flat for Computed {
    const SIZE: usize = 1;

    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }

    fn get(bytes: &[u8]) -> Self {
        match u8::get(bytes) {
            0 => Self::Nothing,
            1 => Self::Normalized,
            2 => Self::Lower,
            3 => Self::Upper,
            4 => Self::NormalizedLower,
            5 => Self::NormalizedUpper,
            6 => Self::Length,
            _ => Self::Counted,
        }
    }
}

impl Computed {
    fn is_number(self) -> bool {
        matches!(self, Self::Length | Self::Counted)
    }

    pub(super) fn of(self, value: &str) -> Cow<'_, str> {
        let value = Cow::Borrowed(value);
        match self {
            Self::Nothing | Self::Counted => value,
            Self::Normalized => normalized(value),
            Self::Lower => value.to_lowercase().into(),
            Self::Upper => value.to_uppercase().into(),
            Self::NormalizedLower => normalized(value).to_lowercase().into(),
            Self::NormalizedUpper => normalized(value).to_uppercase().into(),
            Self::Length => value.chars().count().to_string().into(),
        }
    }

    /// The same of what another function gives.
    fn after(self, inner: Self) -> Option<Self> {
        Some(match (inner, self) {
            (Self::Nothing, outer) => outer,
            (inner, Self::Nothing) if !inner.is_number() => inner,
            (Self::Normalized, Self::Lower) | (Self::Lower, Self::Normalized) => Self::NormalizedLower,
            (Self::Normalized, Self::Upper) | (Self::Upper, Self::Normalized) => Self::NormalizedUpper,
            _ => return None,
        })
    }
}

/// A test of a computed value.
#[derive(Debug)]
pub(super) struct Computation {
    pub(super) steps: Steps,
    pub(super) leaf: Leaf,
    pub(super) computed: Computed,
    pub(super) test: ValueTest,
    /// Whether it holds when there is no value that passes.
    pub(super) negated: bool,
}

/// The test of a computed value that a typed expression about an element is, if it is one.
pub(super) fn computation(typed: &Typed) -> Option<Computation> {
    let Term::Apply(operator, parts) = &*typed.0 else { return None };
    let [left, right] = parts.as_slice() else { return None };
    match operator {
        Operator::Compare(comparison) => {
            if let Term::Text(_) | Term::Number(_) = *left.0 {
                compared(comparison.mirrored(), right, left)
            } else {
                compared(*comparison, left, right)
            }
        }
        Operator::Call(function @ (Function::Contains | Function::StartsWith)) => {
            let (computed, steps, leaf) = value(left)?;
            let Term::Text(text) = &*right.0 else { return None };
            if text.is_empty() || computed.is_number() {
                return None;
            }
            let test = match function {
                Function::Contains => ValueTest::Contains(text.clone()),
                _ => ValueTest::StartsWith(text.clone()),
            };
            Some(Computation { steps, leaf, computed, test, negated: false })
        }
        _ => None,
    }
}

fn compared(comparison: Comparison, left: &Typed, right: &Typed) -> Option<Computation> {
    let (computed, steps, leaf) = value(left)?;
    let equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    let (test, negated) = match &*right.0 {
        Term::Text(text) if equality && !computed.is_number() => {
            // No value is the empty string.
            let opposite = text.is_empty() == (comparison == Comparison::Equal);
            let test =
                if text.is_empty() { ValueTest::Differs("".into()) } else { ValueTest::Equals(text.clone()) };
            (test, opposite)
        }
        Term::Text(_) | Term::Number(_) => {
            let number = match &*right.0 {
                Term::Number(number) => number.0,
                Term::Text(text) => from_xpath_number(text),
                _ => return None,
            };
            // No value is no number as a string, and none of many as a count.
            let absent = if computed.is_number() { 0.0 } else { f64::NAN };
            let negated = compare(comparison, absent, number);
            let asked = if negated { comparison.opposite() } else { comparison };
            (ValueTest::Number(asked, Real::new(number)?), negated)
        }
        _ => return None,
    };
    Some(Computation { steps, leaf, computed, test, negated })
}

type Value = (Computed, Steps, Leaf);

/// A function of a path, or of such a function.
fn value(typed: &Typed) -> Option<Value> {
    let Term::Apply(Operator::Call(function), arguments) = &*typed.0 else { return None };
    let [argument] = arguments.as_slice() else { return None };
    let outer = match function {
        Function::String => Computed::Nothing,
        Function::NormalizeSpace => Computed::Normalized,
        Function::LowerCase => Computed::Lower,
        Function::UpperCase => Computed::Upper,
        Function::StringLength => Computed::Length,
        Function::Count => Computed::Counted,
        _ => return None,
    };
    match &*argument.0 {
        Term::Path(Origin::Context, steps) => {
            let (steps, leaf) = way(steps)?;
            Some((outer, steps, leaf))
        }
        Term::Apply(..) => {
            let (inner, steps, leaf) = value(argument)?;
            Some((outer.after(inner)?, steps, leaf))
        }
        _ => None,
    }
}

/// The way of a path that leads down by names alone, so that its nodes end in document order.
fn way(path: &[TermStep<Typed>]) -> Option<(Steps, Leaf)> {
    let mut steps = Vec::with_capacity(path.len());
    for (place, step) in path.iter().enumerate() {
        if !step.predicates.is_empty() {
            return None;
        }
        let last = place + 1 == path.len();
        match (step.axis, &step.test) {
            (Axis::Child, NodeTest::Element(name)) => steps.push((1, *name)),
            (Axis::Child, NodeTest::Text) if last => return Some((steps.into(), Leaf::Text)),
            (Axis::Attribute, NodeTest::Element(name @ NameTest::Name(_))) if last => {
                return Some((steps.into(), Leaf::attribute(*name)));
            }
            (Axis::SelfNode, NodeTest::Node) => {}
            _ => return None,
        }
    }
    Some((steps.into(), Leaf::Own))
}
