//! How documents are matched: a run for each thread, reused from one document to the next.
//!
//! **Invariants.** What changes while documents are matched is in a run and nowhere else. A run belongs to one engine
//! and one amount of room; one with other room is not used again.

use std::any::Any;
use std::sync::Mutex;

use super::hosted::Hosted;
use super::matching::Scratch;
use super::settings::Settings;
use crate::engine::CacheStats;
use crate::reader::Reader;

/// Bytes of cache that a thread gets at least.
const LEAST: usize = 64 << 20;
/// About half of what a subscription takes.
const EACH: usize = 128;
/// A run that one huge document made larger than this is not kept for the next.
const KEPT_BYTES: usize = 64 << 20;

/// All that changes while documents are matched; one for each thread.
pub(super) struct Run {
    cache_bytes: usize,
    pub(super) engine: Box<dyn Any + Send>,
    pub(super) scratch: Scratch,
}

/// The runs that are not at work.
#[derive(Default)]
pub(super) struct Runs {
    idle: Mutex<Vec<Run>>,
}

impl Runs {
    /// A run with so much room for caches.
    pub(super) fn take(&self, engine: &dyn Hosted, settings: &Settings, cache_bytes: usize) -> Run {
        let pooled = self.idle.lock().ok().and_then(|mut runs| runs.pop());
        pooled.filter(|run| run.cache_bytes == cache_bytes).unwrap_or_else(|| Run {
            cache_bytes,
            engine: engine.new_run(cache_bytes),
            scratch: Scratch::new(Reader::with_entities(settings.limits.clone(), settings.entities.clone())),
        })
    }

    pub(super) fn put_back(&self, mut run: Run) {
        if run.scratch.decision.document_bytes() > KEPT_BYTES {
            run.scratch.decision = Default::default();
        }
        if let Ok(mut runs) = self.idle.lock() {
            runs.push(run);
        }
    }

    /// What they keep: the engine's caches, the bytes of remembered answers, and those of everything else.
    pub(super) fn cache_stats(&self, engine: &dyn Hosted) -> (CacheStats, usize, usize) {
        let mut total = CacheStats::default();
        let (mut remembered, mut scratch) = (0, 0);
        if let Ok(runs) = self.idle.lock() {
            for run in runs.iter() {
                let stats = engine.cache_stats(&*run.engine);
                total.states += stats.states;
                total.bytes += stats.bytes;
                total.clears += stats.clears;
                total.loose_steps += stats.loose_steps;
                total.cached_documents += stats.cached_documents;
                total.shared_documents += stats.shared_documents;
                total.keyed_documents += stats.keyed_documents;
                total.rests += stats.rests;
                remembered += run.scratch.knowledge.bytes();
                scratch += run.scratch.decision.memory_bytes();
            }
        }
        (total, remembered, scratch)
    }
}

/// Bytes that the caches of one thread may hold, unless told. With more subscriptions the same sets of states are
/// larger, so room that does not grow with them is one day too small. It doubles, and seldom: a run with other room
/// starts anew.
pub(super) fn room(expressions: usize) -> usize {
    (expressions * EACH).next_power_of_two().max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::{LEAST, room};

    #[test]
    fn room_grows_with_the_subscriptions() {
        assert_eq!(room(0), LEAST);
        assert_eq!(room(500_000), LEAST);
        assert_eq!(room(600_000), 2 * LEAST);
        assert_eq!(room(1_000_000), 2 * LEAST);
        assert_eq!(room(10_000_000), 32 * LEAST);
    }
}
