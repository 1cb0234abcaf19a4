//! What a schema says about subscriptions, before any document is read.
//!
//! A DTD becomes a [`Graph`]: which element can be inside which. [`check`] tells a subscription
//! that no valid document can satisfy, and why. A [`Pruner`] replaces wildcards and descendant operators by the
//! elements that the graph allows there, so that an engine meets fewer of them.
//!
//! After "Schema-Conscious Filtering of XML Documents" (Silvasti, Sippu, Soisalon-Soininen), with its corrections
//! noted where they apply.

pub mod consistency;
mod declare;
mod encode;
pub mod graph;
mod guard;
mod prune;
mod reason;
mod rewrite;
mod set;
mod structure;
mod substitutes;
mod values;

pub use consistency::{Verdict, check};
pub use declare::Builder;
pub use graph::{ANYTHING, Attribute, Content, ElementId, Graph, Values};
pub use guard::Guard;
pub use prune::{PruneLimits, Pruner};
pub use set::ElementSet;
