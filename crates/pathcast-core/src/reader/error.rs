//! Why a document was refused, and where.

use std::fmt;

/// What kind of refusal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentErrorKind {
    /// Not well-formed XML 1.0 with namespaces.
    Malformed,
    /// An encoding that is unknown, or bytes that are not in it.
    Encoding,
    /// An entity declaration or a reference to an entity that is not predefined.
    Entity,
    /// Deeper, wider or longer than a limit.
    Limit,
    /// The source could not be read.
    Io,
}

/// A document that was refused; nothing it seemed to match counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentError {
    /// What kind of refusal it is.
    pub kind: DocumentErrorKind,
    /// A sentence that says what is wrong.
    pub reason: String,
    /// The line, from 1.
    pub line: u64,
    /// The column in characters, from 1.
    pub column: u64,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.reason)
    }
}

impl std::error::Error for DocumentError {}
