//! The engine that chooses: remembered states where they pay, the shared automaton where they do not.
//!
//! **Idea.** One automaton, two ways to run it, and a third beside it: where the cache keeps costing much, paths are
//! looked up by keys. [`choose`] looks at the set, [`choice`] and [`trial`] at what the documents so far
//! did with the cache. A document goes one way from its beginning to its end, so changing costs nothing: nothing is
//! built twice, and nothing is rebuilt when the choice changes.
//!
//! **Invariants.** The answer does not depend on the way. Every choice and every give-up is counted and told.
//!
//! **Cost.** One branch a tag above the engine that was chosen, and one decision a document.

mod choice;
mod profile;
mod trial;

use std::io;

pub use choice::{Choice, Way, choose};
pub use profile::Profile;

use super::keyed::{self, Building, DEEPEST, Keyed, Progress};
use super::lazy_dfa::{self, LazyDfa};
use super::yfilter;
use super::{Cache, CacheStats, Capabilities, Describe, Engine, Found, PathId};
use crate::image::{ImageError, Reader, Writer};
use crate::names::Resolved;
use crate::pattern::LinearPath;
use choice::{Judge, Work};
use trial::{Cost, Trial, Verdict};

/// What following a remembered set costs, in look-ups of a key, and what building a transition does. Measured on 100,000
/// freely drawn paths.
const FOLLOWED: u64 = 8;
const BUILT: u64 = 200;

/// The automaton, and what its paths are like.
#[derive(Clone, Debug, Default)]
pub struct Auto {
    engine: LazyDfa,
    profile: Profile,
}

/// The ways to run it, and what decides between them.
pub struct Run {
    cached: lazy_dfa::Run,
    shared: yfilter::Run,
    /// The paths by keys, of the version that the last document saw.
    keyed: Option<Keyed>,
    /// The table of them that is not built to its end.
    building: Option<Box<Building>>,
    open: keyed::Run,
    trial: Trial,
    cache_bytes: usize,
    way: Way,
    judge: Judge,
    tags: u64,
    keyed_tags: u64,
    /// The version of the automaton that the last document saw.
    seen: Option<u64>,
    cached_documents: u64,
    shared_documents: u64,
    keyed_documents: u64,
}

impl Run {
    fn new(cache_bytes: usize) -> Self {
        Self {
            cached: lazy_dfa::Run::with_budget(cache_bytes),
            shared: yfilter::Run::default(),
            keyed: None,
            building: None,
            open: keyed::Run::default(),
            trial: Trial::default(),
            cache_bytes,
            way: Way::Nothing,
            judge: Judge::default(),
            tags: 0,
            keyed_tags: 0,
            seen: None,
            cached_documents: 0,
            shared_documents: 0,
            keyed_documents: 0,
        }
    }

    fn work(&self) -> Work {
        Work { tags: self.tags, missed: self.cached.missed(), full: self.cached.times_full() }
    }

    /// Whether the next document is looked up by keys.
    fn by_keys(&mut self, automaton: &yfilter::YFilter, paths: usize) -> bool {
        if let Some(building) = self.building.take() {
            match building.more(automaton) {
                Progress::More(building) => self.building = Some(building),
                Progress::Done(keyed) => self.keyed = Some(keyed),
                Progress::Refused => self.trial.refuse(paths),
            }
            return self.keyed.is_some();
        }
        let work = FOLLOWED * self.cached.followed() + BUILT * self.cached.missed();
        let cached = Cost { tags: self.tags, work };
        let keyed = self.keyed.as_ref().map(|_| Cost { tags: self.keyed_tags, work: self.open.work() });
        match self.trial.next(paths, cached, keyed) {
            Verdict::Stay => {}
            Verdict::Keep => self.cached.release(),
            Verdict::Drop => self.keyed = None,
            Verdict::Try => {
                self.building = Building::new(automaton, paths, self.cache_bytes);
                if self.building.is_none() {
                    self.trial.refuse(paths);
                }
            }
        }
        self.keyed.is_some()
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
            if run.seen.replace(self.engine.version()) != Some(self.engine.version()) {
                (run.keyed, run.building) = (None, None);
                run.trial.restart(self.profile.paths);
            }
            run.way = if run.by_keys(self.engine.automaton(), self.profile.paths) {
                Way::Keyed
            } else {
                run.judge.next(run.work(), changed)
            };
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
            Way::Keyed => {
                run.keyed_documents += 1;
                run.open.begin();
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
            Way::Keyed => match &run.keyed {
                Some(keyed) if run.open.depth() < DEEPEST => {
                    run.keyed_tags += 1;
                    run.open.start(keyed, element, found);
                }
                _ => self.give_up(run, element, attributes, found),
            },
            Way::Shared => self.engine.automaton().start(&mut run.shared, element, attributes, found),
            Way::Nothing => {}
        }
    }

    #[inline]
    fn end(&self, run: &mut Run) {
        match run.way {
            Way::Cached => self.engine.end(&mut run.cached),
            Way::Keyed => run.open.end(),
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
            Way::Shared | Way::Keyed => None,
            Way::Nothing => Some(&[]),
        }
    }

    fn paths(&self, run: &Run, number: u32, paths: &mut Vec<PathId>) {
        self.engine.paths(&run.cached, number, paths);
    }

    fn stats(&self, run: &Run) -> CacheStats {
        let stats = self.engine.stats(&run.cached);
        CacheStats {
            cached_documents: run.cached_documents,
            shared_documents: run.shared_documents,
            keyed_documents: run.keyed_documents,
            rests: run.judge.rests,
            bytes: stats.bytes + run.keyed.as_ref().map_or(0, |keyed| keyed.bytes() as u64),
            ..stats
        }
    }
}

impl Auto {
    pub(crate) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        self.engine.automaton().store(image)?;
        let Profile { paths, descendants, wildcards, attributes } = self.profile;
        [paths, descendants, wildcards, attributes].into_iter().try_for_each(|count| image.number(count))
    }

    pub(crate) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        Ok(Self {
            engine: LazyDfa::of(yfilter::YFilter::opened(image)?),
            profile: Profile {
                paths: image.number()?,
                descendants: image.number()?,
                wildcards: image.number()?,
                attributes: image.number()?,
            },
        })
    }

    /// Goes on with the shared automaton, to which the open elements are told again.
    #[cold]
    fn give_up(&self, run: &mut Run, element: Resolved, attributes: &[Resolved], found: &mut Found) {
        run.way = Way::Shared;
        let automaton = self.engine.automaton();
        automaton.begin(&mut run.shared);
        for open in run.open.open() {
            automaton.start(&mut run.shared, open, &[], found);
        }
        automaton.start(&mut run.shared, element, attributes, found);
    }
}

impl Describe for Auto {
    fn choice(&self, cache_bytes: usize) -> Option<(Choice, Profile)> {
        Some((choose(&self.profile, cache_bytes), self.profile))
    }
}
