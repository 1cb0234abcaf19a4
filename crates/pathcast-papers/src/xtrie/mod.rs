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
mod gist;
mod interned;
mod levels;
mod lineage;
mod local;
mod numbered;
mod open;
mod order;
mod pattern;
mod probe;
mod reversed;
mod run;
mod share;
mod state;
mod subtree;
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

use decompose::{Piece, Substring, decompose, is_single_path};
use local::reads_value;
use pathcast_core::engine::{Cache, CacheStats, Capabilities, Content, Engine, Found, PathId, Takes, Trees};
use pathcast_core::names::Resolved;
use pathcast_core::pattern::{Condition, LinearPath};
use pathcast_core::reader::StartTag;
use pattern::{PatternNode, path_pattern, tree_pattern};
use table::Table;
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
    /// By pattern.
    needs: Vec<Needs>,
}

/// What of a document a pattern looks at, beside the names of elements.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    attributes: bool,
    text: bool,
}

impl Needs {
    fn of(pieces: &[Piece]) -> Self {
        Self {
            attributes: pieces.iter().any(|piece| !piece.starts.is_empty() || !piece.ends.is_empty()),
            text: pieces.iter().any(|piece| {
                piece.substring == Substring::Special(Special::Text) || piece.ends.iter().any(reads_value)
            }),
        }
    }
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
        let needs = Needs::of(&pieces);
        self.attributes += usize::from(needs.attributes);
        self.text += usize::from(needs.text);
        if self.needs.len() <= id.0 as usize {
            self.needs.resize(id.0 as usize + 1, Needs::default());
        }
        self.needs[id.0 as usize] = needs;
        if self.options.single_paths && is_single_path(&pieces) {
            self.table.insert_path(pieces, id, &mut self.trie);
        } else {
            self.table.insert(pieces, id, &mut self.trie);
        }
    }

    fn remove_pattern(&mut self, id: PathId) {
        let needs = self.needs.get_mut(id.0 as usize).map(std::mem::take).unwrap_or_default();
        self.attributes -= usize::from(needs.attributes);
        self.text -= usize::from(needs.text);
        self.table.remove(id, &mut self.trie);
    }
}

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
