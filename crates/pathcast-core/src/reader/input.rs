//! Where a document comes from.

use std::io::{self, Read};
use std::path::Path;

use super::Reader;
use super::error::{DocumentError, DocumentErrorKind};
use super::markup::KEPT_BYTES;
use super::sink::Sink;

/// Bytes below which a document of a stream is read at once.
const SHORT: usize = 64 << 10;

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
            Self::Stream(stream) => read_source(stream, SHORT, reader, sink),
            Self::File(path) => {
                let file = std::fs::File::open(path).map_err(|error| unreadable(&error))?;
                read_source(file, KEPT_BYTES, reader, sink)
            }
        }
    }
}

/// Reads from a source. A document that ends within some bytes is read as one in memory, which is two to three times as
/// fast as in pieces.
fn read_source<R: Read>(
    mut source: R,
    within: usize,
    reader: &mut Reader,
    sink: &mut impl Sink,
) -> Result<(), DocumentError> {
    let mut head = std::mem::take(&mut reader.head);
    if head.len() < within {
        head.resize(within, 0);
    }
    let mut end = 0;
    let rest = loop {
        if end == within {
            break Some(Rest::Source(source));
        }
        match source.read(&mut head[end..within]) {
            Ok(0) => break None,
            Ok(count) => end += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Some(Rest::Broken(Some(error))),
        }
    };
    let result = match rest {
        None => reader.read_bytes(&head[..end], sink),
        Some(rest) => reader.read_stream(head[..end].chain(rest), sink),
    };
    reader.head = head;
    result
}

/// What is behind the first bytes of a source.
enum Rest<R> {
    Source(R),
    /// An error, told once.
    Broken(Option<io::Error>),
}

impl<R: Read> Read for Rest<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Source(source) => source.read(out),
            Self::Broken(error) => error.take().map_or(Ok(0), Err),
        }
    }
}

fn unreadable(error: &io::Error) -> DocumentError {
    let reason = format!("the document cannot be read: {error}");
    DocumentError { kind: DocumentErrorKind::Io, reason, line: 0, column: 0 }
}
