//! One of the engines, chosen by name when the index is made.

use super::lazy_dfa::{self, LazyDfa};
use super::yfilter::{self, YFilter};
use super::{CacheStats, Engine, PathId};
use crate::pattern::LinearPath;

/// The engines by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum EngineName {
    /// Chooses for the set.
    #[default]
    Auto,
    /// The shared automaton.
    YFilter,
    /// The automaton made deterministic on demand.
    LazyDfa,
}

impl EngineName {
    /// All of them, `auto` first.
    pub const ALL: [Self; 3] = [Self::Auto, Self::YFilter, Self::LazyDfa];

    /// As users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::YFilter => "yfilter",
            Self::LazyDfa => "lazy-dfa",
        }
    }

    /// The engine of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.as_str() == name)
    }
}

/// One of the engines.
#[derive(Clone, Debug)]
pub enum AnyEngine {
    /// See [`YFilter`].
    YFilter(YFilter),
    /// See [`LazyDfa`].
    LazyDfa(LazyDfa),
}

/// What a run of that engine changes.
pub enum AnyRun {
    /// See [`YFilter`].
    YFilter(yfilter::Run),
    /// See [`LazyDfa`].
    LazyDfa(Box<lazy_dfa::Run>),
}

/// Calls the same method on whichever engine it is.
macro_rules! on_engine {
    ($engine:expr, $inner:ident => $call:expr) => {
        match $engine {
            AnyEngine::YFilter($inner) => $call,
            AnyEngine::LazyDfa($inner) => $call,
        }
    };
}

impl AnyEngine {
    /// An empty engine.
    pub fn new(name: EngineName) -> Self {
        match name {
            EngineName::YFilter => Self::YFilter(YFilter::default()),
            EngineName::Auto | EngineName::LazyDfa => Self::LazyDfa(LazyDfa::default()),
        }
    }

    /// Which one it is.
    pub fn name(&self) -> EngineName {
        match self {
            Self::YFilter(_) => EngineName::YFilter,
            Self::LazyDfa(_) => EngineName::LazyDfa,
        }
    }

    /// A run of this engine whose cache holds about so many bytes at most.
    pub fn new_run(&self, cache_bytes: usize) -> AnyRun {
        match self {
            Self::YFilter(_) => AnyRun::YFilter(yfilter::Run::default()),
            Self::LazyDfa(_) => AnyRun::LazyDfa(Box::new(lazy_dfa::Run::with_budget(cache_bytes))),
        }
    }

    /// See [`Engine::insert`].
    pub fn insert(&mut self, path: &LinearPath, id: PathId) {
        on_engine!(self, engine => engine.insert(path, id));
    }

    /// See [`Engine::remove`].
    pub fn remove(&mut self, path: &LinearPath, id: PathId) {
        on_engine!(self, engine => engine.remove(path, id));
    }

    /// See [`Engine::memory_bytes`].
    pub fn memory_bytes(&self) -> usize {
        on_engine!(self, engine => engine.memory_bytes())
    }

    /// See [`Engine::cache_stats`].
    pub fn cache_stats(&self, run: &AnyRun) -> CacheStats {
        match (self, run) {
            (Self::LazyDfa(engine), AnyRun::LazyDfa(run)) => engine.cache_stats(run),
            _ => CacheStats::default(),
        }
    }
}
