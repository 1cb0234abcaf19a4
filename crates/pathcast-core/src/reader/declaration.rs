//! The XML declaration: `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`, exactly in this order.

use super::error::Fault;
use crate::chars::skip_space;

/// What a declaration says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declaration<'a> {
    pub(super) encoding: Option<EncodingName<'a>>,
    pub(super) standalone: bool,
}

/// The name of an encoding as it is written, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct EncodingName<'a> {
    pub(super) name: &'a str,
    pub(super) at: usize,
}

/// Parses what stands between `<?` and `?>`, `xml` included.
pub(super) fn parse(text: &str) -> Result<Declaration<'_>, Fault> {
    let mut fields = Fields { text, at: "xml".len() };
    if !text.starts_with("xml") {
        return Err(Fault::malformed(0, "an XML declaration starts with <?xml"));
    }
    let Some((version, at)) = fields.field("version")? else {
        return Err(Fault::malformed(fields.at, "an XML declaration needs version=\"1.0\" first"));
    };
    check_version(version, at)?;
    let encoding = match fields.field("encoding")? {
        Some((name, at)) => {
            check_encoding_name(name, at)?;
            Some(EncodingName { name, at })
        }
        None => None,
    };
    let standalone = match fields.field("standalone")? {
        Some(("yes", _)) => true,
        Some(("no", _)) | None => false,
        Some((_, at)) => return Err(Fault::malformed(at, "standalone is either \"yes\" or \"no\"")),
    };
    let end = skip_space(text.as_bytes(), fields.at);
    if end < text.len() {
        return Err(Fault::malformed(
            end,
            "an XML declaration holds version, encoding and standalone, in this order, and nothing else",
        ));
    }
    Ok(Declaration { encoding, standalone })
}

fn check_version(version: &str, at: usize) -> Result<(), Fault> {
    if version == "1.1" {
        return Err(Fault::malformed(at, "XML 1.1 is not supported; only XML 1.0 is"));
    }
    // the fifth edition reads any 1.x as 1.0
    match version.strip_prefix("1.") {
        Some(minor) if !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit()) => Ok(()),
        _ => {
            Err(Fault::malformed(at, format!("\"{}\" is not an XML version", crate::chars::quoted(version))))
        }
    }
}

fn check_encoding_name(name: &str, at: usize) -> Result<(), Fault> {
    let follows = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    match name.as_bytes() {
        [first, rest @ ..] if first.is_ascii_alphabetic() && rest.iter().all(|&byte| follows(byte)) => Ok(()),
        _ => {
            let reason = format!("\"{}\" cannot be the name of an encoding", crate::chars::quoted(name));
            Err(Fault::malformed(at, reason))
        }
    }
}

struct Fields<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Fields<'a> {
    /// White space, the keyword, `=`, and a quoted value; `None` and no step if another word follows.
    fn field(&mut self, keyword: &str) -> Result<Option<(&'a str, usize)>, Fault> {
        let bytes = self.text.as_bytes();
        let start = skip_space(bytes, self.at);
        if !self.text[start..].starts_with(keyword) {
            return Ok(None);
        }
        if start == self.at {
            return Err(Fault::malformed(start, format!("white space must stand before {keyword}")));
        }
        let equals = skip_space(bytes, start + keyword.len());
        if bytes.get(equals) != Some(&b'=') {
            return Err(Fault::malformed(equals, format!("\"=\" must follow {keyword}")));
        }
        let open = skip_space(bytes, equals + 1);
        let quote = match bytes.get(open) {
            Some(&quote @ (b'"' | b'\'')) => quote,
            _ => return Err(Fault::malformed(open, format!("the value of {keyword} must be in quotes"))),
        };
        let from = open + 1;
        let Some(length) = memchr::memchr(quote, &bytes[from..]) else {
            return Err(Fault::malformed(open, format!("the value of {keyword} has no closing quote")));
        };
        self.at = from + length + 1;
        Ok(Some((&self.text[from..from + length], from)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_quotes_and_space_are_exact() {
        for good in [
            "xml version='1.0'",
            "xml\tversion = \"1.0\" encoding='UTF-8' standalone='no' ",
            "xml version='1.0' standalone='yes'",
            "xml version='1.7'",
        ] {
            assert!(parse(good).is_ok(), "{good}");
        }
        for bad in [
            "xml",
            "xml ",
            "xml encoding='UTF-8'",
            "xml encoding='UTF-8' version='1.0'",
            "xml version='1.0'encoding='UTF-8'",
            "xml version='1.0' standalone='yes' encoding='UTF-8'",
            "xml version='1.0' standalone='YES'",
            "xml version='1.0' encoding=''",
            "xml version='1.0' encoding='8utf'",
            "xml version=1.0",
            "xml version='1.0\"",
            "xml version='1.0' version='1.0'",
            "xml version='1.0' x='y'",
            "xml version='2.0'",
            "xml version='1.'",
            "xml version='1.0 '",
            "xml version='1.1'", // 16
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
