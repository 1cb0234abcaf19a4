//! The engine that chooses: remembered states where they pay, the shared automaton where they do not.
//!
//! **Idea.** One automaton, two ways to run it. [`choose`] looks at the set, [`choice`] at what the documents so far
//! did with the cache. A document goes one way from its beginning to its end, so changing costs nothing: nothing is
//! built twice, and nothing is rebuilt when the choice changes.
//!
//! **Invariants.** The answer does not depend on the way. Every choice and every give-up is counted and told.
//!
//! **Cost.** One branch a tag above the engine that was chosen, and one decision a document.

mod choice;
mod profile;

pub use choice::{Choice, Way, choose};
pub use profile::Profile;

use super::lazy_dfa::{self, LazyDfa};
use super::yfilter;
use super::{Cache, CacheStats, Capabilities, Describe, Engine, Found, PathId};
use crate::names::Resolved;
use crate::pattern::LinearPath;
use choice::{Judge, Work};

/// The automaton, and what its paths are like.
#[derive(Clone, Debug, Default)]
pub struct Auto {
    engine: LazyDfa,
    profile: Profile,
}

/// Both ways to run it, and what decides between them.
pub struct Run {
    cached: lazy_dfa::Run,
    shared: yfilter::Run,
    cache_bytes: usize,
    way: Way,
    judge: Judge,
    tags: u64,
    /// The version of the automaton that the last document saw.
    seen: Option<u64>,
    cached_documents: u64,
    shared_documents: u64,
}

impl Run {
    fn new(cache_bytes: usize) -> Self {
        Self {
            cached: lazy_dfa::Run::with_budget(cache_bytes),
            shared: yfilter::Run::default(),
            cache_bytes,
            way: Way::Nothing,
            judge: Judge::default(),
            tags: 0,
            seen: None,
            cached_documents: 0,
            shared_documents: 0,
        }
    }

    fn work(&self) -> Work {
        Work { tags: self.tags, missed: self.cached.missed(), full: self.cached.times_full() }
    }
}

impl Engine for Auto {
    type Run = Run;

    fn new_run(&self, cache_bytes: usize) -> Run {
        Run::new(cache_bytes)
    }

    fn insert(&mut self, path: &LinearPath, id: PathId) {
        self.engine.insert(path, id);
        self.profile.add(path);
    }

    fn remove(&mut self, path: &LinearPath, id: PathId) {
        self.engine.remove(path, id);
        self.profile.remove(path);
    }

    fn begin(&self, run: &mut Run) {
        run.way = choose(&self.profile, run.cache_bytes).way;
        if run.way == Way::Cached {
            let changed = self.engine.changed_since(run.seen).is_none();
            run.seen = Some(self.engine.version());
            run.way = run.judge.next(run.work(), changed);
        }
        match run.way {
            Way::Nothing => {}
            Way::Shared => {
                run.shared_documents += 1;
                self.engine.automaton().begin(&mut run.shared);
            }
            Way::Cached => {
                run.cached_documents += 1;
                self.engine.begin(&mut run.cached);
            }
        }
    }

    #[inline]
    fn start(&self, run: &mut Run, element: Resolved, attributes: &[Resolved], found: &mut Found) {
        match run.way {
            Way::Cached => {
                run.tags += 1;
                self.engine.start(&mut run.cached, element, attributes, found);
            }
            Way::Shared => self.engine.automaton().start(&mut run.shared, element, attributes, found),
            Way::Nothing => {}
        }
    }

    #[inline]
    fn end(&self, run: &mut Run) {
        match run.way {
            Way::Cached => self.engine.end(&mut run.cached),
            Way::Shared => self.engine.automaton().end(&mut run.shared),
            Way::Nothing => {}
        }
    }

    fn finish(&self, run: &mut Run, found: &mut Found) {
        if run.way == Way::Cached {
            self.engine.finish(&mut run.cached, found);
        }
    }

    #[inline]
    fn capabilities(&self) -> Capabilities<'_, Run> {
        Capabilities { cache: Some(self), describe: Some(self), ..Capabilities::default() }
    }

    fn settle(&mut self) {
        self.engine.settle();
    }

    fn wants_attributes(&self) -> bool {
        self.engine.wants_attributes()
    }

    fn memory_bytes(&self) -> usize {
        self.engine.memory_bytes()
    }
}

impl Cache<Run> for Auto {
    fn signature<'r>(&self, run: &'r mut Run) -> Option<&'r [u32]> {
        match run.way {
            Way::Cached => self.engine.signature(&mut run.cached),
            Way::Shared => None,
            Way::Nothing => Some(&[]),
        }
    }

    fn paths(&self, run: &Run, number: u32, paths: &mut Vec<PathId>) {
        self.engine.paths(&run.cached, number, paths);
    }

    fn stats(&self, run: &Run) -> CacheStats {
        CacheStats {
            cached_documents: run.cached_documents,
            shared_documents: run.shared_documents,
            rests: run.judge.rests,
            ..self.engine.stats(&run.cached)
        }
    }
}

impl Describe for Auto {
    fn choice(&self, cache_bytes: usize) -> Option<(Choice, Profile)> {
        Some((choose(&self.profile, cache_bytes), self.profile))
    }
}
