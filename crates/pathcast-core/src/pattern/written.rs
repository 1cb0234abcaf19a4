//! An expression as a subscriber gives it: the text, and what its names and variables mean.

use super::bytes::{DecodeError, decode_number, decode_text, encode_number, encode_text};
use super::condition::Condition;
use super::mode::normalise;
use super::scope::Scope;
use crate::limits::Limits;
use crate::names::Namespaces;
use crate::xpath::{Binding, Environment, Variables, XPathError, parse_with};

/// An expression as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// The text.
    pub xpath: Box<str>,
    /// Whether branches must come in their order.
    pub ordered: bool,
    /// Prefixes to namespace URIs.
    pub namespaces: Namespaces,
    /// What variables are bound to.
    pub variables: Variables,
}

impl Written {
    /// An expression without variables.
    pub fn new(xpath: &str, ordered: bool, namespaces: &Namespaces) -> Self {
        Self { xpath: xpath.into(), ordered, namespaces: namespaces.clone(), variables: Vec::new() }
    }

    /// The condition on the document node that it is.
    ///
    /// # Errors
    /// The expression is refused.
    pub fn condition(&self, scope: &mut Scope<'_>, limits: &Limits) -> Result<Condition, XPathError> {
        let environment = Environment::new(&self.variables, limits)?;
        let expression = parse_with(&self.xpath, &environment, limits)?;
        normalise(&expression, self.ordered, scope)
    }

    /// As bytes, for files; equal ones have equal bytes.
    pub fn to_bytes(&self) -> Box<[u8]> {
        let mut out = Vec::with_capacity(self.xpath.len() + 5);
        encode_text(&self.xpath, &mut out);
        // Most say no more than the text.
        if self.ordered || !self.namespaces.is_empty() || !self.variables.is_empty() {
            out.push(u8::from(self.ordered));
            encode_number(self.namespaces.len() as u64, &mut out);
            for (prefix, uri) in &self.namespaces {
                encode_text(prefix, &mut out);
                encode_text(uri, &mut out);
            }
            encode_number(self.variables.len() as u64, &mut out);
            for (name, binding) in &self.variables {
                encode_text(name, &mut out);
                encode_binding(binding, &mut out);
            }
        }
        out.into()
    }

    /// From bytes, all of them.
    ///
    /// # Errors
    /// They are no expression as written.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, DecodeError> {
        let bytes = &mut bytes;
        let mut written = Self { xpath: decode_text(bytes)?.into(), ..Self::default() };
        if let Some((&ordered, rest)) = bytes.split_first() {
            *bytes = rest;
            written.ordered = ordered == 1;
            for _ in 0..decode_number(bytes)? {
                written.namespaces.push((decode_text(bytes)?.into(), decode_text(bytes)?.into()));
            }
            for _ in 0..decode_number(bytes)? {
                written.variables.push((decode_text(bytes)?.into(), decode_binding(bytes)?));
            }
        }
        if bytes.is_empty() { Ok(written) } else { Err(DecodeError) }
    }
}

fn encode_binding(binding: &Binding, out: &mut Vec<u8>) {
    match binding {
        Binding::Text(text) => {
            out.push(0);
            encode_text(text, out);
        }
        Binding::Number(number) => {
            out.push(1);
            out.extend(number.to_le_bytes());
        }
        Binding::Boolean(value) => out.push(2 + u8::from(*value)),
        Binding::Expression(source) => {
            out.push(4);
            encode_text(source, out);
        }
    }
}

fn decode_binding(bytes: &mut &[u8]) -> Result<Binding, DecodeError> {
    let (&tag, rest) = bytes.split_first().ok_or(DecodeError)?;
    *bytes = rest;
    Ok(match tag {
        0 => Binding::Text(decode_text(bytes)?.into()),
        1 => {
            let (number, rest) = bytes.split_first_chunk().ok_or(DecodeError)?;
            *bytes = rest;
            Binding::Number(f64::from_le_bytes(*number))
        }
        2 | 3 => Binding::Boolean(tag == 3),
        4 => Binding::Expression(decode_text(bytes)?.into()),
        _ => return Err(DecodeError),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_survives_as_bytes() {
        let plain = Written::new("//a", false, &Vec::new());
        let full = Written {
            xpath: "//n:a[@t = $t][$e]".into(),
            ordered: true,
            namespaces: vec![("n".into(), "urn:x".into())],
            variables: vec![
                ("t".into(), Binding::Text("x".into())),
                ("n".into(), Binding::Number(-0.5)),
                ("b".into(), Binding::Boolean(true)),
                ("e".into(), Binding::Expression("/*/t".into())),
            ],
        };
        for written in [plain, full] {
            let bytes = written.to_bytes();
            let plain = 1 + written.xpath.len(); // what follows the text may be left out
            assert_eq!(Written::from_bytes(&bytes), Ok(written));
            assert!((1..bytes.len()).all(|cut| Written::from_bytes(&bytes[..cut]).is_err() || cut == plain));
        }
    }
}
