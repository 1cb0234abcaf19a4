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
mod condition;
mod encode;
mod filtered;
mod linear;
mod mode;
mod normalise;
mod ordered;
mod print;

pub use build::and;
pub(crate) use build::{exists, not, or, root};
pub use condition::{Axis, Branch, Condition, FirstStep, NameTest, NodePattern, NodeTest};
pub use encode::{
    DecodeError, decode_condition, decode_number, decode_text, encode_condition, encode_number, encode_text,
};
pub use filtered::{FilteredPath, FilteredStep, as_filtered, decompose, heap_bytes, is_filter, passes};
pub use linear::{LinearPath, LinearStep, PathId, Tail, Trigger, as_linear, trigger};
pub use mode::normalise;
pub use normalise::Scope;
pub(crate) use normalise::{
    Arguments, Comparand, Place, arguments, attribute_name, comparand, convert, direction, node_test,
};
pub use print::Printer;
