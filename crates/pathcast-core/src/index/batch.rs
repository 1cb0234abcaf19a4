//! Many documents, by several threads.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Mutex;

use super::{Index, Matches};
use crate::reader::{DocumentError, DocumentErrorKind, Reader, Sink};

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

/// The answer for a document whose worker died.
fn lost() -> DocumentError {
    let reason = "matching stopped on an internal error".into();
    DocumentError { kind: DocumentErrorKind::Io, reason, line: 0, column: 0 }
}

impl Index {
    /// One result for each document, in order; a bad one does not affect its neighbours.
    pub fn match_many(
        &self,
        documents: Vec<Document<'_>>,
        threads: usize,
    ) -> Vec<Result<Matches, DocumentError>> {
        let count = documents.len();
        if threads <= 1 || count <= 1 {
            let mut run = self.run();
            let results =
                documents.into_iter().map(|document| self.matches_with(&mut run, document)).collect();
            self.put_back(run);
            return results;
        }
        let queue = Mutex::new(documents.into_iter().enumerate());
        let mut results: Vec<Option<_>> = Vec::new();
        results.resize_with(count, || None);
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                (0..threads.min(count)).map(|_| scope.spawn(|| self.work(&queue))).collect();
            for (at, result) in workers.into_iter().filter_map(|worker| worker.join().ok()).flatten() {
                results[at] = Some(result);
            }
        });
        // A worker that panicked would leave holes: better to find them here than to answer for another document.
        results.into_iter().map(|result| result.unwrap_or_else(|| Err(lost()))).collect()
    }

    /// Takes documents off the queue until it is empty.
    fn work<'d>(
        &self,
        queue: &Mutex<impl Iterator<Item = (usize, Document<'d>)>>,
    ) -> Vec<(usize, Result<Matches, DocumentError>)> {
        let mut run = self.run();
        let mut results = Vec::new();
        loop {
            let next = queue.lock().ok().and_then(|mut queue| queue.next());
            let Some((at, document)) = next else { break };
            results.push((at, self.matches_with(&mut run, document)));
        }
        self.put_back(run);
        results
    }
}
