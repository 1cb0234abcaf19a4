//! XTrie: tree patterns by their substrings, in one trie.
//!
//! **Idea.** A pattern is decomposed into *substrings*, runs of names that follow each other child by child. A trie with
//! max-suffix pointers finds all substrings that end at a start tag, as a string-matching automaton finds words. A row of
//! the *substring-table* says how a substring of a pattern hangs on its parent: the relative level, the rank among
//! its siblings. Run-time state says which branches of which rows were found under the elements that are open. A
//! run of names is met more rarely than a name, so few rows are looked at. The eager variant looks at every row of a
//! substring that was met, the lazy one at rows of leaves alone. Order is native: branches in order under different
//! children are counted by rank.
//!
//! **Invariants.** Substrings and rows are there exactly for the patterns that are ([`trie`], [`table`]); run-time state
//! is about open elements alone and is forgotten at their end tags ([`run`]).
//!
//! **Cost.** A start tag costs a step in the trie, and for each substring that ends there the rows of its chain.
//!
//! Follows "Efficient filtering of XML documents with XPath expressions" (Chan, Felber, Garofalakis, Rastogi), with the
//! corrections that the files name. Subtree after subtree is a word operation here: all levels of a row at once.

mod chain;
mod decompose;
mod levels;
mod local;
mod open;
mod order;
mod pattern;
mod reversed;
mod run;
mod single;
mod state;
mod table;
mod tree;
mod trie;
mod view;

#[cfg(test)]
mod paper;

pub use decompose::Decomposition;
pub use levels::Gap;
pub use pattern::Mode;
pub use run::Run;
pub use trie::Special;
pub use view::{NodeView, RowView, View};

use super::{CacheStats, Engine, Found, PathId};
use crate::names::Resolved;
use crate::pattern::{Condition, LinearPath};
use crate::reader::StartTag;
use decompose::{decompose, is_single_path};
use pattern::{PatternNode, path_pattern, tree_pattern};
use table::{Chained, Table};
use trie::Trie;

/// When rows are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Whenever their substring is met.
    #[default]
    Eager,
    /// When a leaf below them is met.
    Lazy,
}

/// How an XTrie is built; the answer does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// When rows are looked at.
    pub variant: Variant,
    /// How patterns are cut.
    pub decomposition: Decomposition,
    /// Whether single paths have a table of their own.
    pub single_paths: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { variant: Variant::Eager, decomposition: Decomposition::Simple, single_paths: true }
    }
}

/// The index over tree patterns.
#[derive(Clone, Debug, Default)]
pub struct XTrie {
    options: Options,
    trie: Trie,
    table: Table,
    /// Patterns that look at attributes, and at text.
    attributes: usize,
    text: usize,
}

impl XTrie {
    /// An empty one.
    pub fn new(options: Options) -> Self {
        Self { options, ..Self::default() }
    }

    /// The lazy variant.
    pub fn lazy() -> Self {
        Self::new(Options { variant: Variant::Lazy, ..Options::default() })
    }

    fn insert_pattern(&mut self, pattern: &PatternNode, id: PathId) {
        let pieces = decompose(pattern, self.options.decomposition);
        let single = self.options.single_paths && is_single_path(&pieces);
        let chained = match self.options.variant {
            Variant::Eager => Chained::All,
            Variant::Lazy => Chained::Leaves,
        };
        self.table.insert(pieces, id, single, chained, &mut self.trie);
        let (attributes, text) = self.needs(id);
        self.attributes += usize::from(attributes);
        self.text += usize::from(text);
    }

    fn remove_pattern(&mut self, id: PathId) {
        let (attributes, text) = self.needs(id);
        self.attributes -= usize::from(attributes);
        self.text -= usize::from(text);
        self.table.remove(id, &mut self.trie);
    }

    /// Whether the rows of a pattern look at attributes, and at text.
    fn needs(&self, id: PathId) -> (bool, bool) {
        let Some((single, rows)) = self.table.extent(id) else { return (false, false) };
        let (mut attributes, mut text) = (false, false);
        for row in rows {
            let (tests, node) = if single {
                let row = self.table.path_row(row);
                (row.tests, row.node)
            } else {
                let row = self.table.row(row);
                (row.tests, row.node)
            };
            if let Some(tests) = self.table.tests(tests) {
                attributes |= !tests.starts.is_empty() || !tests.ends.is_empty();
                text |= tests.ends.iter().any(local::reads_value);
            }
            text |=
                self.trie.nodes.get(node as usize).is_some_and(|node| node.special == Some(Special::Text));
        }
        (attributes, text)
    }
}

impl Engine for XTrie {
    type Run = Run;

    fn insert(&mut self, path: &LinearPath, id: PathId) {
        self.insert_pattern(&path_pattern(path), id);
    }

    fn remove(&mut self, _path: &LinearPath, id: PathId) {
        self.remove_pattern(id);
    }

    fn insert_tree(&mut self, condition: &Condition, id: PathId) -> bool {
        let Some(pattern) = tree_pattern(condition) else { return false };
        self.insert_pattern(&pattern, id);
        true
    }

    fn remove_tree(&mut self, id: PathId) {
        self.remove_pattern(id);
    }

    fn begin(&self, run: &mut Run) {
        self.begin_run(run);
    }

    fn start(&self, run: &mut Run, element: Resolved, attributes: &[Resolved], _found: &mut Found) {
        self.start_element(run, element, attributes, attributes.iter().map(|&name| (name, "")));
    }

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

    fn end(&self, run: &mut Run) {
        self.end_element(run);
    }

    fn text(&self, run: &mut Run, piece: &str) {
        self.text_piece(run, piece);
    }

    fn aside(&self, run: &mut Run) {
        self.end_text(run);
    }

    fn finish(&self, run: &mut Run, found: &mut Found) {
        run.found.paths().iter().for_each(|&path| found.add(path));
    }

    fn wants_attributes(&self) -> bool {
        self.attributes > 0
    }

    fn wants_text(&self) -> bool {
        self.text > 0
    }

    fn cache_stats(&self, run: &Run) -> CacheStats {
        CacheStats { bytes: run.memory_bytes() as u64, ..CacheStats::default() }
    }

    fn memory_bytes(&self) -> usize {
        self.trie.memory_bytes() + self.table.memory_bytes()
    }
}
