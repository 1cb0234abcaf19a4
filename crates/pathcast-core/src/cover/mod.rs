//! Containment of patterns: which expression covers which, and which a publisher's documents can satisfy at all.
//!
//! One expression *covers* another if every document that satisfies the second satisfies the first. A broker forwards
//! only what nothing else covers. The test is exact for linear paths ([`word`]), sound for everything else
//! ([`implies`]): what is called covered is covered. [`forest`] keeps a set of expressions with the uncovered ones at
//! its roots, and finds coverings through [`chains`], [`trie`] and [`twigs`] without comparing with everyone.
//!
//! An [`Advertisement`] is the set of paths that a publisher's documents have, and [`overlap`] decides whether a
//! document with such paths can satisfy an expression: exactly for linear paths, erring towards yes for the rest.
//! [`degree`] says how much more a merger of several paths lets through, [`mergeable`] finds paths that can be merged,
//! [`leaves`] cuts a document into its paths.
//!
//! After "Routing of XML and XPath Queries in Data Dissemination Networks", whose algorithms are replaced where they
//! lose documents.

mod advertisement;
mod atoms;
mod chains;
mod degree;
mod forest;
mod implies;
mod keys;
mod leaves;
mod mergeable;
mod newcomer;
mod overlap;
mod registry;
mod steps;
mod trie;
mod twigs;
mod values;
mod word;

pub use advertisement::{Advertisement, AdvertisementError};
pub use degree::imperfect_degree;
pub use forest::{Forest, Inserted, Removed};
pub use leaves::{LeafPath, leaf_paths};
pub use mergeable::{Likeness, MergeKey, Mergeable, listing_key, merge_keys};
pub use registry::{Expression, Handle, Registry};
pub use steps::{PlainStep, plain_steps};

use crate::names::Names;
use crate::pattern::{Condition, as_linear};

/// Whether every document that satisfies the specific condition satisfies the general one; exact for linear paths.
pub fn covers(general: &Condition, specific: &Condition, names: &Names) -> bool {
    if general == specific {
        return true;
    }
    match (as_linear(general), as_linear(specific)) {
        (Some(general), Some(specific)) => word::Word::new(&specific, names).is_covered_by(&general, names),
        _ => implies::implies(specific, general, names),
    }
}
