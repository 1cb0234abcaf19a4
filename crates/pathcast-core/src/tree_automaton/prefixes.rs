//! `starts-with` for many constants at once: a trie, walked along a value.

use rustc_hash::FxHashMap;

use super::NONE;
use super::atoms::AtomId;

/// The constants that a subject's values may start with.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes {
    nodes: Vec<Node>,
    /// By node and byte: the next node; a node has at most 256.
    edges: FxHashMap<(u32, u8), u32>,
    free: Vec<u32>,
    words: usize,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// The atom whose constant ends here.
    atom: AtomId,
    /// Constants that end here or below.
    words: u32,
}

const EMPTY: Node = Node { atom: NONE, words: 0 };

impl Prefixes {
    pub(super) fn is_empty(&self) -> bool {
        self.words == 0
    }

    pub(super) fn insert(&mut self, text: &[u8], atom: AtomId) {
        if self.nodes.is_empty() {
            self.nodes.push(EMPTY);
        }
        self.words += 1;
        let mut at = 0;
        for &byte in text {
            at = *self
                .edges
                .entry((at, byte))
                .or_insert_with(|| super::put(&mut self.nodes, &mut self.free, EMPTY));
            self.nodes[at as usize].words += 1;
        }
        self.nodes[at as usize].atom = atom;
    }

    pub(super) fn remove(&mut self, text: &[u8]) {
        self.words -= 1;
        let mut at = 0;
        let mut way = Vec::with_capacity(text.len());
        for &byte in text {
            let Some(&next) = self.edges.get(&(at, byte)) else { return };
            way.push((at, byte, next));
            at = next;
        }
        self.nodes[at as usize].atom = NONE;
        for (from, byte, to) in way {
            self.nodes[to as usize].words -= 1;
            if self.nodes[to as usize].words == 0 {
                self.edges.remove(&(from, byte));
                self.free.push(to);
            }
        }
        if self.words == 0 {
            *self = Self::default();
        }
    }

    /// Reports the atoms whose constant the value starts with.
    pub(super) fn find(&self, value: &str, mut report: impl FnMut(AtomId)) {
        let mut at = 0;
        for &byte in value.as_bytes() {
            let Some(&next) = self.edges.get(&(at, byte)) else { return };
            at = next;
            let atom = self.nodes[at as usize].atom;
            if atom != NONE {
                report(atom);
            }
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.edges.capacity() * 13 + self.free.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_prefix_and_forgets_what_left() {
        let mut prefixes = Prefixes::default();
        for (atom, text) in ["a", "ab", "abc", "b", "abd"].into_iter().enumerate() {
            prefixes.insert(text.as_bytes(), atom as AtomId);
        }
        let found = |prefixes: &Prefixes, value: &str| {
            let mut found = Vec::new();
            prefixes.find(value, |atom| found.push(atom));
            found
        };
        assert_eq!(found(&prefixes, "abcd"), [0, 1, 2]);
        prefixes.remove(b"ab");
        assert_eq!(found(&prefixes, "abd"), [0, 4]);
        for text in ["a", "abc", "b", "abd"] {
            prefixes.remove(text.as_bytes());
        }
        assert!(prefixes.is_empty() && prefixes.memory_bytes() == 0);
    }
}
