//! Subscriptions and documents as rows of tables, for matching inside a database.
//!
//! The method is that of the paper on matching XPath subscriptions level by level with non-recursive SQL: [`shred`]
//! turns documents into nodes with start and end points and their values, [`compile`] turns expressions into edges and
//! value tests by level. The SQL that joins the two lives in the Python package; here are the loops that run once per
//! node and once per subscription.
//!
//! The idea that is added: equal sub-patterns of different expressions are one pattern. A pattern is known by a number
//! made from its content, so that two compilers that never met give equal patterns equal numbers, and its level is its
//! height, so that it is matched once, at one level, however many subscriptions end in it.
//!
//! What tables cannot say (`not`, order, string functions) is weakened by [`parts`] to something that every document
//! satisfies which satisfies the expression; such a pattern is marked as not exact, and whoever runs the SQL has to
//! decide its matches with the expression itself.

pub mod compile;
mod numbers;
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
