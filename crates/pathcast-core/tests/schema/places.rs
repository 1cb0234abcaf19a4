//! A step that stays a wildcard asks its condition of several elements: what may be said more briefly at one of them
//! must not be true at another.

use std::sync::Arc;

use pathcast_core::names::Names;
use pathcast_core::schema::{Builder, Content, Graph, PruneLimits, Pruner, Values};

use crate::setting::{Judge, graph, read};

fn alike(graph: Graph, limits: PruneLimits, xpath: &str, ordered: bool, documents: &[(&str, bool)]) {
    let mut names = Names::default();
    let original = read(xpath, ordered, &[], &mut names);
    let pruned = Pruner::new(Arc::new(graph), limits).prune_condition(&original, &mut names);
    let mut judge = Judge::new();
    for &(document, expected) in documents {
        assert_eq!(judge.holds(document, &original, &names), expected, "{document}");
        assert_eq!(judge.holds(document, &pruned, &names), expected, "{document}: {pruned:?}");
    }
}

fn one_result() -> PruneLimits {
    PruneLimits { max_results: 1, ..PruneLimits::default() }
}

/// Below `c` no `b` is nearer than two levels, so "two or more" is "any"; below `a` it is not.
#[test]
fn fewer_levels_at_one_place_only() {
    let graph = graph("r>a c, a>b q, c>c d, d>b");
    let documents =
        [("<r><a><b/></a></r>", false), ("<r><c><d><b/></d></c></r>", true), ("<r><a><q/></a></r>", true)];
    alike(graph, one_result(), "/r/*[.//*/b or q]", false, &documents);
}

/// The same where `a` cannot satisfy the condition at all, but is asked.
#[test]
fn fewer_levels_where_it_cannot_hold() {
    let graph = graph("r>a c d, a>b, c>c e, d>d e, e>b");
    let documents = [("<r><a><b/></a></r>", false), ("<r><d><e><b/></e></d></r>", true)];
    alike(graph, one_result(), "/r/*[.//*/b or .//*/z]", false, &documents);
}

/// From `c` three levels and more are `//z/b`; from `a` those may be two.
#[test]
fn wildcards_that_go_at_one_place_only() {
    let mut builder = Builder::default();
    let names = ["r", "a", "c", "k", "x", "y", "z", "b"];
    let [r, a, c, k, x, y, z, b] = names.map(|name| builder.element("", name));
    for element in [r, a, c, k, x, y, z, b] {
        builder.declare(element, Content::Elements);
    }
    builder.root(r);
    for (parent, child) in
        [(r, a), (r, c), (r, k), (a, z), (c, b), (c, x), (c, y), (x, z), (y, z), (z, z), (z, b)]
    {
        builder.child(parent, child);
    }
    for element in [a, c] {
        builder.attribute(element, "", "i", false, Values::Free);
    }
    let documents = [
        ("<r><a i=''><z><b/></z></a><k/></r>", false),
        ("<r><a i=''><z><z><b/></z></z></a><k/></r>", true),
        ("<r><c i=''><y><z><b/></z></y></c><k/></r>", true),
    ];
    alike(builder.build(), PruneLimits::default(), "/r[*[@i]//*/*/b]/k", true, &documents);
}
