//! Any engine as an index runs it: one call for each document, and none of them for a tag.
//!
//! The loop over the tags of a document is compiled for each engine; only the way into it goes through a table.

use std::any::Any;

use super::answer::Decided;
use super::matching::{Scratch, Subscribed, match_document};
use crate::engine::{AnyEngine, CacheStats, Engine};
use crate::reader::{Document, DocumentError};

/// An engine that an index can run. Every [`Engine`] is one.
pub trait Hosted: AnyEngine + Any + Send + Sync {
    /// See [`Engine::new_run`].
    fn new_run(&self, cache_bytes: usize) -> Box<dyn Any + Send>;

    /// The expressions that a document satisfies. A run of another engine gives none.
    ///
    /// # Errors
    /// The document is refused.
    fn match_document(
        &self,
        run: &mut dyn Any,
        scratch: &mut Scratch,
        subscribed: Subscribed<'_>,
        document: Document<'_>,
    ) -> Result<Decided, DocumentError>;

    /// What the run's cache, if it has one, did.
    fn cache_stats(&self, run: &dyn Any) -> CacheStats;
}

impl<E: Engine> Hosted for E {
    fn new_run(&self, cache_bytes: usize) -> Box<dyn Any + Send> {
        Box::new(Engine::new_run(self, cache_bytes))
    }

    fn match_document(
        &self,
        run: &mut dyn Any,
        scratch: &mut Scratch,
        subscribed: Subscribed<'_>,
        document: Document<'_>,
    ) -> Result<Decided, DocumentError> {
        match run.downcast_mut::<E::Run>() {
            Some(run) => match_document(subscribed, self, run, scratch, document),
            None => Ok(Decided::default()),
        }
    }

    fn cache_stats(&self, run: &dyn Any) -> CacheStats {
        let run = run.downcast_ref::<E::Run>();
        let stats = run.and_then(|run| Some(self.capabilities().cache?.stats(run)));
        stats.unwrap_or_default()
    }
}
