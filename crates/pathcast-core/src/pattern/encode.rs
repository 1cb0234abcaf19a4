//! Conditions as bytes, for files.
//!
//! One tag byte a variant, numbers as LEB128, lists and strings with their length in front. Decoding trusts nothing:
//! it ends in an error on any byte it does not expect, and bounds nesting.

use super::condition::{Axis, Branch, Condition, FirstStep, NameTest, NodePattern, NodeTest};
use crate::names::NameId;
use crate::values::Comparison;
use crate::values::{Real, ValueTest};

/// Bytes that are no condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError;

/// Nesting that no expression has, at 1,024 steps and 256 parentheses; deeper bytes are damage. The walk over twice
/// as much overflows a stack of 2 MiB.
const DEPTH: u32 = 2_048;

/// A gap that no expression is long enough to write.
pub(super) const LEVELS: u32 = 1 << 20;

const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessEqual,
    Comparison::Greater,
    Comparison::GreaterEqual,
];

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
    }
}

fn list<T>(tag: u8, items: &[T], out: &mut Vec<u8>, each: impl Fn(&T, &mut Vec<u8>)) {
    out.push(tag);
    encode_number(items.len() as u64, out);
    for item in items {
        each(item, out);
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

fn encode_test(test: &NodeTest, out: &mut Vec<u8>) {
    match test {
        NodeTest::Element(name) => {
            out.push(0);
            encode_name(*name, out);
        }
        NodeTest::Node => out.push(1),
        NodeTest::Text => out.push(2),
        NodeTest::Comment => out.push(3),
        NodeTest::Instruction(None) => out.push(4),
        NodeTest::Instruction(Some(target)) => {
            out.push(5);
            encode_text(target, out);
        }
    }
}

fn encode_name(name: NameTest, out: &mut Vec<u8>) {
    match name {
        NameTest::Any => out.push(0),
        NameTest::Name(id) => {
            out.push(1);
            encode_number(u64::from(id.0), out);
        }
        NameTest::Namespace(id) => {
            out.push(2);
            encode_number(u64::from(id.0), out);
        }
    }
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

/// Appends a string with its length in front.
pub fn encode_text(text: &str, out: &mut Vec<u8>) {
    encode_number(text.len() as u64, out);
    out.extend(text.as_bytes());
}

/// Appends a number, seven bits a byte, lowest first.
pub fn encode_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a condition off the front; names must be below `names`.
///
/// # Errors
/// The bytes are no condition.
pub fn decode_condition(bytes: &mut &[u8], names: usize) -> Result<Condition, DecodeError> {
    Decoder { bytes, names, depth: 0 }.condition()
}

struct Decoder<'a, 'b> {
    bytes: &'a mut &'b [u8],
    names: usize,
    depth: u32,
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
            _ => return Err(DecodeError),
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn list<T>(&mut self, each: impl Fn(&mut Self) -> Result<T, DecodeError>) -> Result<Vec<T>, DecodeError> {
        let count = decode_number(self.bytes)?;
        // An item is at least one byte: a longer list is damage, and must not reserve memory.
        if count > self.bytes.len() as u64 {
            return Err(DecodeError);
        }
        // A loop, not `collect`: that takes several times the stack for each level of nesting.
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(each(self)?);
        }
        Ok(items)
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

    fn test(&mut self) -> Result<NodeTest, DecodeError> {
        Ok(match self.byte()? {
            0 => NodeTest::Element(self.name()?),
            1 => NodeTest::Node,
            2 => NodeTest::Text,
            3 => NodeTest::Comment,
            4 => NodeTest::Instruction(None),
            5 => NodeTest::Instruction(Some(decode_text(self.bytes)?.into())),
            _ => return Err(DecodeError),
        })
    }

    fn name(&mut self) -> Result<NameTest, DecodeError> {
        let tag = self.byte()?;
        if tag == 0 {
            return Ok(NameTest::Any);
        }
        let id = self.small()?;
        if id == 0 || id as usize >= self.names {
            return Err(DecodeError);
        }
        match tag {
            1 => Ok(NameTest::Name(NameId(id))),
            2 => Ok(NameTest::Namespace(NameId(id))),
            _ => Err(DecodeError),
        }
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

    fn byte(&mut self) -> Result<u8, DecodeError> {
        let (first, rest) = self.bytes.split_first().ok_or(DecodeError)?;
        *self.bytes = rest;
        Ok(*first)
    }

    fn levels(&mut self) -> Result<u32, DecodeError> {
        let levels = self.small()?;
        if levels <= LEVELS { Ok(levels) } else { Err(DecodeError) }
    }

    fn small(&mut self) -> Result<u32, DecodeError> {
        decode_number(self.bytes)?.try_into().map_err(|_| DecodeError)
    }
}

/// Takes a string off the front.
///
/// # Errors
/// The bytes are too few or not UTF-8.
pub fn decode_text<'a>(bytes: &mut &'a [u8]) -> Result<&'a str, DecodeError> {
    let length = decode_number(bytes)?;
    let length = usize::try_from(length).map_err(|_| DecodeError)?;
    let (text, rest) = bytes.split_at_checked(length).ok_or(DecodeError)?;
    *bytes = rest;
    std::str::from_utf8(text).map_err(|_| DecodeError)
}

/// Takes a number off the front.
///
/// # Errors
/// The bytes are too few, or the number too large.
pub fn decode_number(bytes: &mut &[u8]) -> Result<u64, DecodeError> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(DecodeError)?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(DecodeError)
}
