//! YFilter: one automaton for all paths, sharing their prefixes.
//!
//! **Idea.** The paths form a trie whose edges are names, `*`, and `//`; read as a nondeterministic automaton it runs
//! over the start tags with a stack of sets of active states, one set for each open element. `//` is an empty move to
//! a state that stays active below. After "Path Sharing and Predicate Evaluation for High-Performance XML Filtering"
//! by Diao and others.
//!
//! **Invariants.** A state has one parent and one edge into it, so a set has no state twice, except one that stays
//! active and is entered again: only those are checked. A state without a path and children is removed with the last
//! path that needed it.
//!
//! **Cost.** A start tag costs one step for each active state; a 64-bit sketch of the names that lead on from a state
//! spares most look-ups. Nothing here can fail or grow with the documents: the stack is bounded by depth and states.

mod automaton;
mod configuration;
mod paths;
mod run;

pub(super) use automaton::StateId;
pub use automaton::YFilter;
pub(super) use configuration::Configuration;
pub(super) use paths::Walk;
pub use run::Run;
