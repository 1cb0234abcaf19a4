//! The lazy DFA: the automaton of [`super::yfilter`] made deterministic where documents go.
//!
//! **Problem.** YFilter pays at every start tag for every active state; with many `//` thousands are active. A
//! deterministic automaton pays for one, but all of its states are too many to build. **Idea** (Green and others,
//! "Processing XML Streams with Deterministic Automata"): build a state when a document first reaches it. A state is a
//! set of active states; documents of a feed reach few, again and again.
//!
//! **Data.** The nondeterministic automaton is immutable and shared. What is built lies in the run, one for each
//! thread: sets by content, transitions `(state, name) -> (state, accepted)`, and the accepted path sets, each stored
//! once. Names that no subscription uses are one name.
//!
//! **Budget.** Bytes are counted as the cache grows. When they are used up, the rest of the document steps on sets that
//! are not kept; the cache is emptied before the next document. It is never emptied while a document is open, because
//! every open element stands on a state. The answer does not depend on any of this.
//!
//! **Signature.** A document is answered by the sets of paths it met. The numbers of those sets are its signature:
//! documents with equal signatures have equal answers, which the index remembers.

mod accepted;
mod cache;
mod run;
mod transitions;

pub use run::Run;

use super::yfilter::YFilter;
use super::{Cache, CacheStats, Capabilities, Engine, Found, PathId};
use crate::names::Resolved;
use crate::pattern::LinearPath;

/// The shared part: the automaton that is made deterministic.
#[derive(Clone, Debug, Default)]
pub struct LazyDfa {
    automaton: YFilter,
    /// Counts changes, so that a run notices that its cache is of another automaton.
    version: u64,
}

impl LazyDfa {
    /// The automaton that is made deterministic.
    pub(super) fn automaton(&self) -> &YFilter {
        &self.automaton
    }

    /// Changes whenever paths come or go.
    pub(super) fn version(&self) -> u64 {
        self.version
    }
}

impl Engine for LazyDfa {
    type Run = Run;

    fn insert(&mut self, path: &LinearPath, id: PathId) {
        self.automaton.insert(path, id);
        self.version += 1;
    }

    fn remove(&mut self, path: &LinearPath, id: PathId) {
        self.automaton.remove(path, id);
        self.version += 1;
    }

    fn begin(&self, run: &mut Run) {
        run.begin(&self.automaton, self.version);
    }

    #[inline]
    fn start(&self, run: &mut Run, element: Resolved, attributes: &[Resolved], found: &mut Found) {
        run.start(&self.automaton, element, attributes, found);
    }

    #[inline]
    fn end(&self, run: &mut Run) {
        run.end();
    }

    fn finish(&self, run: &mut Run, found: &mut Found) {
        run.finish(found);
    }

    fn settle(&mut self) {
        self.automaton.settle();
    }

    fn wants_attributes(&self) -> bool {
        self.automaton.wants_attributes()
    }

    fn memory_bytes(&self) -> usize {
        self.automaton.memory_bytes()
    }

    fn new_run(&self, cache_bytes: usize) -> Run {
        Run::with_budget(cache_bytes)
    }

    #[inline]
    fn capabilities(&self) -> Capabilities<'_, Run> {
        Capabilities { cache: Some(self), ..Capabilities::default() }
    }
}

impl Cache<Run> for LazyDfa {
    fn signature<'r>(&self, run: &'r mut Run) -> Option<&'r [u32]> {
        run.signature()
    }

    fn stats(&self, run: &Run) -> CacheStats {
        run.stats()
    }
}
