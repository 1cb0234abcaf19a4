//! What the tokeniser's errors mean, in our own words and at a place of our own choosing.
//!
//! The tokeniser looks for the end of a token before anything else, so a forgotten quote makes it run to the end of the
//! document. The token is then looked at again to find what is really wrong with it.

use quick_xml::Error;
use quick_xml::errors::IllFormedError;

use super::error::Fault;
use super::markup::{Markup, double_hyphen};
use crate::chars::quoted;

/// Explains an error. `raw` is the text from the start of the token as far as it was read; `ended` says that the
/// document ends there.
pub(super) fn explain(error: &Error, raw: &str, ended: bool, document: &mut Markup) -> Fault {
    match error {
        Error::IllFormed(IllFormedError::MismatchedEndTag { expected, found }) => {
            let reason = format!("the end tag </{}> does not close <{}>", quoted(found), quoted(expected));
            Fault::malformed(0, reason)
        }
        Error::IllFormed(IllFormedError::UnmatchedEndTag(found)) => {
            Fault::malformed(0, format!("the end tag </{}> closes nothing", quoted(found)))
        }
        Error::IllFormed(IllFormedError::UnclosedReference) => {
            let at = if ended { raw.len() } else { 0 };
            Fault::malformed(
                at,
                "\"&\" must start a reference such as &amp;; a literal \"&\" is written &amp;",
            )
        }
        _ => unfinished(raw, ended, document),
    }
}

/// A token without an end, or one that starts like none.
fn unfinished(raw: &str, ended: bool, document: &mut Markup) -> Fault {
    let end = raw.len();
    let cut = |what: &str| Fault::malformed(end, format!("the document ends inside {what}"));
    let earlier = |result: Result<(), Fault>| result.err().filter(|fault| fault.at() < end);
    match raw.as_bytes() {
        [b'<', b'!', rest @ ..] => {
            let (keyword, what) = match rest.first() {
                Some(b'-') => ("<!--", "a comment"),
                Some(b'[') => ("<![CDATA[", "a CDATA section"),
                Some(b'D' | b'd') => ("<!DOCTYPE", "a DOCTYPE"),
                None if ended => return cut("a tag"),
                // in a stream the character after `<!` is not part of the token
                _ => return Fault::malformed(2, "\"<!\" must start a comment, a CDATA section or a DOCTYPE"),
            };
            let same = raw.bytes().zip(keyword.bytes()).take_while(|(one, other)| one == other).count();
            if same < keyword.len().min(end) {
                return Fault::malformed(same, format!("\"{keyword}\" is expected here"));
            }
            let body = &raw[same..];
            match keyword {
                "<!--" => match double_hyphen(body) {
                    Some(at) if at + 2 < body.len() => {
                        Fault::malformed(same + at, "\"--\" may not stand in a comment")
                    }
                    _ => cut(what),
                },
                "<!DOCTYPE" if same == keyword.len() => {
                    earlier(document.doctype(raw)).unwrap_or_else(|| cut(what))
                }
                _ => cut(what),
            }
        }
        [b'<', b'?', b'>', ..] => Fault::malformed(2, "a processing instruction needs a target"),
        [b'<', b'?', ..] => cut("a processing instruction"),
        [b'<', b'/', ..] => cut("an end tag"),
        [b'<', rest @ ..] if !rest.is_empty() => {
            let tag = &raw[1..];
            let tag = tag.strip_suffix('/').unwrap_or(tag);
            match document.scan_unfinished(tag) {
                Err(fault) if fault.at() < tag.len() => fault.later(1),
                _ => cut("a start tag"),
            }
        }
        _ => cut("a tag"),
    }
}
