//! Subscriptions and documents as rows of tables, for matching inside a database.
//!
//! The method is that of the paper on matching XPath subscriptions level by level with non-recursive SQL. [`shred`] turns
//! documents into paths, nodes and values; [`compile`] turns expressions into steps, patterns and value tests. The SQL
//! that joins the two is in the Python package; here are the loops that run once per node and once per subscription.
//!
//! Two ideas are added. What depends only on the path from the root to a node is decided once for each distinct path.
//! And equal parts of different expressions are one part, known by a number made from its content, so two compilers that
//! share nothing but the key give equal parts equal numbers.
//!
//! [`parts`] replaces what tables cannot say (`not`, order, string functions) by something weaker that every matching
//! document satisfies. Such a pattern is marked as not exact, and whoever runs the SQL decides its matches with the
//! expression itself.

pub mod compile;
mod numbers;
mod odds;
mod parts;
pub mod shred;

pub use compile::{Bounds, Compiler, Rows};
pub use shred::{Shredder, Tables};

/// The name of the virtual document node.
pub const DOCUMENT: &str = "#document";
/// The name that every element answers to.
pub const ANY: &str = "*";
/// The name of an element's own string-value among the values of a node.
pub const STRING_VALUE: &str = ".";
/// The name of a text node among the values of its element.
pub const TEXT: &str = "#text";
/// The greatest depth difference: no limit.
pub const UNBOUNDED: i32 = i32::MAX;

/// A name as tables spell it: `local`, or `{uri}local`.
fn spell(uri: &str, local: &str, out: &mut String) {
    if !uri.is_empty() {
        out.push('{');
        out.push_str(uri);
        out.push('}');
    }
    out.push_str(local);
}
