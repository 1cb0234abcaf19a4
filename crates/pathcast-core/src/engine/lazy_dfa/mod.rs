//! The lazy DFA: the automaton of [`super::yfilter`] made deterministic where documents go, part by part.
//!
//! **Problem.** YFilter pays at every start tag for every active state; with many `//` thousands are active. A
//! deterministic automaton pays for one, but all of its states are too many to build. **Idea** (Green and others,
//! "Processing XML Streams with Deterministic Automata"): build a state when a document first reaches it. But a state
//! that is the set of *all* active states depends on the whole way down from the root, because `//` keeps states
//! active: documents that are new have ways that are new, and states are built for ever (14,000 after 6,000 news
//! documents of 4 KB with 153,928 paths, and still growing).
//!
//! **In parts.** The states that one set leads to are kept apart from those that another leads to. A start tag leads from
//! each set to a *passing* set, which the next start tag leaves, and a *staying* set behind the `//` of those states,
//! which stays active until the element ends. So a set depends on a few names since the last `//`, not on the whole way,
//! and a set takes few bytes (5 MB in place of 48 for those news documents). A start tag costs a look-up for each set that
//! leads on. It is the run of YFilter with sets in place of states. Where sets would multiply, many are made one.
//!
//! **Data.** The nondeterministic automaton is immutable and shared. What is built lies in the run, one for each
//! thread: sets by content, transitions `(set, name) -> (passing, staying, accepted)`, and the accepted path sets, each
//! stored once. Names that no subscription uses are one name.
//!
//! **Budget.** Bytes are counted as the cache grows. When they are used up, the rest of the document runs on the shared
//! automaton; before the next document the half of the sets that were not used for longest goes. Nothing goes while a
//! document is open, because open elements stand on sets. The answer does not depend on any of this.
//!
//! **Changes.** A path that comes changes the edges of two states and may use numbers of states again; one that goes
//! takes states with it. What was built from sets with one of these states is forgotten, and nothing else.
//!
//! **Signature.** A document is answered by the sets of paths it met. The numbers of those sets are its signature:
//! documents with equal signatures have equal answers, which the index remembers.

mod accepted;
mod active;
mod cache;
mod run;
mod sets;
mod symbol;
mod transitions;

pub use run::Run;

use super::yfilter::{StateId, YFilter};
use super::{Cache, CacheStats, Capabilities, Engine, Found, PathId};
use crate::names::Resolved;
use crate::pattern::LinearPath;

/// So many states that changed are remembered at most; a run that missed more starts anew.
const CHANGED: usize = 2048;

/// The shared part: the automaton that is made deterministic.
#[derive(Clone, Debug, Default)]
pub struct LazyDfa {
    automaton: YFilter,
    /// Counts changes, so that a run notices that its cache is of another automaton.
    version: u64,
    /// The states that changed, each with the version that came of it.
    changed: Vec<(u64, StateId)>,
    /// The version after which all of them are known.
    known_after: u64,
}

impl LazyDfa {
    pub(super) fn of(automaton: YFilter) -> Self {
        Self { automaton, ..Self::default() }
    }

    /// The automaton that is made deterministic.
    pub(super) fn automaton(&self) -> &YFilter {
        &self.automaton
    }

    /// Changes whenever paths come or go.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The states whose edges changed since a version, sorted; `None` when that is not known.
    pub(super) fn changed_since(&self, version: Option<u64>) -> Option<Vec<StateId>> {
        let version = version.filter(|&version| version >= self.known_after)?;
        let first = self.changed.partition_point(|&(at, _)| at <= version);
        let mut states: Vec<_> = self.changed[first..].iter().map(|&(_, state)| state).collect();
        states.sort_unstable();
        states.dedup();
        Some(states)
    }

    /// Starts a change: the next version, and room to say what it is about.
    fn change(&mut self) {
        self.version += 1;
        if self.changed.len() > CHANGED {
            let (last, _) = self.changed[CHANGED / 2];
            self.known_after = last;
            self.changed.retain(|&(at, _)| at > last);
        }
    }
}

impl Engine for LazyDfa {
    type Run = Run;

    fn insert(&mut self, path: &LinearPath, id: PathId) {
        self.change();
        let Self { automaton, version, changed, .. } = self;
        automaton.insert_path(path, id, |state| changed.push((*version, state)));
    }

    fn remove(&mut self, path: &LinearPath, id: PathId) {
        self.change();
        let Self { automaton, version, changed, .. } = self;
        automaton.remove_path(path, id, |state| changed.push((*version, state)));
    }

    fn begin(&self, run: &mut Run) {
        let changed = self.changed_since(run.version());
        run.begin(&self.automaton, self.version, changed.as_deref());
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

    fn paths(&self, run: &Run, number: u32, paths: &mut Vec<PathId>) {
        paths.extend(run.accepted(number).iter().map(|&path| PathId(path)));
    }

    fn stats(&self, run: &Run) -> CacheStats {
        run.stats()
    }
}
