//! Regular expressions as XPath 2.0 writes them, run in linear time.
//!
//! The syntax is that of XML Schema with anchors: some escapes mean other characters than in the `regex` crate, so they
//! are rewritten, and what only one of the two knows is refused. A pattern is bounded in size when it is compiled.

use std::fmt::Write as _;

use regex::{Regex, RegexBuilder};

/// Bytes that a compiled pattern may take.
const SIZE: usize = 1 << 20;

const NAME_START: &str = r":A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}\x{200D}\x{2070}-\x{218F}\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}";
const NAME_PART: &str = r"\-.0-9\x{B7}\x{300}-\x{36F}\x{203F}\x{2040}";

/// Compiles a pattern with the flags of `matches()`.
///
/// # Errors
/// A sentence that says what is wrong with it.
///
/// ```
/// use pathcast_core::values::regex::compile;
/// assert!(compile(r"^\d{3}-[a-z]+$", "i").is_ok_and(|pattern| pattern.is_match("123-ABC")));
/// assert!(compile(r"(a)\1", "").is_err());
/// ```
pub fn compile(pattern: &str, flags: &str) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new(&translate(pattern, flags.contains('x'))?);
    builder.size_limit(SIZE);
    for flag in flags.chars() {
        match flag {
            'i' => builder.case_insensitive(true),
            's' => builder.dot_matches_new_line(true),
            'm' => builder.multi_line(true),
            'x' => &mut builder, // white space is taken out below
            other => return Err(format!("matches() knows the flags i, s, m and x, not {other:?}")),
        };
    }
    builder.build().map_err(|error| match error {
        regex::Error::CompiledTooBig(limit) => {
            format!(
                "the regular expression is too large: compiled it takes more than the limit of {limit} bytes"
            )
        }
        _ => format!("not a regular expression of XPath 2.0: {pattern:?}"),
    })
}

/// The pattern as the `regex` crate writes it.
fn translate(pattern: &str, spaced: bool) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut characters = pattern.chars().peekable();
    let mut classes = 0_usize;
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' | '\n' | '\r' if spaced && classes == 0 => {}
            '\\' => escape(characters.next(), &mut out)?,
            '[' => {
                classes += 1;
                out.push('[');
                if characters.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
            }
            ']' => {
                classes = classes.saturating_sub(1);
                out.push(']');
            }
            // `[a-z-[aeiou]]` takes the second class out of the first.
            '-' if classes > 0 && characters.peek() == Some(&'[') => out.push_str("--"),
            // `&&`, `~~` and `--` would combine classes.
            '&' | '~' | '-' if classes > 0 && characters.peek() == Some(&character) => {
                let _ = write!(out, "\\{character}");
            }
            '(' if classes == 0 && characters.peek() == Some(&'?') => {
                characters.next();
                if characters.next_if_eq(&':').is_none() {
                    return Err("groups that start with (? are not supported in regular expressions".into());
                }
                out.push_str("(?:");
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

/// What follows a backslash.
fn escape(character: Option<char>, out: &mut String) -> Result<(), String> {
    let class = match character {
        Some('n' | 'r' | 't' | 'p' | 'P' | 'd' | 'D')
        | Some('\\' | '|' | '.' | '?' | '*' | '+' | '(' | ')')
        | Some('{' | '}' | '-' | '[' | ']' | '^' | '$') => {
            let _ = write!(out, "\\{}", character.unwrap_or('\\'));
            return Ok(());
        }
        Some('s') => r"[ \t\n\r]".to_owned(),
        Some('S') => r"[^ \t\n\r]".to_owned(),
        Some('w') => r"[^\p{P}\p{Z}\p{C}]".to_owned(),
        Some('W') => r"[\p{P}\p{Z}\p{C}]".to_owned(),
        Some('i') => format!("[{NAME_START}]"),
        Some('I') => format!("[^{NAME_START}]"),
        Some('c') => format!("[{NAME_START}{NAME_PART}]"),
        Some('C') => format!("[^{NAME_START}{NAME_PART}]"),
        Some('1'..='9') => return Err("back-references are not supported: they take no linear time".into()),
        Some(other) => return Err(format!("\\{other} is no escape in a regular expression of XPath 2.0")),
        None => return Err("the regular expression ends in a backslash".into()),
    };
    out.push_str(&class);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn patterns_mean_what_xpath_says() {
        for (pattern, flags, text, expected) in [
            ("b", "", "abc", true),
            ("^b", "", "abc", false),
            ("^b", "m", "a\nbc", true),
            ("a.c", "", "a\nc", false),
            ("a.c", "s", "a\nc", true),
            ("A B", "ix", "xabx", true),
            (r"^\w+$", "", "a_b", false),
            (r"^\s$", "", "\u{a0}", false),
            (r"^[\w-[a]]+$", "", "bcd", true),
            (r"^[\w-[a]]+$", "", "bad", false),
            (r"^\i\c*$", "", "xs:name-1", true),
            (r"^\d+$", "", "٣", true),
            (r"(a+)+$", "", &"a".repeat(10_000), true),
        ] {
            assert_eq!(compile(pattern, flags).unwrap().is_match(text), expected, "{pattern} {flags}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn what_is_refused_says_why() {
        for (pattern, flags, fragment) in [
            ("(", "", "not a regular expression"),
            ("a", "q", "flags"),
            (r"(a)\1", "", "back-references"),
            (r"\b", "", "no escape"),
            ("(?i)a", "", "(?"),
            ("a\\", "", "backslash"),
            ("((a{1000}){1000}){1000}", "", "too large"),
        ] {
            let message = compile(pattern, flags).unwrap_err();
            assert!(message.contains(fragment), "{pattern}: {message}");
        }
    }
}
