//! The shared part: the predicates and expressions of all paths.

use rustc_hash::FxHashMap;

use pathcast_core::engine::AttributeFilters;
use pathcast_core::pattern::{Condition, NameTest};

use super::chains::Chains;
use super::constraint::PredicateId;
use super::encode::Selection;
use super::index::PredicateIndex;
use super::publication::{Outcome, Publication};
use super::tags::Tags;
use super::trie::{Access, Trie};

/// How the expressions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Organisation {
    /// Each on its own.
    Basic,
    /// The longer one covers its prefixes.
    PrefixCovering,
    /// That, and clustered by the last predicate but one.
    AccessPredicates,
    /// Prefix covering as the paper has it: of all that are to be tried on a path, the longest first.
    LongestFirst,
    /// That, and clustered by the first predicate, as in the paper.
    FirstPredicates,
}

/// The predicates and expressions of all paths.
#[derive(Clone, Debug)]
pub struct Predicates {
    pub(super) filters: AttributeFilters,
    pub(super) tags: Tags,
    pub(super) index: PredicateIndex,
    pub(super) store: Store,
    /// Whether expressions are decided, and not only predicates matched.
    pub(super) decides: bool,
    /// One more than the largest number of a path.
    pub(super) paths: usize,
    /// By attribute: how many postponed filters ask for it.
    pub(super) postponed: FxHashMap<NameTest, u32>,
}

#[derive(Clone, Debug)]
pub(super) enum Store {
    Chains(Chains),
    Trie(Box<Trie>),
}

impl Store {
    fn trie(access: Access, longest_first: bool) -> Self {
        Self::Trie(Box::new(Trie::new(access, longest_first)))
    }

    pub(super) fn bound(&self) -> usize {
        match self {
            Self::Chains(_) => 0,
            Self::Trie(trie) => trie.bound(),
        }
    }

    #[inline]
    pub(super) fn is_access(&self, predicate: PredicateId) -> bool {
        match self {
            Self::Chains(_) => false,
            Self::Trie(trie) => trie.is_access(predicate),
        }
    }

    pub(super) fn evaluate(&self, index: &PredicateIndex, path: &mut Publication, outcome: &mut Outcome) {
        match self {
            Self::Chains(chains) => chains.evaluate(index, path, outcome),
            Self::Trie(trie) => trie.evaluate(index, path, outcome),
        }
    }
}

impl Predicates {
    /// An empty engine.
    pub fn new(organisation: Organisation) -> Self {
        Self {
            filters: AttributeFilters::default(),
            tags: Tags::default(),
            index: PredicateIndex::default(),
            store: match organisation {
                Organisation::Basic => Store::Chains(Chains::default()),
                Organisation::PrefixCovering => Store::trie(Access::Open, false),
                Organisation::AccessPredicates => Store::trie(Access::LastButOne, false),
                Organisation::LongestFirst => Store::trie(Access::Open, true),
                Organisation::FirstPredicates => Store::trie(Access::First, true),
            },
            decides: true,
            paths: 0,
            postponed: FxHashMap::default(),
        }
    }

    /// The same, matching predicates and deciding no expression: what the first stage costs, and no answer.
    #[must_use]
    pub fn without_expressions(self) -> Self {
        Self { decides: false, ..self }
    }

    /// How many distinct predicates the expressions have.
    pub fn distinct_predicates(&self) -> usize {
        self.index.len()
    }

    pub(super) fn inline(&self) -> bool {
        self.filters == AttributeFilters::Inline
    }

    pub(super) fn looks_at_attributes(&self) -> bool {
        self.tags.any_filtered() || !self.postponed.is_empty()
    }

    /// Whether nothing is kept but room.
    #[cfg(test)]
    pub(super) fn is_vacant(&self) -> bool {
        let store = match &self.store {
            Store::Chains(chains) => chains.is_vacant(),
            Store::Trie(trie) => trie.is_vacant(),
        };
        store && self.tags.is_vacant() && self.index.is_vacant() && self.postponed.is_empty()
    }

    pub(super) fn ask(&mut self, selection: &Selection, more: bool) {
        for filter in selection.filters() {
            attributes_of(filter, &mut |name| {
                let count = self.postponed.entry(name).or_default();
                *count = if more { *count + 1 } else { *count - 1 };
                if *count == 0 {
                    self.postponed.remove(&name);
                }
            });
        }
    }
}

/// The attributes that a filter asks for.
fn attributes_of(filter: &Condition, each: &mut impl FnMut(NameTest)) {
    match filter {
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| attributes_of(part, each));
        }
        Condition::Not(inner) => attributes_of(inner, each),
        Condition::Attribute(name, _) => each(*name),
        _ => {}
    }
}
