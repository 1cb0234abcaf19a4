//! The engines of the papers, to compare with the one that runs by default.
//!
//! Each is behind the [`Engine`](pathcast_core::engine::Engine) trait of the core and answers the whole language, because
//! what an engine does not take is decided by the core. [`ENGINES`] lists all engines by name, those of the core first.
//! An engine is added to that list and nowhere else.
#![forbid(unsafe_code)]

mod branches;
mod hops;
pub mod index_filter;
pub mod pma;
pub mod predicate;
pub mod xfilter;
pub mod xtrie;

use pathcast_core::index::{self, EngineKind};

use index_filter::IndexFilter;
use pma::{Output, Pma};
use predicate::{Nested, Organisation, Predicates};
use xfilter::{XFilter, XFilterTrees};
use xtrie::XTrie;

/// One automaton for each path.
pub const XFILTER: EngineKind = EngineKind::new("xfilter", || Box::new(XFilter::new(false)));
/// One automaton for each path, entered at the name that is rarest among them.
pub const XFILTER_LB: EngineKind = EngineKind::new("xfilter-lb", || Box::new(XFilter::new(true)));
/// The same for trees, with automata for each branch.
pub const XFILTER_TREES: EngineKind =
    EngineKind { is_variant: true, ..EngineKind::new("xfilter-trees", || Box::new(XFilterTrees::default())) };
/// The pattern-matching automaton of keywords.
pub const PMA: EngineKind =
    EngineKind { needs_schema: true, ..EngineKind::new("pma", || Box::new(Pma::new(Output::Scanned))) };
/// The same with output sets that change along.
pub const PMA_UPDATING: EngineKind = EngineKind {
    needs_schema: true,
    is_variant: true,
    ..EngineKind::new("pma-updating", || Box::new(Pma::new(Output::Updated)))
};
/// Substrings in a trie, tree patterns as they are met.
pub const XTRIE: EngineKind = EngineKind::new("xtrie", || Box::new(XTrie::default()));
/// The same from the leaves up.
pub const XTRIE_LAZY: EngineKind = EngineKind::new("xtrie-lazy", || Box::new(XTrie::lazy()));
/// Ordered sets of predicates, each expression on its own.
pub const PREDICATE: EngineKind =
    EngineKind::new("predicate", || Box::new(Predicates::new(Organisation::Basic)));
/// Predicates with prefix covering.
pub const PREDICATE_PC: EngineKind =
    EngineKind::new("predicate-pc", || Box::new(Predicates::new(Organisation::PrefixCovering)));
/// Predicates with prefix covering and access predicates.
pub const PREDICATE_PC_AP: EngineKind =
    EngineKind::new("predicate-pc-ap", || Box::new(Predicates::new(Organisation::AccessPredicates)));
/// Prefix covering with the longest expression first, exactly as in the paper.
pub const PREDICATE_PC_LONGEST: EngineKind = EngineKind {
    is_variant: true,
    ..EngineKind::new("predicate-pc-longest", || Box::new(Predicates::new(Organisation::LongestFirst)))
};
/// The same clustered by first predicates, as in the paper.
pub const PREDICATE_PC_AP_FIRST: EngineKind = EngineKind {
    is_variant: true,
    ..EngineKind::new("predicate-pc-ap-first", || Box::new(Predicates::new(Organisation::FirstPredicates)))
};
/// Predicates with nested paths decided by comparing match vectors, as in the paper.
pub const PREDICATE_NESTED: EngineKind =
    EngineKind { is_variant: true, ..EngineKind::new("predicate-nested", || Box::new(Nested::default())) };
/// An index over the document's elements, joined with the prefix tree of the paths.
pub const INDEX_FILTER: EngineKind = EngineKind::new("index-filter", || Box::new(IndexFilter::default()));

/// All engines, those of the core first.
pub const ENGINES: &[EngineKind] = &[
    index::ENGINES[0],
    index::ENGINES[1],
    index::ENGINES[2],
    XFILTER,
    XFILTER_LB,
    XFILTER_TREES,
    PMA,
    PMA_UPDATING,
    XTRIE,
    XTRIE_LAZY,
    PREDICATE,
    PREDICATE_PC,
    PREDICATE_PC_AP,
    PREDICATE_PC_LONGEST,
    PREDICATE_PC_AP_FIRST,
    PREDICATE_NESTED,
    INDEX_FILTER,
];
