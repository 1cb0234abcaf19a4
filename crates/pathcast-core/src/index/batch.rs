//! Many documents, by several threads.

use std::sync::Mutex;
use std::thread;

use crate::cancel::{self, PAUSE};
use crate::reader::{Document, DocumentError, DocumentErrorKind};

/// One result for each document, in order. Every thread takes a run, matches documents with it and puts it back; the caller
/// is one of them.
pub(super) fn match_many<T: Send, R>(
    documents: Vec<Document<'_>>,
    threads: usize,
    take: impl Fn() -> R + Sync,
    matches: impl Fn(&mut R, Document<'_>) -> Result<T, DocumentError> + Sync,
    put_back: impl Fn(R) + Sync,
) -> Vec<Result<T, DocumentError>> {
    let count = documents.len();
    if threads <= 1 || count <= 1 {
        let mut run = take();
        let results = documents
            .into_iter()
            .map(|document| if cancel::requested() { Err(lost()) } else { matches(&mut run, document) })
            .collect();
        put_back(run);
        return results;
    }
    let queue = Mutex::new(documents.into_iter().enumerate());
    // Takes documents off the queue until it is empty.
    let work = || {
        let mut run = take();
        let mut results = Vec::new();
        loop {
            if cancel::requested() {
                break;
            }
            let next = queue.lock().ok().and_then(|mut queue| queue.next());
            let Some((at, document)) = next else { break };
            results.push((at, matches(&mut run, document)));
        }
        put_back(run);
        results
    };
    let mut results: Vec<Option<_>> = Vec::new();
    results.resize_with(count, || None);
    let (watch, caller) = (cancel::shared(), thread::current());
    thread::scope(|scope| {
        let worker = || {
            let results = cancel::under(watch.for_worker(), work);
            caller.unpark();
            results
        };
        let workers: Vec<_> = (1..threads.min(count)).map(|_| scope.spawn(worker)).collect();
        let own = work();
        while workers.iter().any(|worker| !worker.is_finished()) && !cancel::requested() {
            thread::park_timeout(PAUSE);
        }
        let others = workers.into_iter().filter_map(|worker| worker.join().ok()).flatten();
        for (at, result) in own.into_iter().chain(others) {
            results[at] = Some(result);
        }
    });
    // A worker that panicked would leave holes: better to find them here than to answer for another document.
    results.into_iter().map(|result| result.unwrap_or_else(|| Err(lost()))).collect()
}

/// The answer for a document whose worker died.
fn lost() -> DocumentError {
    let reason = "matching stopped on an internal error".into();
    DocumentError { kind: DocumentErrorKind::Io, reason, line: 0, column: 0 }
}
