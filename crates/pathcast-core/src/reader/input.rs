//! Where a document comes from.

use std::io::{self, Read};
use std::path::Path;

use super::Reader;
use super::error::{DocumentError, DocumentErrorKind};
use super::sink::Sink;

/// Where a document comes from.
pub enum Document<'a> {
    /// Bytes in an encoding that they name themselves.
    Bytes(&'a [u8]),
    /// Text that is decoded already.
    Text(&'a str),
    /// A file.
    File(&'a Path),
    /// Anything that can be read.
    Stream(&'a mut (dyn Read + Send)),
}

impl Document<'_> {
    /// Reads the document.
    ///
    /// # Errors
    /// It cannot be read, or is refused.
    pub fn read(self, reader: &mut Reader, sink: &mut impl Sink) -> Result<(), DocumentError> {
        match self {
            Self::Bytes(bytes) => reader.read_bytes(bytes, sink),
            Self::Text(text) => reader.read_str(text, sink),
            Self::Stream(stream) => reader.read_stream(stream, sink),
            Self::File(path) => {
                let file = std::fs::File::open(path).map_err(|error| unreadable(&error))?;
                reader.read_stream(file, sink)
            }
        }
    }
}

fn unreadable(error: &io::Error) -> DocumentError {
    let reason = format!("the document cannot be read: {error}");
    DocumentError { kind: DocumentErrorKind::Io, reason, line: 0, column: 0 }
}
