//! One of the engines, chosen by name when the index is made.
//!
//! The table at the end of this file is the one place that lists them: a name, what it is, its type, how an empty one
//! is made.

use super::auto::{Auto, Choice, Profile};
use super::index_filter::IndexFilter;
use super::lazy_dfa::LazyDfa;
use super::pma::{Output, Pma};
use super::predicate::{Organisation, Predicates};
use super::xfilter::XFilter;
use super::xtrie::XTrie;
use super::yfilter::YFilter;
use super::{AttributeFilters, CacheStats, Engine, PathId};
use crate::pattern::{Condition, FilteredPath, LinearPath};

/// Makes the enumerations of names, engines and runs, and the calls that go to whichever engine it is.
macro_rules! engines {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $engine:ty, $empty:expr;)*) => {
        /// The engines by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum EngineName {
            $($(#[$doc])* $variant,)*
        }

        impl EngineName {
            /// All of them, `auto` first.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// As users write it.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        /// One of the engines.
        #[derive(Clone, Debug)]
        pub enum AnyEngine {
            $($(#[$doc])* $variant($engine),)*
        }

        /// What a run of that engine changes.
        pub enum AnyRun {
            $($(#[$doc])* $variant(Box<<$engine as Engine>::Run>),)*
        }

        impl AnyEngine {
            /// An empty engine.
            pub fn new(name: EngineName) -> Self {
                match name {
                    $(EngineName::$variant => Self::$variant($empty),)*
                }
            }

            /// Which one it is.
            pub fn name(&self) -> EngineName {
                match self {
                    $(Self::$variant(_) => EngineName::$variant,)*
                }
            }

            /// See [`Engine::new_run`].
            pub fn new_run(&self, cache_bytes: usize) -> AnyRun {
                match self {
                    $(Self::$variant(engine) => AnyRun::$variant(Box::new(engine.new_run(cache_bytes))),)*
                }
            }

            /// Shows the engine and a run of it to a visitor; a run of another engine, which can only come from a
            /// pool that outlived it, is replaced.
            pub fn visit<V: Visitor>(&self, run: &mut AnyRun, cache_bytes: usize, visitor: V) -> V::Output {
                match self {
                    $(Self::$variant(engine) => {
                        if let AnyRun::$variant(run) = run {
                            return visitor.visit(engine, run);
                        }
                        let mut fresh = Box::new(engine.new_run(cache_bytes));
                        let output = visitor.visit(engine, &mut fresh);
                        *run = AnyRun::$variant(fresh);
                        output
                    })*
                }
            }

            /// See [`Engine::insert`].
            pub fn insert(&mut self, path: &LinearPath, id: PathId) {
                match self {
                    $(Self::$variant(engine) => engine.insert(path, id),)*
                }
            }

            /// See [`Engine::remove`].
            pub fn remove(&mut self, path: &LinearPath, id: PathId) {
                match self {
                    $(Self::$variant(engine) => engine.remove(path, id),)*
                }
            }

            /// See [`Engine::choice`].
            pub fn choice(&self, cache_bytes: usize) -> Option<(Choice, Profile)> {
                match self {
                    $(Self::$variant(engine) => engine.choice(cache_bytes),)*
                }
            }

            /// See [`Engine::unsuited`].
            pub fn unsuited(&self) -> usize {
                match self {
                    $(Self::$variant(engine) => engine.unsuited(),)*
                }
            }

            /// See [`Engine::insert_tree`].
            pub fn insert_tree(&mut self, condition: &Condition, id: PathId) -> bool {
                match self {
                    $(Self::$variant(engine) => engine.insert_tree(condition, id),)*
                }
            }

            /// See [`Engine::remove_tree`].
            pub fn remove_tree(&mut self, id: PathId) {
                match self {
                    $(Self::$variant(engine) => engine.remove_tree(id),)*
                }
            }

            /// See [`Engine::takes_filters`].
            pub fn takes_filters(&self) -> bool {
                match self {
                    $(Self::$variant(engine) => engine.takes_filters(),)*
                }
            }

            /// See [`Engine::set_attribute_filters`].
            pub fn set_attribute_filters(&mut self, when: AttributeFilters) {
                match self {
                    $(Self::$variant(engine) => engine.set_attribute_filters(when),)*
                }
            }

            /// See [`Engine::insert_filtered`].
            pub fn insert_filtered(&mut self, path: &FilteredPath, id: PathId) {
                match self {
                    $(Self::$variant(engine) => engine.insert_filtered(path, id),)*
                }
            }

            /// See [`Engine::remove_filtered`].
            pub fn remove_filtered(&mut self, path: &FilteredPath, id: PathId) {
                match self {
                    $(Self::$variant(engine) => engine.remove_filtered(path, id),)*
                }
            }

            /// See [`Engine::settle`].
            pub fn settle(&mut self) {
                match self {
                    $(Self::$variant(engine) => engine.settle(),)*
                }
            }

            /// See [`Engine::memory_bytes`].
            pub fn memory_bytes(&self) -> usize {
                match self {
                    $(Self::$variant(engine) => engine.memory_bytes(),)*
                }
            }

            /// See [`Engine::cache_stats`].
            pub fn cache_stats(&self, run: &AnyRun) -> CacheStats {
                match (self, run) {
                    $((Self::$variant(engine), AnyRun::$variant(run)) => engine.cache_stats(run),)*
                    _ => CacheStats::default(),
                }
            }
        }
    };
}

impl EngineName {
    /// Whether it is another way to run the engine before it in the table: it can be asked for, and is not listed.
    pub fn is_variant(self) -> bool {
        matches!(self, Self::PmaUpdating)
    }

    /// The engine of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|each| each.as_str() == name)
    }
}

/// What is done with an engine, whichever it is, and a run of it.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Called with the engine and its run.
    fn visit<E: Engine>(self, engine: &E, run: &mut E::Run) -> Self::Output;
}

engines! {
    /// Chooses for the set and its documents.
    Auto, "auto", Auto, Auto::default();
    /// One automaton for each path.
    XFilter, "xfilter", XFilter, XFilter::new(false);
    /// One automaton for each path, entered at the name that is rarest among them.
    XFilterLb, "xfilter-lb", XFilter, XFilter::new(true);
    /// The shared automaton.
    YFilter, "yfilter", YFilter, YFilter::default();
    /// The automaton made deterministic on demand.
    LazyDfa, "lazy-dfa", LazyDfa, LazyDfa::default();
    /// The pattern-matching automaton of keywords.
    Pma, "pma", Pma, Pma::new(Output::Scanned);
    /// The same with output sets that change along.
    PmaUpdating, "pma-updating", Pma, Pma::new(Output::Updated);
    /// Substrings in a trie, tree patterns as they are met.
    XTrie, "xtrie", XTrie, XTrie::default();
    /// The same from the leaves up.
    XTrieLazy, "xtrie-lazy", XTrie, XTrie::lazy();
    /// Ordered sets of predicates, each expression on its own.
    Predicate, "predicate", Predicates, Predicates::new(Organisation::Basic);
    /// Predicates with prefix covering.
    PredicatePc, "predicate-pc", Predicates, Predicates::new(Organisation::PrefixCovering);
    /// Predicates with prefix covering and access predicates.
    PredicatePcAp, "predicate-pc-ap", Predicates, Predicates::new(Organisation::AccessPredicates);
    /// An index over the document's elements, joined with the prefix tree of the paths.
    IndexFilter, "index-filter", IndexFilter, IndexFilter::default();
}
