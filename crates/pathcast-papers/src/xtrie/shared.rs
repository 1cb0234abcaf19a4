//! The shared part: the trie and the substring-table of all patterns.

use super::decompose::{Decomposition, Piece, Substring, decompose, is_single_path};
use super::local::reads_value;
use super::node::Special;
use super::pattern::PatternNode;
use super::table::Table;
use super::trie::Trie;
use pathcast_core::engine::PathId;

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
    pub(super) options: Options,
    pub(super) trie: Trie,
    pub(super) table: Table,
    /// Patterns that look at attributes, and at text.
    pub(super) attributes: usize,
    pub(super) text: usize,
    /// By pattern.
    pub(super) needs: Vec<Needs>,
}

/// What of a document a pattern looks at, beside the names of elements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
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

    pub(super) fn insert_pattern(&mut self, pattern: &PatternNode, id: PathId) {
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

    pub(super) fn remove_pattern(&mut self, id: PathId) {
        let needs = self.needs.get_mut(id.0 as usize).map(std::mem::take).unwrap_or_default();
        self.attributes -= usize::from(needs.attributes);
        self.text -= usize::from(needs.text);
        self.table.remove(id, &mut self.trie);
    }
}
