//! Predicate-based filtering: expressions as ordered sets of predicates on the positions of tags.
//!
//! **Idea.** `/a/*/b//c` says: `a` is at position 1, `b` two levels below it, `c` at least one below that. Each of the
//! three is a *predicate*; a predicate is stored and tested once, however many expressions contain it and wherever in
//! them. A path of the document, from the root to a leaf, is a set of positions. First the predicates that they satisfy
//! are found ([`index`]), then the expressions whose predicates fit together ([`places`] determines occurrences). There
//! are three ways to keep the expressions: each on its own ([`chains`]), in a trie where the longer one covers its
//! prefixes, and in that trie clustered by a predicate that they share ([`trie`]). After "Predicate-based Filtering of XPath
//! Expressions" by Hou and Jacobsen.
//!
//! **Attribute filters** are decided here, values included. *Inline*: a predicate speaks of `a[@x = 3]` as it would of
//! `a` ([`tags`]), so that elements without the attribute satisfy no predicate. *Postponed*: predicates speak of `a`, and
//! an expression that is true without its filters is determined once more with them ([`encode::Selection`]).
//!
//! **Nested paths** are the core's, or decided by comparing match vectors as in the paper ([`nested`]).
//!
//! **Invariants.** Whatever a run holds beyond the current path is a list that says what to take back. An expression is
//! tried at a leaf only if its last predicate became true with an element whose path is new in the document: otherwise
//! an earlier leaf has decided it. Variables, predicates and nodes are counted and go with their last user.
//!
//! **Cost.** An element whose path is not new costs one look-up. A new one costs a look-up for each variable above it
//! and the predicates it satisfies. A leaf costs, for each expression tried, one machine operation a predicate, on
//! paths of up to 64 levels, and below that one for each occurrence. Nothing backtracks.

mod attributes;
mod chains;
mod constraint;
mod encode;
mod engine;
mod index;
mod labels;
mod nested;
mod places;
mod publication;
mod run;
mod shared;
mod tags;
#[cfg(test)]
mod tests;
mod trie;

pub use nested::Nested;
pub use run::Run;
pub use shared::{Organisation, Predicates};
