//! Subscriptions, their distinct expressions, and matching documents against them.
//!
//! An expression is brought into normal form; equal ones are one *distinct expression* with a list of subscribers. A
//! distinct expression that is a linear path goes to the engine; any other waits for a linear path it cannot do
//! without and is then decided by [`crate::twig`]. Adding and removing touches only what changes; removing what was
//! added leaves nothing behind but the numbers of names.
//!
//! An [`Index`] composes three parts: what is subscribed (`expressions`), who subscribed (`subscribers`), and how a
//! document is matched (`runs`).

mod answer;
mod batch;
mod chunks;
mod expression;
mod expressions;
mod fanout;
mod file;
mod groups;
mod hosted;
mod ids;
mod kind;
mod matches;
mod matching;
mod memo;
mod normal_form;
mod paths;
mod places;
mod prepared;
mod reading;
mod roster;
mod runs;
mod schema;
mod set;
mod settings;
mod sources;
mod stats;
mod subscribers;
mod twigs;

pub use crate::pattern::Written;
pub use file::{IndexFormatError, LAYOUT};
pub use groups::Groups;
pub use hosted::Hosted;
pub use ids::Id;
pub use kind::{AUTO, ENGINES, EngineKind};
pub use matches::Matches;
pub use schema::{SchemaOptions, Validate};
pub use set::Index;
pub use settings::{Refused, Settings, Subscription};
pub use stats::Stats;
