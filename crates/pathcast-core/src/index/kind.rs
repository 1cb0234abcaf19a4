//! The engines that users can ask for, by name.
//!
//! [`ENGINES`] are those of this crate. A crate with more of them makes a longer list; an index file is read with the
//! list that knows its engine.

use std::fmt;

use super::hosted::Hosted;
use crate::engine::auto::Auto;
use crate::engine::lazy_dfa::LazyDfa;
use crate::engine::yfilter::YFilter;

/// An engine in a list.
#[derive(Clone, Copy)]
pub struct EngineKind {
    /// As users write it.
    pub name: &'static str,
    /// Whether it is another way to run the engine before it in the list: it can be asked for, and is not shown.
    pub is_variant: bool,
    /// Whether it is meant for expressions that a schema has pruned.
    pub needs_schema: bool,
    /// Makes an empty one.
    pub make: fn() -> Box<dyn Hosted>,
}

impl EngineKind {
    /// An engine that is shown, and needs nothing else.
    pub const fn new(name: &'static str, make: fn() -> Box<dyn Hosted>) -> Self {
        Self { name, is_variant: false, needs_schema: false, make }
    }

    /// The engine of this name in a list.
    pub fn find(name: &str, engines: &[Self]) -> Option<Self> {
        engines.iter().copied().find(|each| each.name == name)
    }
}

impl fmt::Debug for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for EngineKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for EngineKind {}

impl Default for EngineKind {
    fn default() -> Self {
        AUTO
    }
}

/// Chooses for the set and its documents.
pub const AUTO: EngineKind = EngineKind::new("auto", || Box::new(Auto::default()));

/// The engines of this crate, the default first.
pub const ENGINES: [EngineKind; 3] = [
    AUTO,
    // The shared automaton.
    EngineKind::new("yfilter", || Box::new(YFilter::default())),
    // The automaton made deterministic on demand.
    EngineKind::new("lazy-dfa", || Box::new(LazyDfa::default())),
];
