//! The graph of a schema as bytes: an error, or a graph that is written as it was read and decides without a panic.

use std::sync::Arc;

use pathcast_core::limits::Limits;
use pathcast_core::names::Names;
use pathcast_core::pattern::{Scope, normalise};
use pathcast_core::schema::Graph;
use pathcast_core::xpath::parse;

const EXPRESSIONS: [&str; 4] = ["/a/b", "//a[@x = 'y']", "//*[b]/..", "/a[not(.//b)]"];

/// Reads a graph and asks it what is possible.
pub fn check(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let Ok(graph) = Graph::decode(&mut rest) else { return false };
    let mut written = Vec::new();
    graph.encode(&mut written);
    let again = Graph::decode(&mut written.as_slice()).unwrap();
    let mut twice = Vec::new();
    again.encode(&mut twice);
    assert_eq!(written, twice);
    let graph = Arc::new(graph);
    for xpath in EXPRESSIONS {
        let tree = parse(xpath, &Limits::default()).unwrap();
        let mut names = Names::default();
        let mut scope = Scope { names: &mut names, namespaces: &[], ignore_namespaces: false };
        let condition = normalise(&tree, false, &mut scope).unwrap();
        let verdict = pathcast_core::schema::check(&graph, &names, &condition);
        let other = pathcast_core::schema::check(&again, &names, &condition);
        assert_eq!(verdict.is_possible(), other.is_possible(), "{xpath}");
    }
    true
}
