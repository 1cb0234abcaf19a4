//! A pattern-matching automaton over the path from the root: Aho-Corasick with a way back.
//!
//! **Idea.** A path without wildcards is a row of keywords, the strings of names between its `//`; a path from the
//! root starts with the symbol `#`. One automaton finds all keywords in the string of open elements. A start tag is one
//! move, an end tag goes back to the state before it. After "Schema-Conscious Filtering of XML Documents" by Silvasti,
//! Sippu and Soisalon-Soininen, where a schema has taken the wildcards out before.
//!
//! **One keyword.** A path that is one keyword is found when its state is met. A state that a document has met is not
//! looked at again, nor any on the output path behind it. When all paths are of this kind nothing else is done.
//!
//! **Several keywords.** A path waits for one keyword at a time; its frontier moves forward at start tags and back at
//! end tags ([`frontier`]). Paths whose keywords begin alike share a frontier that far ([`sequences`]). The tuples of a
//! state are all looked through, or kept to those that are waited for: [`Output`] chooses.
//!
//! **The rest.** Paths that still hold a wildcard go to the shared automaton, so every path is answered.
//!
//! **Invariants.** A keyword has one state, so a sequence of keywords is one tuple of one state. The arcs are made anew, by the
//! first document after a change, from the trie, which any path may join or leave at any time.
//!
//! **Cost.** A start tag is one look-up, or one walk along fail arcs which is remembered. States and tuples are linear in
//! the sum of the paths' lengths.

mod frontier;
mod keywords;
mod run;
mod sequences;
mod trie;

pub use frontier::Output;
pub use run::Run;

use std::sync::OnceLock;

use keywords::keywords;
use pathcast_core::engine::yfilter::YFilter;
use pathcast_core::engine::{Cache, CacheStats, Capabilities, Describe, Engine, Found, PathId};
use pathcast_core::names::Resolved;
use pathcast_core::pattern::LinearPath;
use sequences::Sequences;
use trie::{Links, NONE, Trie};

/// The automaton of all paths.
#[derive(Clone, Debug, Default)]
pub struct Pma {
    trie: Trie,
    sequences: Sequences,
    links: OnceLock<Links>,
    output: Output,
    /// The paths that hold wildcards.
    rest: YFilter,
    unsuited: usize,
    /// Counts changes, so that a run notices that it is of another automaton.
    version: u64,
}

impl Pma {
    /// An empty one.
    pub fn new(output: Output) -> Self {
        Self { output, ..Self::default() }
    }

    fn links(&self) -> &Links {
        self.links.get_or_init(|| Links::new(&self.trie))
    }

    fn change(&mut self) {
        self.version += 1;
        self.links = OnceLock::new();
    }
}

impl Engine for Pma {
    type Run = Run;

    fn new_run(&self, cache_bytes: usize) -> Run {
        Run::with_budget(cache_bytes)
    }

    fn insert(&mut self, path: &LinearPath, id: PathId) {
        self.change();
        let Some(keywords) = keywords(path) else {
            self.rest.insert(path, id);
            self.unsuited += 1;
            return;
        };
        let states: Vec<_> = keywords.iter().map(|keyword| self.trie.insert(keyword)).collect();
        if let [state] = states[..] {
            self.trie.states[state as usize].path = id.0;
        } else {
            self.sequences.insert(id, &states, &mut self.trie);
        }
    }

    fn remove(&mut self, path: &LinearPath, id: PathId) {
        self.change();
        let Some(keywords) = keywords(path) else {
            self.rest.remove(path, id);
            self.unsuited -= 1;
            return;
        };
        let states: Vec<_> = keywords.iter().filter_map(|keyword| self.trie.find(keyword)).collect();
        let released = match states[..] {
            [state] => {
                self.trie.states[state as usize].path = NONE;
                states
            }
            _ => self.sequences.remove(&states, &mut self.trie),
        };
        released.iter().for_each(|&state| self.trie.release(state));
    }

    fn begin(&self, run: &mut Run) {
        run.begin(self, self.links());
        if self.unsuited > 0 {
            self.rest.begin(&mut run.rest);
        }
    }

    #[inline]
    fn start(&self, run: &mut Run, element: Resolved, attributes: &[Resolved], found: &mut Found) {
        run.start(self, self.links(), element, attributes);
        if self.unsuited > 0 {
            self.rest.start(&mut run.rest, element, attributes, found);
        }
    }

    #[inline]
    fn end(&self, run: &mut Run) {
        run.end(self);
        if self.unsuited > 0 {
            self.rest.end(&mut run.rest);
        }
    }

    fn finish(&self, run: &mut Run, found: &mut Found) {
        run.finish(self, found);
    }

    fn capabilities(&self) -> Capabilities<'_, Run> {
        Capabilities { cache: Some(self), describe: Some(self), ..Capabilities::default() }
    }

    fn wants_attributes(&self) -> bool {
        self.trie.attribute_edges > 0 || self.rest.wants_attributes()
    }

    fn memory_bytes(&self) -> usize {
        self.trie.memory_bytes()
            + self.sequences.memory_bytes()
            + Links::memory_bytes(&self.trie)
            + self.rest.memory_bytes()
    }
}

impl Cache<Run> for Pma {
    fn signature<'r>(&self, run: &'r mut Run) -> Option<&'r [u32]> {
        run.signature(self)
    }

    fn paths(&self, _run: &Run, number: u32, paths: &mut Vec<PathId>) {
        paths.extend(run::path_of(self, number));
    }

    fn stats(&self, run: &Run) -> CacheStats {
        run.stats()
    }
}

impl Describe for Pma {
    fn unsuited(&self) -> usize {
        self.unsuited
    }
}
