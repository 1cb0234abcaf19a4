//! Lines and columns, counted only as far as somebody asks.
//!
//! Positions are counted in the clean text (UTF-8, line ends normalised): a line feed starts a line, and a column is a
//! character. A document in memory is counted once, when an error needs it. A stream is counted token by token while it
//! passes, because it cannot be looked at again.

/// A place between two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: u64,
    pub(super) column: u64,
}

impl Position {
    pub(super) const START: Self = Self { line: 1, column: 1 };

    /// Goes past a piece of clean text; a piece may end inside a character.
    pub(super) fn advance(&mut self, text: &[u8]) {
        let tail = match memchr::memrchr(b'\n', text) {
            Some(last) => {
                self.line += memchr::memchr_iter(b'\n', text).count() as u64;
                self.column = 1;
                &text[last + 1..]
            }
            None => text,
        };
        // every byte but a continuation byte starts a character
        self.column += tail.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_characters_not_bytes() {
        let mut position = Position::START;
        position.advance("a\nbé\n日本x".as_bytes());
        assert_eq!(position, Position { line: 3, column: 4 });
    }
}
