//! The normal form every engine shares.
//!
//! A subscription is a [`Condition`] on the document node. A path is a chain of conditions: `/a[b]/c` says that the
//! document node has a child `a` which has a child `b` and has a child `c`, so predicates and next steps are the same
//! thing and `/a[b]/c` equals `/a[c]/b`. A step is a [`Axis::Down`] gap to a node: wildcards without conditions of
//! their own are not nodes but make the gap longer, so `//*/a` and `/*//a` are both "`a`, two or more levels down".
//! A comparison is a condition on the last node of its path, because XPath compares node-sets existentially.
//!
//! The constructors in [`build`] keep conditions normal: conjunctions and disjunctions are flat, sorted and free of
//! repetition, constants are folded, gaps are merged. Equal conditions are equal values.

mod build;
mod bytes;
mod comparand;
mod condition;
mod encode;
mod encode_typed;
mod filtered;
mod implied;
mod linear;
mod location;
mod mode;
mod node;
mod normalise;
mod ordered;
mod place;
mod plain;
mod print;
mod print_typed;
mod scope;
mod single;
mod steps;
mod strings;
mod term;
mod typed;
mod upward;
mod weaken;
mod written;

pub use build::and;
pub(crate) use build::{exists, not, or, root};
pub use bytes::{DecodeError, decode_number, decode_text, encode_number, encode_text};
pub use condition::{Axis, Branch, Condition, FirstStep, NameTest, NodePattern, NodeTest};
pub use encode::{decode_condition, encode_condition};
pub use filtered::{FilteredPath, FilteredStep, as_filtered, decompose, heap_bytes, is_filter, passes};
pub use linear::{LinearPath, LinearStep, PathId, Tail, Trigger, as_linear, trigger};
pub use mode::normalise;
pub use place::Place;
pub(crate) use plain::plain_path;
pub use print::Printer;
pub use scope::Scope;
pub(crate) use scope::{attribute_name, node_test};
pub use term::{Double, Operator, Origin, Term, TermStep, Typed};
pub use typed::typed;
pub use written::Written;
