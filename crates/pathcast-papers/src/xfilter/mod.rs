//! XFilter: one automaton for each path, and all of them in lists by the name they wait for.
//!
//! **Idea.** A path is a chain of nodes, one for each name. The nodes that the next start tag may match are in the
//! *candidate list* of their name, with the level they must be met on; a start tag looks at the list of its own name
//! only. A node that is met puts its successor into the list of the successor's name, and the end tag takes it out
//! again. The first node of every path is a candidate from the start. With *list balancing* the candidate from the
//! start is the node whose list is shortest (the pivot); what comes before it is checked on the open elements when it
//! is met. After "Efficient Filtering of XML Documents for Selective Dissemination of Information" by Altinel and
//! Franklin, as "Efficient filtering of XML documents with XPath expressions" by Chan and others describes it.
//!
//! **Invariants.** A list holds nodes of one name *and one gap*, in the order in which open elements put them there, so
//! the candidates for a level are one range of it and none is looked at in vain. A node with an open gap is in its
//! list once: a second copy, put there by an element further in, could meet nothing that the first does not. A node is
//! met at most once in an element. So copies grow with depth, never exponentially.
//!
//! **Cost.** A start tag costs its name's candidates, and that is in proportion to the paths: nothing is shared. Paths
//! that were found are not followed, and dropped from lists of which they are most. Candidates are bounded by the
//! budget: when it is used up, the rest of the document checks every path that ends in the tag's name on the open
//! elements, which needs no lists.
//!
//! **Trees** are in [`trees`]: an automaton for each branch, the way the papers compare.

mod automata;
mod backwards;
mod candidates;
mod run;
mod trees;

pub use automata::XFilter;
pub use run::Run;
pub use trees::XFilterTrees;
