//! Character references and the five predefined entities.

use super::error::Fault;
use crate::chars::{is_name, is_xml_char, quoted};

/// The character that `&name;` stands for, or none if it is another entity; `at` is where the `&` is.
pub(super) fn resolve(name: &str, at: usize) -> Result<Option<char>, Fault> {
    match name {
        "amp" => Ok(Some('&')),
        "lt" => Ok(Some('<')),
        "gt" => Ok(Some('>')),
        "apos" => Ok(Some('\'')),
        "quot" => Ok(Some('"')),
        _ => match name.strip_prefix('#') {
            Some(number) => character(number, at).map(Some),
            None if is_name(name) => Ok(None),
            None => Err(Fault::malformed(at, "\"&\" must start a reference such as &amp; or &#38;")),
        },
    }
}

fn character(number: &str, at: usize) -> Result<char, Fault> {
    let (digits, radix) = match number.strip_prefix('x') {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    let mut code: u32 = 0;
    for c in digits.chars() {
        match c.to_digit(radix) {
            // leading zeros are legal, so the value is capped, not the length
            Some(digit) => code = (code * radix + digit).min(0x11_0000),
            None => return Err(no_number(number, at)),
        }
    }
    if digits.is_empty() {
        return Err(no_number(number, at));
    }
    match char::from_u32(code) {
        Some(c) if is_xml_char(code) => Ok(c),
        _ => Err(Fault::malformed(at, format!("&#{}; is not an XML character", quoted(number)))),
    }
}

#[cold]
fn no_number(number: &str, at: usize) -> Fault {
    Fault::malformed(at, format!("&#{}; is not a number", quoted(number)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::DocumentErrorKind;

    #[test]
    fn references_stand_for_one_character() {
        for (name, c) in [
            ("amp", '&'),
            ("#10", '\n'),
            ("#x1F600", '😀'),
            ("#0000000000000000000065", 'A'),
            ("#xfffd", '\u{FFFD}'),
        ] {
            assert_eq!(resolve(name, 0).unwrap(), Some(c));
        }
        for name in [
            "",
            "#",
            "#x",
            "#X41",
            "#-1",
            "#0",
            "#xD800",
            "#xFFFE",
            "#x110000",
            "#99999999999999999999",
            "#1f",
            " amp",
            "1",
        ] {
            assert_eq!(
                resolve(name, 0).unwrap_err().placed(1, 1).kind,
                DocumentErrorKind::Malformed,
                "{name}"
            );
        }
        assert_eq!(resolve("nbsp", 0).unwrap(), None);
    }
}
