//! What holds for a whole set of subscriptions, and what is added to it.

use super::ids::Id;
use super::kind::EngineKind;
use crate::engine::AttributeFilters;
use crate::limits::Limits;
use crate::names::Namespaces;
use crate::pattern::Written;
use crate::reader::Entities;
use crate::xpath::XPathError;

/// What holds for the whole set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The engine asked for.
    pub engine: EngineKind,
    /// Whether expressions are ordered unless they say otherwise.
    pub ordered: bool,
    /// Bytes that the caches of one thread may hold; if not told, it follows from the number of subscriptions.
    pub cache_bytes: Option<usize>,
    /// When an engine that takes filters on attributes decides them.
    pub attribute_filters: AttributeFilters,
    /// Bounds on documents and expressions.
    pub limits: Limits,
    /// Namespaces of every expression, after its own.
    pub namespaces: Namespaces,
    /// Whether only local names count.
    pub ignore_namespaces: bool,
    /// Entities that documents may use without declaring them.
    pub entities: Entities,
}

/// A subscription to be added.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Subscription {
    pub id: Id,
    pub written: Written,
}

/// What was refused of many subscriptions, by their number in the order given.
pub type Refused = Vec<(usize, XPathError)>;
