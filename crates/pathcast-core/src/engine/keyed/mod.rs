//! Paths by a few of their names: what is looked up where a path could end.
//!
//! **Problem.** Where names follow each other freely, documents repeat neither their ways down nor the states of any
//! automaton. Both other ways then pay for every state that a document keeps active, and these grow with the number of
//! paths.
//!
//! **Idea.** All that a path asks of an element is in the names above it, and these are known when it starts. The names
//! before the first `//` have a fixed distance from the root, those behind the last one from the element, and those
//! between two `//` at least from each other. Up to four of them are a path's *key*. The places of a key are its *shape*,
//! and an element is looked up once for each shape, by the names that it has in these places; names that float are
//! tried at every level. Shapes are chosen by what they spare ([`choose`]).
//!
//! **Memory is what it costs.** A look-up asks one bit of a bitmap that stays near the processor. If it is set, one line of
//! memory holds four candidates, each with a word of bits that it needs ([`bits`]). Only for those that pass are the names
//! above compared with the path. Each of these is a loop of its own without a branch that depends on memory, so that several
//! lines are fetched at once.
//!
//! **Cost.** A start tag costs a look-up for each shape, a line for each key that some path has, and a check for the few
//! candidates that are left. Nothing is kept from document to document. A check costs the depth, so a deep document goes
//! another way.
//!
//! **Limits.** Paths that end in attributes and tests of parts of names are not looked up: then this way is not taken.

mod bits;
mod build;
mod check;
mod choose;
mod options;
mod run;
mod shape;

pub(super) use build::{Building, DEEPEST, Keyed, Progress};
pub(super) use run::Run;
