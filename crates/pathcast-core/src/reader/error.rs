//! Why a document was refused, and where.

use std::fmt;

use crate::chars::quoted;

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
    /// Well-formed, but not what the schema allows.
    Invalid,
    /// The source could not be read.
    Io,
    /// The caller no longer wants an answer.
    Cancelled,
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

impl DocumentError {
    /// Nobody waits for the answer any more.
    #[cold]
    pub(crate) fn cancelled() -> Self {
        let reason = "reading was ended by the caller".into();
        Self { kind: DocumentErrorKind::Cancelled, reason, line: 0, column: 0 }
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.reason)
    }
}

impl std::error::Error for DocumentError {}

/// A refusal on its way out: what is wrong, and how many bytes after the start of the token.
///
/// Boxed, so that the result of every check is one word and costs nothing while all is well.
#[derive(Clone, Debug)]
pub(super) struct Fault(Box<FaultParts>);

#[derive(Clone, Debug)]
struct FaultParts {
    kind: DocumentErrorKind,
    reason: String,
    at: usize,
}

impl Fault {
    /// The fault in the text of an entity: it is where the reference is, and says which entity.
    #[cold]
    pub(super) fn within(mut self, entity: &str) -> Self {
        const MARK: &str = "in the entity ";
        self.0.at = 0;
        if !self.0.reason.starts_with(MARK) && self.0.kind == DocumentErrorKind::Malformed {
            self.0.reason = format!("{MARK}\"{}\": {}", quoted(entity), self.0.reason);
        }
        self
    }

    #[cold]
    pub(super) fn cancelled() -> Self {
        Self::new(DocumentErrorKind::Cancelled, 0, "reading was ended by the caller")
    }

    #[cold]
    pub(super) fn new(kind: DocumentErrorKind, at: usize, reason: impl Into<String>) -> Self {
        Self(Box::new(FaultParts { kind, reason: reason.into(), at }))
    }

    #[cold]
    pub(super) fn malformed(at: usize, reason: impl Into<String>) -> Self {
        Self::new(DocumentErrorKind::Malformed, at, reason)
    }

    #[cold]
    pub(super) fn encoding(at: usize, reason: impl Into<String>) -> Self {
        Self::new(DocumentErrorKind::Encoding, at, reason)
    }

    #[cold]
    pub(super) fn entity(at: usize, reason: impl Into<String>) -> Self {
        Self::new(DocumentErrorKind::Entity, at, reason)
    }

    #[cold]
    pub(super) fn limit(at: usize, reason: impl Into<String>) -> Self {
        Self::new(DocumentErrorKind::Limit, at, reason)
    }

    /// How many bytes after the start of the token the trouble is.
    pub(super) fn at(&self) -> usize {
        self.0.at
    }

    /// The same fault, seen from a token that starts `by` bytes earlier.
    pub(super) fn later(mut self, by: usize) -> Self {
        self.0.at += by;
        self
    }

    /// The error to hand out, now that its place is known.
    pub(super) fn placed(self, line: u64, column: u64) -> DocumentError {
        DocumentError { kind: self.0.kind, reason: self.0.reason, line, column }
    }
}
