//! An engine as those see it who add and take out paths, whichever engine it is.

use super::auto::{Choice, Profile};
use super::capability::Takes;
use super::{Engine, PathId};
use crate::pattern::LinearPath;

/// What of an [`Engine`] needs no run.
pub trait AnyEngine {
    /// See [`Engine::insert`].
    fn insert(&mut self, path: &LinearPath, id: PathId);

    /// See [`Engine::remove`].
    fn remove(&mut self, path: &LinearPath, id: PathId);

    /// See [`Engine::takes`].
    fn takes(&mut self) -> Takes<'_>;

    /// See [`Engine::settle`].
    fn settle(&mut self);

    /// See [`Engine::memory_bytes`].
    fn memory_bytes(&self) -> usize;

    /// See [`super::Describe::choice`].
    fn choice(&self, cache_bytes: usize) -> Option<(Choice, Profile)>;

    /// See [`super::Describe::unsuited`].
    fn unsuited(&self) -> usize;
}

impl<E: Engine> AnyEngine for E {
    fn insert(&mut self, path: &LinearPath, id: PathId) {
        Engine::insert(self, path, id);
    }

    fn remove(&mut self, path: &LinearPath, id: PathId) {
        Engine::remove(self, path, id);
    }

    fn takes(&mut self) -> Takes<'_> {
        Engine::takes(self)
    }

    fn settle(&mut self) {
        Engine::settle(self);
    }

    fn memory_bytes(&self) -> usize {
        Engine::memory_bytes(self)
    }

    fn choice(&self, cache_bytes: usize) -> Option<(Choice, Profile)> {
        self.capabilities().describe?.choice(cache_bytes)
    }

    fn unsuited(&self) -> usize {
        self.capabilities().describe.map_or(0, |each| each.unsuited())
    }
}
