//! The predicates as an engine.

use pathcast_core::engine::{AttributeFilters, Capabilities, Content, Engine, Filters, Found, PathId, Takes};
use pathcast_core::names::Resolved;
use pathcast_core::pattern::{FilteredPath, LinearPath};
use pathcast_core::reader::StartTag;

use super::encode::{self, Selection};
use super::run::Run;
use super::shared::{Predicates, Store};

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
