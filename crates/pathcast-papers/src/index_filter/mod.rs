//! Index-Filter: an index over the document's elements, joined with the prefix tree of the paths.
//!
//! **Idea.** While a document is read, nothing is matched: each element whose name is in some path goes into the
//! *stream* of its name, as an interval of positions and a level. Then the prefix tree of the paths is walked, and the
//! elements that a node of it is met by are those of its stream that lie within an element of the node above, the
//! right number of levels below. Where there are none, the whole subtree is left out. Streams are in document order, so
//! a join walks each once, and skips what no element above contains. After "Navigation- vs. Index-Based XML Multi-Query
//! Processing" by Bruno and others, changed to stop at the first match of a path, as "Predicate-based Filtering of
//! XPath Expressions" by Hou and Jacobsen has it.
//!
//! **Invariants.** Entries of a stream are in order of their start. What a node is met by is drawn one element at a
//! time, when a path or a node below asks for it. An interval tells how deep its element reaches, so that wildcards at
//! the end of a path need no stream.
//!
//! **Cost.** A tag costs a constant. A node that is asked everything costs its stream and what the node above is met
//! by. The index is bounded: a document that fills it is joined as far as it was read, and then only the open elements
//! are kept. A path's elements contain each other, so nothing is lost.

mod join;
mod run;
mod streams;
mod tree;

pub use run::Run;
pub use tree::IndexFilter;
