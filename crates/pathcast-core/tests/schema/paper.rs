//! The examples of "Schema-Conscious Filtering of XML Documents", and where they are wrong.

use std::sync::Arc;

use pathcast_core::names::Names;
use pathcast_core::pattern::Condition;
use pathcast_core::schema::{Graph, PruneLimits, Pruner};

use crate::setting::{Judge, condition, graph, linear, show};

fn figure_1() -> Graph {
    graph("a>b c d, b>f, c>f, d>e, e>f, f>i j, i>k, j>k")
}

fn pruned(graph: Graph, limits: PruneLimits, xpath: &str) -> Vec<String> {
    let mut names = Names::default();
    let path = linear(xpath, &mut names);
    let mut pruner = Pruner::new(Arc::new(graph), limits);
    let mut out: Vec<String> =
        pruner.prune(&path, &mut names).iter().map(|path| show(path, &names)).collect();
    out.sort();
    out
}

fn keeping_leading() -> PruneLimits {
    PruneLimits { expand_leading: false, ..PruneLimits::default() }
}

#[test]
fn table_1() {
    let cases: &[(&str, &[&str])] = &[
        ("/a//f", &["/a/b/f", "/a/c/f", "/a/d/e/f"]),
        ("//c/f//k", &["//c/f/i/k", "//c/f/j/k"]),
        ("/*/b", &["/a/b"]),
        ("/a/*", &["/a/b", "/a/c", "/a/d"]),
        ("/a/*/f", &["/a/b/f", "/a/c/f"]),
        // The table prints the results of four wildcards next to three.
        ("/*/*/*", &["/a/b/f", "/a/c/f", "/a/d/e"]),
        ("/*/*/*/*", &["/a/b/f/i", "/a/b/f/j", "/a/c/f/i", "/a/c/f/j", "/a/d/e/f"]),
    ];
    for (xpath, expected) in cases {
        assert_eq!(pruned(figure_1(), keeping_leading(), xpath), *expected, "{xpath}");
    }
}

#[test]
fn leading_descendants_go_when_asked_to() {
    let limits = PruneLimits::default();
    assert_eq!(pruned(figure_1(), limits.clone(), "//c/f//k"), ["/a/c/f/i/k", "/a/c/f/j/k"]);
    assert_eq!(pruned(figure_1(), limits.clone(), "//f"), ["/a/b/f", "/a/c/f", "/a/d/e/f"]);
    assert_eq!(pruned(figure_1(), limits, "//*//i/k"), ["/a/b/f/i/k", "/a/c/f/i/k", "/a/d/e/f/i/k"]);
}

/// Errata 13: the element behind a `//` stays, and a substitute may be empty.
#[test]
fn the_element_behind_a_descendant_stays() {
    assert_eq!(pruned(graph("a>b c, c>b"), keeping_leading(), "/a//b"), ["/a/b", "/a/c/b"]);
    assert_eq!(pruned(graph("a>b, b>c"), keeping_leading(), "/a//b/c"), ["/a/b/c"]);
}

/// Errata 14: the document node is no element; the root itself is a target of a leading `//`.
#[test]
fn a_leading_descendant_may_mean_the_root() {
    assert_eq!(pruned(graph("a>b"), PruneLimits::default(), "//a"), ["/a"]);
    assert_eq!(pruned(graph("a>b"), PruneLimits::default(), "//a//b"), ["/a/b"]);
}

/// Errata 15: `//*/b` and `/*//b` are one gap and come out alike.
#[test]
fn one_normal_form_whatever_the_order() {
    for xpath in ["//*/f", "/*//f", "//*//f"] {
        assert_eq!(pruned(figure_1(), PruneLimits::default(), xpath), ["/a/b/f", "/a/c/f", "/a/d/e/f"]);
    }
    assert_eq!(
        pruned(figure_1(), PruneLimits::default(), "/a/*//f//*"),
        ["/a/b/f/i", "/a/b/f/j", "/a/c/f/i", "/a/c/f/j", "/a/d/e/f/i", "/a/d/e/f/j"]
    );
}

#[test]
fn levels_that_are_always_there_need_no_asking() {
    // `f` is never less than three levels deep.
    assert_eq!(pruned(figure_1(), keeping_leading(), "/*/*//f"), ["//f"]);
    // It is on level three, too: the wildcards above it become names, and `//` stays in front.
    assert_eq!(pruned(figure_1(), keeping_leading(), "/*/*/*//f"), ["//a/d/e/f"]);
}

#[test]
fn recursion_keeps_the_descendant_and_loses_the_wildcards() {
    let looped = "r>a, a>a b c, c>b";
    assert_eq!(pruned(graph(looped), PruneLimits::default(), "/r//b"), ["/r//b"]);
    assert_eq!(pruned(graph(looped), PruneLimits::default(), "/r/a/*//b"), ["/r/a/a//b", "/r/a/c//b"]);
    assert_eq!(pruned(graph(looped), PruneLimits::default(), "/r/a/*/b"), ["/r/a/a/b", "/r/a/c/b"]);
    assert_eq!(pruned(graph(looped), PruneLimits::default(), "/r//c/b"), ["/r//c/b"]);
    // Recursion beside the way does not matter.
    assert_eq!(pruned(graph("r>a x, a>b, x>x"), PruneLimits::default(), "/r//b"), ["/r/a/b"]);
}

#[test]
fn the_singleton_rule_never_makes_two_of_one() {
    let limits = PruneLimits { singleton: true, ..PruneLimits::default() };
    assert_eq!(pruned(figure_1(), limits.clone(), "/a//f"), ["/a//f"]);
    assert_eq!(pruned(figure_1(), limits.clone(), "//d//f"), ["/a/d/e/f"]);
    assert_eq!(pruned(figure_1(), limits.clone(), "/*/b"), ["/a/b"]);
    assert_eq!(pruned(figure_1(), limits, "/a/*"), ["/a/*"]);
}

/// The polynomial rule: a wildcard also goes where all that can stand there have one parent, or no children.
#[test]
fn a_wildcard_goes_under_a_single_parent() {
    let limits = PruneLimits { singleton: true, single_parent: true, ..PruneLimits::default() };
    let of = |xpath: &str| pruned(figure_1(), limits.clone(), xpath);
    assert_eq!(of("/a/*"), ["/a/b", "/a/c", "/a/d"]);
    assert_eq!(of("/a/*/f"), ["/a/b/f", "/a/c/f"]);
    // `f` has several parents.
    assert_eq!(of("/a/*/*"), ["/a/*/*"]);
    assert_eq!(of("/a/b/f/*"), ["/a/b/f/i", "/a/b/f/j"]);
    // A wildcard before a `//` that stays.
    let near = "r>a, a>b c k, b>k, c>k";
    assert_eq!(pruned(graph(near), limits.clone(), "/r/a/*//k"), ["/r/a/b//k", "/r/a/c//k"]);
    // `//` is not under the rule.
    assert_eq!(of("/a//f"), ["/a//f"]);
    // Leaves may have several parents.
    assert_eq!(pruned(graph("r>a b, a>x y, b>x"), limits.clone(), "/r/a/*"), ["/r/a/x", "/r/a/y"]);
    assert_eq!(pruned(graph("r>a b, a>x y, b>x, y>z"), limits, "/r/a/*"), ["/r/a/*"]);
    let alone = PruneLimits { single_parent: true, ..PruneLimits::default() };
    assert_eq!(pruned(figure_1(), alone, "/a//f"), ["/a/b/f", "/a/c/f", "/a/d/e/f"]);
}

#[test]
fn limits_keep_what_they_must() {
    let few = PruneLimits { max_substitutes: 2, ..PruneLimits::default() };
    assert_eq!(pruned(figure_1(), few, "/a//f//k"), ["/a//f/i/k", "/a//f/j/k"]);
    let short = PruneLimits { max_length: 3, ..PruneLimits::default() };
    assert_eq!(pruned(figure_1(), short, "/a//f"), ["/a//f"]);
    let total = PruneLimits { max_results: 3, ..PruneLimits::default() };
    assert_eq!(pruned(figure_1(), total, "/a//f//k"), ["/a//f/i/k", "/a//f/j/k"]);
}

/// Two ways at each of k places are 2^k paths: they are counted, not listed.
#[test]
fn two_to_the_k_paths() {
    let ladder: Vec<String> =
        (0..40).map(|k| format!("a{k}>b{k} c{k}, b{k}>a{}, c{k}>a{}", k + 1, k + 1)).collect();
    let graph = graph(&ladder.join(","));
    assert_eq!(graph.path_count(), Some(1 << 40));
    assert_eq!(graph.depth(), Some(81));
    let limits = PruneLimits { max_length: 1_000, ..PruneLimits::default() };
    assert_eq!(pruned(graph, limits, "/a0//a40"), ["/a0//a40"]);
}

#[test]
fn what_can_never_match_is_nothing() {
    for xpath in ["/b", "/a/k", "//k/*", "/a/*/*/*/*/*/*", "//k//f", "//z", "/a/@x", "//f/*/f"] {
        assert_eq!(pruned(figure_1(), PruneLimits::default(), xpath), [""; 0], "{xpath}");
    }
}

#[test]
fn twigs_keep_their_conditions_on_the_right_node() {
    let mut names = Names::default();
    let original = condition("/a//f[i][j]/j[k = 'x']", &mut names);
    let mut pruner = Pruner::new(Arc::new(figure_1()), PruneLimits::default());
    let pruned = pruner.prune_condition(&original, &mut names);
    let branch = "f[i][j]/j[k = 'x']";
    let expected = format!("/a[b/{branch} or c/{branch} or d/e/{branch}]");
    assert_eq!(pruned, condition(&expected, &mut names));
    let mut judge = Judge::new();
    for (inside, expected) in [
        ("<d><e><f><i/><j><k>x</k></j></f></e></d>", true),
        ("<b><f><i/></f><f><j><k>x</k></j></f></b>", false),
        ("<c><f><i/><j><k>y</k></j><j><k>x</k></j></f></c>", true),
    ] {
        let document = format!("<a>{inside}</a>");
        assert_eq!(judge.holds(&document, &original, &names), expected, "{document}");
        assert_eq!(judge.holds(&document, &pruned, &names), expected, "{document}");
    }
}

#[test]
fn a_wildcard_with_conditions_becomes_names() {
    let mut names = Names::default();
    let original = condition("/a/*[f]/*[i or k]", &mut names);
    let mut pruner = Pruner::new(Arc::new(figure_1()), PruneLimits::default());
    let pruned = pruner.prune_condition(&original, &mut names);
    let expected = condition("/a[b[f]/f[i] or c[f]/f[i]]", &mut names);
    assert_eq!(pruned, expected);
    let never = condition("/a/*[f][e]", &mut names);
    assert_eq!(pruner.prune_condition(&never, &mut names), Condition::False);
}
