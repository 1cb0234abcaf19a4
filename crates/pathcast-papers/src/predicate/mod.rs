//! Predicate-based filtering: expressions as ordered sets of predicates on the positions of tags.
//!
//! **Idea.** `/a/*/b//c` says: `a` is at position 1, `b` two levels below it, `c` at least one below that. Each of the
//! three is a *predicate*; a predicate is stored and tested once, however many expressions contain it and wherever in
//! them. A path of the document, from the root to a leaf, is a set of positions. First the predicates that they satisfy
//! are found ([`index`]), then the expressions whose predicates fit together ([`places`] determines occurrences). There
//! are three ways to keep the expressions: each on its own ([`chains`]), in a trie where the longer one covers its
//! prefixes, and in that trie clustered by first predicates ([`trie`]). After "Predicate-based Filtering of XPath
//! Expressions" by Hou and Jacobsen.
//!
//! **Attribute filters** are decided here, values included. *Inline*: a predicate speaks of `a[@x = 3]` as it would of
//! `a` ([`tags`]), so that elements without the attribute satisfy no predicate. *Postponed*: predicates speak of `a`, and
//! an expression that is true without its filters is determined once more with them ([`encode::Selection`]).
//!
//! **Invariants.** Whatever a run holds beyond the current path is a list that says what to take back. An expression is
//! tried at a leaf only if its last predicate became true with an element whose path is new in the document: otherwise
//! an earlier leaf has decided it. Variables, predicates and nodes are counted and go with their last user.
//!
//! **Cost.** An element whose path is not new costs one look-up. A new one costs a look-up for each variable above it
//! and the predicates it satisfies. A leaf costs, for each expression tried, one machine operation a predicate, on
//! paths of up to 64 levels, and below that one for each occurrence. Nothing backtracks.

mod attributes;
mod chains;
mod encode;
mod index;
mod labels;
mod places;
mod run;
mod tags;
#[cfg(test)]
mod tests;
mod trie;

pub use run::Run;

use rustc_hash::FxHashMap;

use chains::Chains;
use encode::Selection;
use index::{PredicateId, PredicateIndex};
use pathcast_core::engine::{AttributeFilters, Capabilities, Content, Engine, Filters, Found, PathId, Takes};
use pathcast_core::names::Resolved;
use pathcast_core::pattern::{Condition, FilteredPath, LinearPath, NameTest};
use pathcast_core::reader::StartTag;
use run::{Outcome, Publication};
use tags::Tags;
use trie::Trie;

/// How the expressions are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Organisation {
    /// Each on its own.
    Basic,
    /// The longer one covers its prefixes.
    PrefixCovering,
    /// That, and clustered by first predicates.
    AccessPredicates,
}

/// The predicates and expressions of all paths.
#[derive(Clone, Debug)]
pub struct Predicates {
    filters: AttributeFilters,
    tags: Tags,
    index: PredicateIndex,
    store: Store,
    /// One more than the largest number of a path.
    paths: usize,
    /// By attribute: how many postponed filters ask for it.
    postponed: FxHashMap<NameTest, u32>,
}

#[derive(Clone, Debug)]
enum Store {
    Chains(Chains),
    Trie(Box<Trie>),
}

impl Store {
    fn bound(&self) -> usize {
        match self {
            Self::Chains(_) => 0,
            Self::Trie(trie) => trie.bound(),
        }
    }

    #[inline]
    fn is_access(&self, predicate: PredicateId) -> bool {
        match self {
            Self::Chains(_) => false,
            Self::Trie(trie) => trie.is_access(predicate),
        }
    }

    fn evaluate(&self, index: &PredicateIndex, path: &mut Publication, outcome: &mut Outcome) {
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
                Organisation::PrefixCovering => Store::Trie(Box::new(Trie::new(false))),
                Organisation::AccessPredicates => Store::Trie(Box::new(Trie::new(true))),
            },
            paths: 0,
            postponed: FxHashMap::default(),
        }
    }

    fn inline(&self) -> bool {
        self.filters == AttributeFilters::Inline
    }

    fn looks_at_attributes(&self) -> bool {
        self.tags.any_filtered() || !self.postponed.is_empty()
    }

    /// Whether nothing is kept but room.
    #[cfg(test)]
    fn is_vacant(&self) -> bool {
        let store = match &self.store {
            Store::Chains(chains) => chains.is_vacant(),
            Store::Trie(trie) => trie.is_vacant(),
        };
        store && self.tags.is_vacant() && self.index.is_vacant() && self.postponed.is_empty()
    }

    fn ask(&mut self, selection: &Selection, more: bool) {
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

impl Engine for Predicates {
    type Run = Run;

    fn new_run(&self, _cache_bytes: usize) -> Run {
        Run::default()
    }

    fn insert(&mut self, path: &LinearPath, id: PathId) {
        if let Some(path) = FilteredPath::from_linear(path) {
            self.insert_filtered(&path, id);
        }
    }

    fn remove(&mut self, path: &LinearPath, id: PathId) {
        if let Some(path) = FilteredPath::from_linear(path) {
            self.remove_filtered(&path, id);
        }
    }

    fn takes(&mut self) -> Takes<'_> {
        Takes::Filters(self)
    }

    fn begin(&self, run: &mut Run) {
        run.begin(self);
    }

    #[inline]
    fn start(&self, run: &mut Run, element: Resolved, attributes: &[Resolved], _found: &mut Found) {
        run.start(self, element, attributes);
    }

    #[inline]
    fn end(&self, run: &mut Run) {
        run.end(self);
    }

    fn finish(&self, run: &mut Run, found: &mut Found) {
        run.finish(found);
    }

    #[inline]
    fn capabilities(&self) -> Capabilities<'_, Run> {
        Capabilities { content: Some(self), ..Capabilities::default() }
    }

    fn wants_attributes(&self) -> bool {
        self.looks_at_attributes()
    }

    fn memory_bytes(&self) -> usize {
        let store = match &self.store {
            Store::Chains(chains) => chains.memory_bytes(),
            Store::Trie(trie) => trie.memory_bytes(),
        };
        self.tags.memory_bytes() + self.index.memory_bytes() + store + self.postponed.capacity() * 16
    }
}

impl Filters for Predicates {
    fn set_attribute_filters(&mut self, when: AttributeFilters) {
        debug_assert_eq!(self.paths, 0, "paths are encoded in one way or the other");
        self.filters = when;
    }

    fn insert_filtered(&mut self, path: &FilteredPath, id: PathId) {
        self.paths = self.paths.max(id.0 as usize + 1);
        let encoded = encode::intern(path, self.inline(), &mut self.tags);
        let predicates: Vec<_> = encoded.predicates.iter().map(|&each| self.index.intern(each)).collect();
        let selection = if self.inline() { None } else { Selection::new(path, &encoded.tags, id) };
        if let Some(selection) = &selection {
            self.ask(selection, true);
        }
        match &mut self.store {
            Store::Chains(chains) => chains.insert(&predicates, id, selection),
            Store::Trie(trie) => trie.insert(&predicates, id, selection),
        }
    }

    fn remove_filtered(&mut self, path: &FilteredPath, id: PathId) {
        let Some(encoded) = encode::find(path, self.inline(), &self.tags) else { return };
        let found: Option<Vec<_>> = encoded.predicates.iter().map(|&each| self.index.find(each)).collect();
        let Some(predicates) = found else { return };
        let selection = match &mut self.store {
            Store::Chains(chains) => chains.remove(id),
            Store::Trie(trie) => trie.remove(&predicates, id),
        };
        if let Some(selection) = &selection {
            self.ask(selection, false);
        }
        for predicate in predicates {
            self.index.release(predicate);
        }
        for tag in encoded.tags {
            self.tags.release(tag);
        }
    }
}

impl Content<Run> for Predicates {
    fn start_tag(
        &self,
        run: &mut Run,
        element: Resolved,
        attributes: &[Resolved],
        tag: &StartTag<'_>,
        _found: &mut Found,
    ) {
        if self.looks_at_attributes() {
            run.announce(tag.attributes().map(|attribute| attribute.value));
        }
        run.start(self, element, attributes);
    }
}
