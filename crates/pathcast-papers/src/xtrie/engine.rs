//! XTrie as an engine.

use super::decompose::{Decomposition, is_branching};
use super::pattern::{path_pattern, tree_pattern};
use super::run::Run;
use super::shared::{Needs, XTrie};
use pathcast_core::engine::{Cache, CacheStats, Capabilities, Content, Engine, Found, PathId, Takes, Trees};
use pathcast_core::names::Resolved;
use pathcast_core::pattern::{Condition, LinearPath};
use pathcast_core::reader::StartTag;

impl Engine for XTrie {
    type Run = Run;

    fn new_run(&self, cache_bytes: usize) -> Run {
        Run::with_budget(cache_bytes)
    }

    fn insert(&mut self, path: &LinearPath, id: PathId) {
        self.insert_pattern(&path_pattern(path), id);
    }

    fn remove(&mut self, _path: &LinearPath, id: PathId) {
        self.remove_pattern(id);
    }

    fn takes(&mut self) -> Takes<'_> {
        Takes::Trees(self)
    }

    fn begin(&self, run: &mut Run) {
        self.begin_run(run);
    }

    fn start(&self, run: &mut Run, element: Resolved, attributes: &[Resolved], _found: &mut Found) {
        self.start_element(run, element, attributes, attributes.iter().map(|&name| (name, "")));
    }

    fn end(&self, run: &mut Run) {
        self.end_element(run);
    }

    fn finish(&self, run: &mut Run, found: &mut Found) {
        self.end_subtrees(run, 0);
        run.found.paths().iter().for_each(|&path| found.add(path));
    }

    fn wants_attributes(&self) -> bool {
        self.attributes > 0
    }

    fn capabilities(&self) -> Capabilities<'_, Run> {
        Capabilities { content: Some(self), cache: Some(self), ..Capabilities::default() }
    }

    fn memory_bytes(&self) -> usize {
        self.trie.memory_bytes() + self.table.memory_bytes() + self.needs.capacity() * size_of::<Needs>()
    }
}

impl Trees for XTrie {
    fn insert_tree(&mut self, condition: &Condition, id: PathId) -> bool {
        let Some(pattern) = tree_pattern(condition) else { return false };
        if self.options.decomposition == Decomposition::Minimal && is_branching(&pattern) {
            return false;
        }
        self.insert_pattern(&pattern, id);
        true
    }

    fn remove_tree(&mut self, id: PathId) {
        self.remove_pattern(id);
    }
}

impl Content<Run> for XTrie {
    fn start_tag(
        &self,
        run: &mut Run,
        element: Resolved,
        attributes: &[Resolved],
        tag: &StartTag<'_>,
        _found: &mut Found,
    ) {
        let attributes = if self.attributes > 0 { attributes } else { &[] };
        let values = attributes.iter().copied().zip(tag.attributes().map(|attribute| attribute.value));
        self.start_element(run, element, attributes, values);
    }

    fn wants_text(&self) -> bool {
        self.text > 0
    }

    fn text(&self, run: &mut Run, piece: &str) {
        self.text_piece(run, piece);
    }

    fn aside(&self, run: &mut Run) {
        self.end_text(run);
    }
}

impl Cache<Run> for XTrie {
    fn stats(&self, run: &Run) -> CacheStats {
        CacheStats { bytes: run.memory_bytes() as u64, ..CacheStats::default() }
    }
}
