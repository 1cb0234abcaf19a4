//! A graph as bytes, for files. Decoding trusts nothing.

use super::declare::Builder;
use super::graph::{Content, ElementId, Graph, Values};
use crate::pattern::{DecodeError, decode_number, decode_text, encode_number, encode_text};

const CONTENTS: [Content; 4] = [Content::Empty, Content::Elements, Content::Mixed, Content::Any];

/// What an element has in the place of its content if it is not declared.
const UNDECLARED: u64 = 4;

/// The same if its text has declared values, which follow.
const VALUES: u64 = 5;

impl Graph {
    /// Appends the graph.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode_number(self.len() as u64, out);
        for element in 0..self.document() {
            let (uri, local) = self.name(element);
            encode_text(uri, out);
            encode_text(local, out);
        }
        for (at, element) in self.elements.iter().enumerate() {
            let declared = self.undeclared.binary_search(&(at as ElementId)).is_err();
            let content = CONTENTS.iter().position(|&each| each == element.content).unwrap_or(0) as u64;
            match &element.text {
                _ if !declared => encode_number(UNDECLARED, out),
                Values::Free => encode_number(content, out),
                values => {
                    encode_number(VALUES, out);
                    encode_values(true, values, out);
                }
            }
            self.encode_children(at as ElementId, out);
            encode_number(element.attributes.len() as u64, out);
            for attribute in &element.attributes {
                let (uri, local) = self.attribute_names.parts(attribute.name);
                encode_text(uri, out);
                encode_text(local, out);
                encode_values(attribute.required, &attribute.values, out);
            }
        }
        self.encode_children(self.document(), out);
    }

    /// Sorted numbers as differences: most take one byte.
    fn encode_children(&self, element: ElementId, out: &mut Vec<u8>) {
        let children = self.below.get(element);
        encode_number(children.len() as u64, out);
        let mut before = 0;
        for &child in children {
            encode_number(u64::from(child - before), out);
            before = child;
        }
    }

    /// Takes a graph off the front.
    ///
    /// # Errors
    /// The bytes are no graph.
    pub fn decode(bytes: &mut &[u8]) -> Result<Graph, DecodeError> {
        let count = list(bytes)?;
        let mut builder = Builder::default();
        for expected in 0..count {
            let uri = decode_text(bytes)?;
            let element = builder.element(uri, decode_text(bytes)?);
            if element as usize != expected {
                return Err(DecodeError);
            }
        }
        for element in 0..count as ElementId {
            match decode_number(bytes)? {
                UNDECLARED => {}
                VALUES => builder.declare_text(element, decode_values(bytes)?.1),
                content => {
                    let content = usize::try_from(content).map_err(|_| DecodeError)?;
                    builder.declare(element, *CONTENTS.get(content).ok_or(DecodeError)?);
                }
            }
            decode_children(bytes, count, |child| builder.child(element, child))?;
            for _ in 0..list(bytes)? {
                let uri = decode_text(bytes)?;
                let local = decode_text(bytes)?;
                let (required, values) = decode_values(bytes)?;
                builder.attribute(element, uri, local, required, values);
            }
        }
        let mut rooted = false;
        decode_children(bytes, count, |child| {
            rooted = true;
            builder.root(child);
        })?;
        if !rooted && count > 0 {
            return Err(DecodeError);
        }
        Ok(builder.build())
    }
}

/// The length of a list of things of at least one byte each.
fn list(bytes: &mut &[u8]) -> Result<usize, DecodeError> {
    let count = decode_number(bytes)?;
    if count > bytes.len() as u64 { Err(DecodeError) } else { Ok(count as usize) }
}

fn decode_children(
    bytes: &mut &[u8],
    count: usize,
    mut each: impl FnMut(ElementId),
) -> Result<(), DecodeError> {
    let mut child = 0_u64;
    for _ in 0..list(bytes)? {
        child = child
            .checked_add(decode_number(bytes)?)
            .filter(|&child| child < count as u64)
            .ok_or(DecodeError)?;
        each(child as ElementId);
    }
    Ok(())
}

fn encode_values(required: bool, values: &Values, out: &mut Vec<u8>) {
    let kind = match values {
        Values::Free => 0,
        Values::Tokens(_) => 1,
        Values::Fixed(_) => 2,
    };
    out.push(kind << 1 | u8::from(required));
    match values {
        Values::Free => {}
        Values::Tokens(tokens) => {
            encode_number(tokens.len() as u64, out);
            tokens.iter().for_each(|token| encode_text(token, out));
        }
        Values::Fixed(value) => encode_text(value, out),
    }
}

fn decode_values(bytes: &mut &[u8]) -> Result<(bool, Values), DecodeError> {
    let (&tag, rest) = bytes.split_first().ok_or(DecodeError)?;
    *bytes = rest;
    let values = match tag >> 1 {
        0 => Values::Free,
        1 => {
            let count = list(bytes)?;
            let tokens: Result<Vec<Box<str>>, _> =
                (0..count).map(|_| decode_text(bytes).map(Into::into)).collect();
            Values::Tokens(tokens?)
        }
        2 => Values::Fixed(decode_text(bytes)?.into()),
        _ => return Err(DecodeError),
    };
    Ok((tag & 1 == 1, values))
}
