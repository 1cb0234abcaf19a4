//! The paths that a twig waits for.
//!
//! A twig becomes a candidate when one of its triggers was found. For an engine that takes filters it is decomposed:
//! the longest of its paths is the trigger, and all the others must have been found too.

use super::Index;
use super::paths::filtered_key;
use crate::engine::PathId;
use crate::pattern::{Condition, LinearPath, Trigger, decompose, trigger};

/// What must be found before a twig is decided.
pub(super) struct Awaited {
    /// At least one of these.
    pub(super) triggers: Box<[PathId]>,
    /// All of these.
    pub(super) required: Box<[PathId]>,
    /// Whether it is decided for any document.
    pub(super) always: bool,
}

impl Index {
    /// The paths that a twig waits for, made known to the engine.
    pub(super) fn awaited(&mut self, condition: &Condition) -> Awaited {
        let mut awaited = Awaited { triggers: [].into(), required: [].into(), always: false };
        if self.engine.takes_filters() {
            let paths = decompose(condition);
            let mut paths = paths.iter().filter_map(|path| self.intern_condition(&path.to_condition()));
            if let Some(longest) = paths.next() {
                awaited.required = paths.collect();
                awaited.triggers = [longest].into();
                return awaited;
            }
        }
        match trigger(condition) {
            Trigger::Always => awaited.always = true,
            Trigger::AnyOf(paths) => {
                let mut intern = |path: &LinearPath| self.paths.intern(&path.to_bytes(), &mut self.engine);
                awaited.triggers = paths.iter().map(&mut intern).collect();
            }
        }
        awaited
    }

    fn intern_condition(&mut self, condition: &Condition) -> Option<PathId> {
        Some(self.paths.intern(&filtered_key(condition)?, &mut self.engine))
    }
}
