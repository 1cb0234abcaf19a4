//! Regular expressions from the syntax of XPath 2.0 to that of the `regex` family of crates.
//!
//! XPath's is the syntax of XML Schema with anchors and reluctant quantifiers. Some escapes and classes mean other characters
//! in the two, so they are rewritten. What only the crates know is refused, and so is what is not supported.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

const NAME_START: &str = r":A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}\x{200D}\x{2070}-\x{218F}\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}";
const NAME_PART: &str = r"\-.0-9\x{B7}\x{300}-\x{36F}\x{203F}\x{2040}";

const CATEGORIES: [&str; 36] = [
    "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps",
    "Pe", "Pi", "Pf", "Po", "Z", "Zs", "Zl", "Zp", "S", "Sm", "Sc", "Sk", "So", "C", "Cc", "Cf", "Co", "Cn",
];

/// What stands in front of a quantifier.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Nothing,
    Atom,
    Quantifier,
    /// A quantifier and the `?` behind it.
    Reluctant,
}

/// The pattern as the crates write it; `spaced` is the flag `x`, `folded` the flag `i`.
pub(super) fn translate(pattern: &str, spaced: bool, folded: bool) -> Result<String, String> {
    let mut writer =
        Writer { rest: pattern.chars().peekable(), out: String::with_capacity(pattern.len() + 8), folded };
    let mut before = Before::Nothing;
    while let Some(character) = writer.rest.next() {
        before = match character {
            ' ' | '\t' | '\n' | '\r' if spaced => before,
            '?' if before == Before::Quantifier => {
                writer.out.push('?');
                Before::Reluctant
            }
            '*' | '+' | '?' | '{' => {
                match before {
                    Before::Nothing => return Err(format!("{character} has nothing to repeat")),
                    Before::Atom => writer.quantifier(character, spaced),
                    _ => return Err(format!("{character} follows another quantifier: write a group")),
                }
                Before::Quantifier
            }
            '(' => {
                writer.group()?;
                Before::Nothing
            }
            '|' => {
                writer.out.push('|');
                Before::Nothing
            }
            '\\' => {
                writer.escape(false)?;
                Before::Atom
            }
            '[' => {
                writer.class()?;
                Before::Atom
            }
            other => {
                writer.out.push(other);
                Before::Atom
            }
        };
    }
    Ok(writer.out)
}

struct Writer<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
    folded: bool,
}

impl Writer<'_> {
    /// A quantifier up to its end; whether the numbers are right is seen when the pattern is compiled.
    fn quantifier(&mut self, first: char, spaced: bool) {
        self.out.push(first);
        let mut open = first == '{';
        while open && let Some(character) = self.rest.next() {
            open = character != '}';
            if !(spaced && matches!(character, ' ' | '\t' | '\n' | '\r')) {
                self.out.push(character);
            }
        }
    }

    /// The beginning of a group.
    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        if self.rest.next_if_eq(&'?').is_some() {
            if self.rest.next_if_eq(&':').is_none() {
                return Err("groups that start with (? are not supported in regular expressions".into());
            }
            self.out.push_str("?:");
        }
        Ok(())
    }

    /// A class behind its first bracket. Its characters are a class of their own in ours, because `[^a-[b]]` first takes
    /// `a` out of all characters and then `b`.
    fn class(&mut self) -> Result<(), String> {
        const EMPTY: &str = r"a class in a regular expression is empty: write \] for the character ]";
        // How many classes are open, one in the other, and whether the innermost has characters.
        let mut open = 1;
        let mut filled = false;
        self.begin();
        while let Some(character) = self.rest.next() {
            match character {
                ']' if !filled => return Err(EMPTY.into()),
                ']' => {
                    self.out.push_str("]]");
                    for left in (0..open).rev() {
                        if left == 0 {
                            return Ok(());
                        }
                        if self.rest.next_if_eq(&']').is_none() {
                            let message = "what is taken out of a class, as in [a-z-[aeiou]], ends its class";
                            return Err(message.into());
                        }
                        self.out.push(']');
                    }
                }
                '-' if self.rest.next_if_eq(&'[').is_some() => {
                    if !filled {
                        return Err(EMPTY.into());
                    }
                    self.out.push_str("]--");
                    open += 1;
                    filled = false;
                    self.begin();
                    continue;
                }
                '[' => {
                    return Err(
                        r"a class in a regular expression has [ in it: write \[ for the character".into()
                    );
                }
                '\\' => self.escape(true)?,
                // `&&`, `~~` and `--` would combine classes.
                '&' | '~' | '-' if self.rest.peek() == Some(&character) => {
                    let _ = write!(self.out, "\\{character}");
                }
                other => self.out.push(other),
            }
            filled = true;
        }
        Err("a class in a regular expression has no end: ] is missing".into())
    }

    fn begin(&mut self) {
        self.out.push_str("[[");
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
    }

    /// What follows a backslash.
    fn escape(&mut self, in_class: bool) -> Result<(), String> {
        let character = self.rest.next();
        let class = match character {
            Some('n' | 'r' | 't' | 'd' | 'D' | '\\' | '|' | '.' | '?' | '*' | '+' | '(' | ')')
            | Some('{' | '}' | '-' | '[' | ']' | '^' | '$') => {
                let _ = write!(self.out, "\\{}", character.unwrap_or('\\'));
                return Ok(());
            }
            Some(letter @ ('p' | 'P')) => return self.category(letter, in_class),
            Some('s') => r"[ \t\n\r]".to_owned(),
            Some('S') => r"[^ \t\n\r]".to_owned(),
            Some('w') => r"[^\p{P}\p{Z}\p{C}]".to_owned(),
            Some('W') => r"[\p{P}\p{Z}\p{C}]".to_owned(),
            Some('i') => format!("[{NAME_START}]"),
            Some('I') => format!("[^{NAME_START}]"),
            Some('c') => format!("[{NAME_START}{NAME_PART}]"),
            Some('C') => format!("[^{NAME_START}{NAME_PART}]"),
            Some('1'..='9') => {
                return Err("back-references are not supported: they take no linear time".into());
            }
            Some(other) => {
                return Err(format!("\\{other} is no escape in a regular expression of XPath 2.0"));
            }
            None => return Err("the regular expression ends in a backslash".into()),
        };
        self.out.push_str(&class);
        Ok(())
    }

    /// `\p{Lu}` behind its letter. The flag `i` does not change what it means.
    fn category(&mut self, letter: char, in_class: bool) -> Result<(), String> {
        let mut name = String::new();
        let mut closed = false;
        if self.rest.next_if_eq(&'{').is_some() {
            while !closed && let Some(character) = self.rest.next() {
                closed = character == '}';
                if !closed {
                    name.push(character);
                }
            }
        }
        if name.starts_with("Is") {
            return Err(format!(
                "\\{letter}{{{name}}}: blocks of Unicode are not supported in regular expressions; write a range of characters"
            ));
        }
        if !closed || !CATEGORIES.contains(&name.as_str()) {
            return Err(format!(
                "\\{letter}{{{name}}} names no category of characters, such as \\{letter}{{L}}"
            ));
        }
        let cased = matches!(&*name, "Lu" | "Ll" | "Lt");
        let _ = match (self.folded, in_class) {
            (true, true) if cased => {
                return Err(format!("\\{letter}{{{name}}} can only stand outside classes with the flag i"));
            }
            (true, false) => write!(self.out, "(?-i:\\{letter}{{{name}}})"),
            _ => write!(self.out, "\\{letter}{{{name}}}"),
        };
        Ok(())
    }
}
