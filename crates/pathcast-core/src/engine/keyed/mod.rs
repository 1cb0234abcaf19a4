//! Paths by a few of their names: what is looked up where a path could end.
//!
//! **Problem.** Where names follow each other freely, documents repeat neither their ways down nor the states of any
//! automaton. Both other ways then pay for every state that a document keeps active, and these grow with the number of
//! paths.
//!
//! **Idea.** All that a path asks of an element is in the names above it, and these are known when it starts. The names
//! before the first `//` have a fixed distance from the root, those behind the last one from the element. Two or three of
//! them are a path's *key*. The places of a key are its *shape*, and shapes are chosen so that there are few: an element
//! is looked up once for each shape, by the names that it has in these places. What is found there are candidates. A word
//! of bits, one for each name that a path needs and one for its least depth, spares most of them the check against the
//! names above.
//!
//! **Cost.** A start tag costs a look-up for each shape, a test of a word for each candidate, and a check for the few that
//! are left; candidates grow with the number of paths divided by that of keys. Nothing is kept from document to
//! document. A check costs the depth, so a deep document goes another way.
//!
//! **Limits.** Paths that end in attributes and tests of parts of names are not looked up: then this way is not taken.

mod build;
mod check;
mod run;
mod shape;

pub(super) use build::{Building, Keyed, Progress};
pub(super) use run::Run;
