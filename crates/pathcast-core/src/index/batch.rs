//! Many documents, by several threads.

use std::io::Read;
use std::path::Path;
use std::sync::Mutex;

use super::{Index, Matches};
use crate::reader::DocumentError;

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
        results.into_iter().map(|result| result.unwrap_or_else(|| Err(super::matching::lost()))).collect()
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
