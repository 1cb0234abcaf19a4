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
mod enchain;
mod engine;
mod gist;
mod interned;
mod levels;
mod lineage;
mod link;
mod local;
mod node;
mod numbered;
mod open;
mod order;
mod pattern;
mod probe;
mod reversed;
mod run;
mod share;
mod shared;
mod start_test;
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
pub use node::Special;
use pathcast_core::pattern::Condition;
pub use pattern::Mode;
pub use run::Run;
pub use shared::{Options, Variant, XTrie};
pub use view::{NodeView, RowView, View};

/// How many substrings a condition on the document node is cut into; nothing if it is no tree pattern.
pub fn substrings(condition: &Condition, decomposition: Decomposition) -> Option<usize> {
    pattern::tree_pattern(condition).map(|pattern| decompose::count(&pattern, decomposition))
}
