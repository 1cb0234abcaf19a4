//! The nodes that subscriptions select: the class `Node`.

use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;

use pathcast_core::reader::{Document, DocumentError, DocumentErrorKind};
use pathcast_core::select::{Given, Picture};
use pathcast_core::twig::Ref;
use pyo3::prelude::*;

/// One node of a document: where it is, and its text. Nothing is computed until somebody asks.
#[pyclass(module = "pathcast._core", frozen)]
pub(crate) struct Node {
    picture: Arc<Picture>,
    node: Ref,
}

impl Node {
    pub(crate) fn new(picture: &Arc<Picture>, node: Ref) -> Self {
        Self { picture: Arc::clone(picture), node }
    }
}

#[pymethods]
impl Node {
    /// The path that leads to it and to no other, as in `/a[1]/b[2]/@x`.
    #[getter]
    fn path(&self) -> String {
        self.picture.path(self.node)
    }

    /// The line where it starts, from 1.
    #[getter]
    fn line(&self) -> usize {
        self.picture.position(self.node).0
    }

    /// The column where it starts, in characters from 1.
    #[getter]
    fn column(&self) -> usize {
        self.picture.position(self.node).1
    }

    /// From where to where it is in the bytes that were given.
    #[getter]
    fn span(&self) -> (usize, usize) {
        self.picture.span(self.node)
    }

    /// Its string-value.
    #[getter]
    fn text(&self) -> &str {
        self.picture.text(self.node)
    }

    fn __repr__(&self) -> String {
        format!("<Node {}>", self.picture.path(self.node))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.path() == other.path() && self.span() == other.span() && self.text() == other.text()
    }

    fn __hash__(&self) -> u64 {
        let (start, end) = self.span();
        (start as u64) << 32 ^ end as u64
    }
}

/// All of a document: files and streams are read to their end, as far as the limit on documents goes.
pub(crate) fn given<'a>(document: Document<'a>, limit: u64) -> Result<Given<'a>, DocumentError> {
    let unreadable = |error: std::io::Error| DocumentError {
        kind: DocumentErrorKind::Io,
        reason: format!("the document cannot be read: {error}"),
        line: 0,
        column: 0,
    };
    let all = |source: &mut dyn Read| {
        let mut bytes = Vec::new();
        // One byte more than the limit, so that the reader refuses what is longer.
        source.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(Given::Bytes(Cow::Owned(bytes)))
    };
    match document {
        Document::Bytes(bytes) => Ok(Given::Bytes(Cow::Borrowed(bytes))),
        Document::Text(text) => Ok(Given::Text(text)),
        Document::File(path) => all(&mut std::fs::File::open(path).map_err(unreadable)?),
        Document::Stream(stream) => all(stream),
    }
}
