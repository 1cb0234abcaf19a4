//! The tokens of XPath 1.0, pulled one at a time.
//!
//! The idea: XPath has no reserved words, so what `*` or `and` means depends on the token before it. After an
//! operand (a name, a literal, `)`, `]`, `.` …) a `*` multiplies and a name must be `and`, `or`, `div` or
//! `mod`; elsewhere both are node tests. A name in front of `(` is a function or a node type, in front of
//! `::` an axis. One flag and a look at the bytes that follow decide, so there is no list of tokens and no
//! way back.
//!
//! Invariants: tokens borrow from the source and start at character boundaries; after [`Kind::End`] comes
//! `End` again. Cost: linear in the source, nothing is allocated unless an error is.

use super::error::{XPathError, XPathErrorKind};
use super::refusals;
use crate::chars::end_of_name;
use crate::values::number::scan_decimal;

/// The error is boxed inside the parser: it is rare, and every result on the stack of a deep recursion is
/// smaller.
pub(super) type Parsed<T> = Result<T, Box<XPathError>>;

/// A token and the byte where it starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub kind: Kind<'a>,
    pub start: usize,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind<'a> {
    End,
    Slash,
    DoubleSlash,
    Dot,
    DoubleDot,
    At,
    Comma,
    OpenParenthesis,
    CloseParenthesis,
    OpenBracket,
    CloseBracket,
    Pipe,
    Plus,
    Minus,
    Multiply,
    Div,
    Mod,
    And,
    Or,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    /// `*` as a node test.
    Star,
    /// `prefix:*`
    Namespace(&'a str),
    /// `local` or `prefix:local`
    Name(Option<&'a str>, &'a str),
    /// `name` in front of `::`, which is part of the token.
    Axis(&'a str),
    /// `node`, `text`, `comment` or `processing-instruction` in front of `(`.
    NodeType(&'a str),
    /// Any other name in front of `(`.
    Function(Option<&'a str>, &'a str),
    Variable(&'a str),
    Literal(&'a str),
    Number(f64),
}

impl Kind<'_> {
    /// Whether an operator, not an operand, must follow.
    fn ends_operand(self) -> bool {
        matches!(
            self,
            Self::Dot
                | Self::DoubleDot
                | Self::CloseParenthesis
                | Self::CloseBracket
                | Self::Star
                | Self::Namespace(_)
                | Self::Name(..)
                | Self::Variable(_)
                | Self::Literal(_)
                | Self::Number(_)
        )
    }
}

/// The reader of tokens; `end` is where the token pulled last ends.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    pub source: &'a str,
    pub end: usize,
    after_operand: bool,
    ascii: bool,
    /// A byte offset and its column, to count on from.
    counted: (usize, usize),
}

impl<'a> Tokens<'a> {
    pub fn new(source: &'a str) -> Self {
        Self { source, end: 0, after_operand: false, ascii: source.is_ascii(), counted: (0, 1) }
    }

    /// The column in characters from 1 of a byte offset. Asked for ascending offsets it counts each character
    /// once.
    pub fn column(&mut self, offset: usize) -> usize {
        if self.ascii {
            return offset + 1;
        }
        if offset < self.counted.0 {
            self.counted = (0, 1);
        }
        let (from, column) = self.counted;
        self.counted = (offset, column + self.source[from..offset].chars().count());
        self.counted.1
    }

    /// A syntax error at a byte offset.
    pub fn syntax(&mut self, offset: usize, message: String) -> Box<XPathError> {
        Box::new(XPathError { kind: XPathErrorKind::Syntax, message, column: self.column(offset) })
    }

    pub fn next(&mut self) -> Parsed<Token<'a>> {
        let start = self.skip_space(self.end);
        let bytes = self.source.as_bytes();
        let (kind, length) = match &bytes[start..] {
            [] => (Kind::End, 0),
            [b'/', b'/', ..] => (Kind::DoubleSlash, 2),
            [b'/', ..] => (Kind::Slash, 1),
            [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => self.number(start)?,
            [b'.', b'.', ..] => (Kind::DoubleDot, 2),
            [b'.', ..] => (Kind::Dot, 1),
            [b'@', ..] => (Kind::At, 1),
            [b',', ..] => (Kind::Comma, 1),
            [b'(', ..] => (Kind::OpenParenthesis, 1),
            [b')', ..] => (Kind::CloseParenthesis, 1),
            [b'[', ..] => (Kind::OpenBracket, 1),
            [b']', ..] => (Kind::CloseBracket, 1),
            [b'=', b'=', ..] => return Err(self.foreign_character(start + 1)),
            [b'|', ..] => (Kind::Pipe, 1),
            [b'+', ..] => (Kind::Plus, 1),
            [b'-', ..] => (Kind::Minus, 1),
            [b'=', ..] => (Kind::Equal, 1),
            [b'!', b'=', ..] => (Kind::NotEqual, 2),
            [b'<', b'=', ..] => (Kind::LessEqual, 2),
            [b'<', ..] => (Kind::Less, 1),
            [b'>', b'=', ..] => (Kind::GreaterEqual, 2),
            [b'>', ..] => (Kind::Greater, 1),
            [b'*', ..] if self.after_operand => (Kind::Multiply, 1),
            [b'*', b':', ..] => {
                let (message, column) = (refusals::ANY_NAMESPACE.into(), self.column(start));
                return Err(Box::new(XPathError { kind: XPathErrorKind::Unsupported, message, column }));
            }
            [b'*', ..] => (Kind::Star, 1),
            [b'\'' | b'"', ..] => self.literal(start)?,
            [b'$', ..] => {
                let (_, _, end) = self.qualified_name(start + 1)?;
                (Kind::Variable(&self.source[start..end]), end - start)
            }
            _ => self.name(start)?,
        };
        self.end = start + length;
        self.after_operand = kind.ends_operand();
        Ok(Token { kind, start })
    }

    fn skip_space(&self, mut at: usize) -> usize {
        let bytes = self.source.as_bytes();
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = bytes.get(at) {
            at += 1;
        }
        at
    }

    fn number(&mut self, start: usize) -> Parsed<(Kind<'a>, usize)> {
        let bytes = &self.source.as_bytes()[start..];
        let (value, length) = scan_decimal(bytes).unwrap_or((0.0, 1));
        if let [b'e' | b'E', b'0'..=b'9' | b'+' | b'-', ..] = &bytes[length..] {
            let message = "a number has no exponent in XPath 1.0: write its digits out".into();
            return Err(self.syntax(start + length, message));
        }
        Ok((Kind::Number(value), length))
    }

    fn literal(&mut self, start: usize) -> Parsed<(Kind<'a>, usize)> {
        let bytes = self.source.as_bytes();
        let quote = bytes[start];
        let Some(length) = memchr::memchr(quote, &bytes[start + 1..]) else {
            let message = format!("the literal that starts here has no closing {}", char::from(quote));
            return Err(self.syntax(start, message));
        };
        let text = &self.source[start + 1..start + 1 + length];
        // No document holds such a character; libxml2 refuses it as well.
        let foreign = text.char_indices().find(|(_, character)| {
            matches!(character, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}')
        });
        if let Some((at, character)) = foreign {
            let message = format!("the character U+{:04X} cannot occur in XML", u32::from(character));
            return Err(self.syntax(start + 1 + at, message));
        }
        Ok((Kind::Literal(text), length + 2))
    }

    fn name(&mut self, start: usize) -> Parsed<(Kind<'a>, usize)> {
        if self.after_operand {
            let end = end_of_name(self.source, start);
            let kind = match &self.source[start..end] {
                "and" => Kind::And,
                "or" => Kind::Or,
                "div" => Kind::Div,
                "mod" => Kind::Mod,
                "" => return Err(self.foreign_character(start)),
                other => {
                    if let Some(message) = refusals::operator(other) {
                        let column = self.column(start);
                        return Err(Box::new(XPathError {
                            kind: XPathErrorKind::Unsupported,
                            message,
                            column,
                        }));
                    }
                    let message = format!("expected an operator, found {}", quoted(other));
                    return Err(self.syntax(start, message));
                }
            };
            return Ok((kind, end - start));
        }
        let (prefix, local, end) = self.qualified_name(start)?;
        let bytes = self.source.as_bytes();
        let next = self.skip_space(end);
        let kind = match (prefix, &bytes[next..]) {
            (Some(prefix), _) if local == "*" => Kind::Namespace(prefix),
            (None, [b':', b':', ..]) => return Ok((Kind::Axis(local), next + 2 - start)),
            (None, [b'(', ..]) if matches!(local, "node" | "text" | "comment" | "processing-instruction") => {
                Kind::NodeType(local)
            }
            (_, [b'(', ..]) => Kind::Function(prefix, local),
            _ => Kind::Name(prefix, local),
        };
        Ok((kind, end - start))
    }

    /// Prefix, local part (perhaps `*`) and end of the qualified name at `start`.
    fn qualified_name(&mut self, start: usize) -> Parsed<(Option<&'a str>, &'a str, usize)> {
        let source = self.source;
        let first = end_of_name(source, start);
        if first == start {
            return Err(self.foreign_character(start));
        }
        let name = &source[start..first];
        let bytes = source.as_bytes();
        match &bytes[first..] {
            [b':', b':', ..] => Ok((None, name, first)),
            [b':', b'*', ..] => Ok((Some(name), "*", first + 2)),
            [b':', ..] => {
                let end = end_of_name(source, first + 1);
                if end == first + 1 {
                    let message = format!("a name or * must follow {}", quoted(&source[start..=first]));
                    return Err(self.syntax(end, message));
                }
                Ok((Some(name), &source[first + 1..end], end))
            }
            _ => Ok((None, name, first)),
        }
    }

    fn foreign_character(&mut self, at: usize) -> Box<XPathError> {
        let message = match self.source[at..].chars().next() {
            Some(character) => match refusals::sign(character) {
                Some(hint) => hint.into(),
                None => format!("no token of XPath starts with {character:?}"),
            },
            None => "a name is missing at the end".into(),
        };
        self.syntax(at, message)
    }
}

/// A piece of the source as an error message shows it: in back quotes, and cut if it is long.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}…`", text[..end].escape_debug()),
        None => format!("`{}`", text.escape_debug()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(source: &str) -> Vec<Kind<'_>> {
        let mut tokens = Tokens::new(source);
        let mut kinds = Vec::new();
        loop {
            match tokens.next().unwrap().kind {
                Kind::End => return kinds,
                kind => kinds.push(kind),
            }
        }
    }

    #[test]
    fn a_star_multiplies_only_after_an_operand() {
        assert_eq!(kinds("* * *"), [Kind::Star, Kind::Multiply, Kind::Star]);
        assert_eq!(kinds("@*"), [Kind::At, Kind::Star]);
        assert_eq!(kinds("p:* * /*"), [Kind::Namespace("p"), Kind::Multiply, Kind::Slash, Kind::Star]);
    }

    #[test]
    fn operator_names_are_names_where_an_operand_is_expected() {
        let name = |local| Kind::Name(None, local);
        assert_eq!(kinds("and and or"), [name("and"), Kind::And, name("or")]);
        assert_eq!(kinds("/or or div"), [Kind::Slash, name("or"), Kind::Or, name("div")]);
        assert_eq!(kinds("a mod(b)")[1], Kind::Mod);
        assert_eq!(kinds("mod(b)")[0], Kind::Function(None, "mod"));
    }

    #[test]
    fn what_follows_a_name_decides() {
        assert_eq!(kinds("text ()")[0], Kind::NodeType("text"));
        assert_eq!(kinds("text"), [Kind::Name(None, "text")]);
        assert_eq!(kinds("child :: a"), [Kind::Axis("child"), Kind::Name(None, "a")]);
        assert_eq!(kinds("p:text()")[0], Kind::Function(Some("p"), "text"));
        assert_eq!(kinds("a-b.c"), [Kind::Name(None, "a-b.c")]);
        assert_eq!(kinds("$p:x"), [Kind::Variable("$p:x")]);
    }

    #[test]
    fn numbers_and_dots_are_told_apart() {
        assert_eq!(kinds(".5"), [Kind::Number(0.5)]);
        assert_eq!(kinds("5."), [Kind::Number(5.0)]);
        assert_eq!(kinds(". .."), [Kind::Dot, Kind::DoubleDot]);
        assert_eq!(kinds("1or 2"), [Kind::Number(1.0), Kind::Or, Kind::Number(2.0)]);
    }

    #[test]
    fn columns_count_characters_in_any_order() {
        let mut tokens = Tokens::new("'äö'/ü");
        assert_eq!(tokens.column(7), 6);
        assert_eq!(tokens.column(1), 2);
        assert_eq!(tokens.column(9), 7);
        assert_eq!(Tokens::new("abc").column(3), 4);
    }
}
