//! The pieces that files are written in: numbers, texts, lists, tests.

use super::node::{NameTest, NodeTest};
use crate::names::NameId;
use crate::values::Comparison;

/// Bytes that are no condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeError;

/// Nesting that no expression has, at 1,024 steps and 256 parentheses; deeper bytes are damage. The walk over twice
/// as much overflows a stack of 2 MiB.
pub(super) const DEPTH: u32 = 2_048;

/// A gap that no expression is long enough to write.
pub(super) const LEVELS: u32 = 1 << 20;

pub(super) const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessEqual,
    Comparison::Greater,
    Comparison::GreaterEqual,
];

pub(super) fn list<T>(tag: u8, items: &[T], out: &mut Vec<u8>, each: impl Fn(&T, &mut Vec<u8>)) {
    out.push(tag);
    encode_number(items.len() as u64, out);
    for item in items {
        each(item, out);
    }
}

pub(super) fn encode_test(test: &NodeTest, out: &mut Vec<u8>) {
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

pub(super) fn encode_name(name: NameTest, out: &mut Vec<u8>) {
    match name {
        NameTest::Any => out.push(0),
        NameTest::Name(id) => {
            out.push(1);
            encode_number(u64::from(id.0), out);
        }
        NameTest::Partial(id) => {
            out.push(2);
            encode_number(u64::from(id.0), out);
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

/// Takes things off the front of bytes.
pub(super) struct Decoder<'a, 'b> {
    pub(super) bytes: &'a mut &'b [u8],
    names: usize,
    pub(super) depth: u32,
}

impl<'a, 'b> Decoder<'a, 'b> {
    pub(super) fn new(bytes: &'a mut &'b [u8], names: usize) -> Self {
        Self { bytes, names, depth: 0 }
    }

    pub(super) fn list<T>(
        &mut self,
        each: impl Fn(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
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

    pub(super) fn test(&mut self) -> Result<NodeTest, DecodeError> {
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

    pub(super) fn name(&mut self) -> Result<NameTest, DecodeError> {
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
            2 => Ok(NameTest::Partial(NameId(id))),
            _ => Err(DecodeError),
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, DecodeError> {
        let (first, rest) = self.bytes.split_first().ok_or(DecodeError)?;
        *self.bytes = rest;
        Ok(*first)
    }

    pub(super) fn levels(&mut self) -> Result<u32, DecodeError> {
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
