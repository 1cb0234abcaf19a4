//! Conditions as bytes, for files.
//!
//! One tag byte a variant, numbers as LEB128, lists and strings with their length in front. Decoding trusts nothing:
//! it ends in an error on any byte it does not expect, and bounds nesting.

use super::bytes::{COMPARISONS, DEPTH, DecodeError, Decoder, decode_text, encode_name, encode_number};
use super::bytes::{encode_test, encode_text, list};
use super::condition::{Axis, Branch, Condition, FirstStep, NodePattern};
use super::encode_typed::encode_typed;
use crate::values::{Real, ValueTest};

/// Appends a condition.
pub fn encode_condition(condition: &Condition, out: &mut Vec<u8>) {
    match condition {
        Condition::True => out.push(0),
        Condition::False => out.push(1),
        Condition::And(all) => list(2, all, out, encode_condition),
        Condition::Or(any) => list(3, any, out, encode_condition),
        Condition::Not(inner) => {
            out.push(4);
            encode_condition(inner, out);
        }
        Condition::Exists(axis, pattern) => {
            out.push(5);
            encode_axis(*axis, out);
            encode_pattern(pattern, out);
        }
        Condition::Is(test) => {
            out.push(6);
            encode_test(test, out);
        }
        Condition::Attribute(name, inner) => {
            out.push(7);
            encode_name(*name, out);
            encode_condition(inner, out);
        }
        Condition::Value(test) => {
            out.push(8);
            encode_value(test, out);
        }
        Condition::First(path, test) => {
            list(9, path, out, encode_first_step);
            encode_value(test, out);
        }
        Condition::Root(inner) => {
            out.push(10);
            encode_condition(inner, out);
        }
        Condition::Ordered(branches) => list(11, branches, out, encode_branch),
        Condition::Typed(typed) => {
            out.push(12);
            encode_typed(typed, out);
        }
    }
}

fn encode_axis(axis: Axis, out: &mut Vec<u8>) {
    match axis {
        Axis::Down { min, exact } => {
            out.push(u8::from(exact));
            encode_number(u64::from(min), out);
        }
        Axis::Following => out.push(2),
        Axis::FollowingSibling => out.push(3),
        Axis::Preceding => out.push(4),
        Axis::PrecedingSibling => out.push(5),
    }
}

fn encode_pattern(pattern: &NodePattern, out: &mut Vec<u8>) {
    encode_test(&pattern.test, out);
    encode_condition(&pattern.condition, out);
}

fn encode_value(test: &ValueTest, out: &mut Vec<u8>) {
    let (tag, text) = match test {
        ValueTest::Number(comparison, number) => {
            out.push(6 + COMPARISONS.iter().position(|each| each == comparison).unwrap_or(0) as u8);
            out.extend(number.get().to_le_bytes());
            return;
        }
        ValueTest::Equals(text) => (0, text),
        ValueTest::Differs(text) => (1, text),
        ValueTest::Contains(text) => (2, text),
        ValueTest::StartsWith(text) => (3, text),
        ValueTest::ContainedIn(text) => (4, text),
        ValueTest::PrefixOf(text) => (5, text),
    };
    out.push(tag);
    encode_text(text, out);
}

fn encode_first_step(step: &FirstStep, out: &mut Vec<u8>) {
    match step {
        FirstStep::Node(axis, pattern) => {
            out.push(0);
            encode_axis(*axis, out);
            encode_pattern(pattern, out);
        }
        FirstStep::Attribute(name, condition) => {
            out.push(1);
            encode_name(*name, out);
            encode_condition(condition, out);
        }
    }
}

fn encode_branch(branch: &Branch, out: &mut Vec<u8>) {
    match branch {
        Branch::Exists { min, exact, pattern } => {
            out.push(u8::from(*exact));
            encode_number(u64::from(*min), out);
            encode_pattern(pattern, out);
        }
        Branch::First(path, test) => {
            list(2, path, out, encode_first_step);
            encode_value(test, out);
        }
    }
}

/// Takes a condition off the front; names must be below `names`.
///
/// # Errors
/// The bytes are no condition.
pub fn decode_condition(bytes: &mut &[u8], names: usize) -> Result<Condition, DecodeError> {
    Decoder::new(bytes, names).condition()
}

impl Decoder<'_, '_> {
    fn condition(&mut self) -> Result<Condition, DecodeError> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(DecodeError);
        }
        let condition = match self.byte()? {
            0 => Condition::True,
            1 => Condition::False,
            2 => Condition::And(self.list(Self::condition)?),
            3 => Condition::Or(self.list(Self::condition)?),
            4 => Condition::Not(Box::new(self.condition()?)),
            5 => Condition::Exists(self.axis()?, Box::new(self.pattern()?)),
            6 => Condition::Is(self.test()?),
            7 => Condition::Attribute(self.name()?, Box::new(self.condition()?)),
            8 => Condition::Value(self.value()?),
            9 => Condition::First(self.list(Self::first_step)?, self.value()?),
            10 => Condition::Root(Box::new(self.condition()?)),
            11 => Condition::Ordered(self.list(Self::branch)?),
            12 => Condition::Typed(self.typed()?),
            _ => return Err(DecodeError),
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn axis(&mut self) -> Result<Axis, DecodeError> {
        Ok(match self.byte()? {
            tag @ (0 | 1) => Axis::Down { min: self.levels()?, exact: tag == 1 },
            2 => Axis::Following,
            3 => Axis::FollowingSibling,
            4 => Axis::Preceding,
            5 => Axis::PrecedingSibling,
            _ => return Err(DecodeError),
        })
    }

    fn pattern(&mut self) -> Result<NodePattern, DecodeError> {
        Ok(NodePattern { test: self.test()?, condition: self.condition()? })
    }

    fn value(&mut self) -> Result<ValueTest, DecodeError> {
        let tag = self.byte()?;
        if let Some(comparison) = tag.checked_sub(6).map(usize::from) {
            let comparison = COMPARISONS.get(comparison).ok_or(DecodeError)?;
            let (number, rest) = self.bytes.split_first_chunk().ok_or(DecodeError)?;
            *self.bytes = rest;
            let number = Real::new(f64::from_le_bytes(*number)).ok_or(DecodeError)?;
            return Ok(ValueTest::Number(*comparison, number));
        }
        let text = decode_text(self.bytes)?.into();
        Ok(match tag {
            0 => ValueTest::Equals(text),
            1 => ValueTest::Differs(text),
            2 => ValueTest::Contains(text),
            3 => ValueTest::StartsWith(text),
            4 => ValueTest::ContainedIn(text),
            _ => ValueTest::PrefixOf(text),
        })
    }

    fn first_step(&mut self) -> Result<FirstStep, DecodeError> {
        match self.byte()? {
            0 => Ok(FirstStep::Node(self.axis()?, self.pattern()?)),
            1 => Ok(FirstStep::Attribute(self.name()?, self.condition()?)),
            _ => Err(DecodeError),
        }
    }

    fn branch(&mut self) -> Result<Branch, DecodeError> {
        match self.byte()? {
            tag @ (0 | 1) => {
                Ok(Branch::Exists { min: self.levels()?, exact: tag == 1, pattern: self.pattern()? })
            }
            2 => Ok(Branch::First(self.list(Self::first_step)?, self.value()?)),
            _ => Err(DecodeError),
        }
    }
}
