//! Verdicts and their reasons.

use pathcast_core::names::Names;
use pathcast_core::schema::{Builder, Content, Graph, Values, Verdict, check};

use crate::setting::{graph, read};

/// `<!ELEMENT r (a*, e*)>`, `a` with text, `e` EMPTY, `w` in element content without text anywhere below.
fn letters() -> Graph {
    let mut builder = Builder::default();
    let [r, a, e, w, m] = ["r", "a", "e", "w", "m"].map(|name| builder.element("", name));
    let other = builder.element("urn:n", "a");
    builder.root(r);
    for (element, content) in [
        (r, Content::Elements),
        (a, Content::Mixed),
        (e, Content::Empty),
        (w, Content::Elements),
        (m, Content::Any),
        (other, Content::Empty),
    ] {
        builder.declare(element, content);
    }
    for (parent, child) in [(r, a), (r, e), (r, w), (w, e), (a, other)] {
        builder.child(parent, child);
    }
    let tokens = Values::Tokens(vec!["left".into(), "7".into()]);
    builder.attribute(a, "", "side", false, tokens);
    builder.attribute(a, "", "version", true, Values::Fixed("1.0".into()));
    builder.attribute(e, "", "id", false, Values::Free);
    builder.build()
}

fn reason(graph: &Graph, xpath: &str) -> Option<String> {
    let mut names = Names::default();
    let ordered = xpath.starts_with("ordered ");
    let xpath = xpath.trim_start_matches("ordered ");
    let condition = read(xpath, ordered, &[("n".into(), "urn:n".into())], &mut names);
    match check(graph, &names, &condition) {
        Verdict::Possible => None,
        Verdict::Impossible { reason } => Some(reason),
    }
}

#[test]
fn impossible_with_a_reason() {
    let graph = letters();
    for (xpath, expected) in [
        ("/a", "the root is 'r', not 'a'"),
        ("/r/z", "the schema has no 'z'"),
        ("/r/a/e", "no 'e' can be directly inside 'a'"),
        ("//a//e", "no 'e' can be inside 'a'"),
        ("/r/*/*/e", "no 'e' can be 3 levels inside 'r'"),
        ("/r/*/*//e", "no 'e' can be 3 or more levels inside 'r'"),
        ("/*/*/*/e", "no 'e' can be 4 levels deep"),
        ("//*/*//*/e", "no 'e' can be 4 or more levels deep"),
        ("//m", "no 'm' can be in the document"),
        ("/r/*[*/*]", "no element can be 3 levels inside 'r'"),
        ("/r/w/@id", "'w' has no attribute 'id'"),
        ("//w/@*", "'w' has no attributes"),
        ("//a[@side = 'right']", "attribute 'side' of 'a' is one of 'left', '7'"),
        ("//a[@side > 7]", "attribute 'side' of 'a' is one of 'left', '7'"),
        ("//a[@version = 1.1]", "attribute 'version' of 'a' is always '1.0'"),
        ("//a[not(@version = 1)]/@version[. != 1]", "attribute 'version' of 'a' is always '1.0'"),
        ("//e[. = 'x']", "'e' holds no such text"),
        ("//e[. = ' ']", "'e' holds no such text"),
        ("//w[. = 3]", "'w' holds no such text"),
        ("//w[contains(e, 'x')]", "'w' holds no such text"),
        ("//e/text()", "'e' holds no such text"),
        ("//w/text()[. = 'x']", "'w' holds no such text"),
        ("/r/a[e or w]", "no 'e' can be directly inside 'a', and the other alternative is no better"),
        ("//e[following-sibling::r]", "no 'r' can be beside 'e'"),
        ("//e[following::m]", "no 'm' can be in the document"),
        ("//e[/a]", "the root is 'r', not 'a'"),
        ("ordered /r[a/e]/w", "no 'e' can be directly inside 'a'"),
        ("/n:a", "the root is 'r', not '{urn:n}a'"),
        ("//a/a", "no 'a' can be directly inside 'a'"),
    ] {
        assert_eq!(reason(&graph, xpath).as_deref(), Some(expected), "{xpath}");
    }
}

#[test]
fn possible() {
    let graph = letters();
    for xpath in [
        "/r",
        "//a",
        "//*",
        "/",
        "//a/n:a",
        "//n:*",
        "//a[@side = 'left']",
        "//a[@side = ' left ']",
        "//a[@side != 'left']",
        "//a[@side = 7]",
        "//a[@side >= 7]",
        "//a[not(@side = 'left')]",
        "//a[@version = 1]",
        "//a[starts-with(@side, ' l')]",
        "//e[. = '']",
        "//e[. != 'x']",
        "//e[. != 3]",
        "//w[. = ' ']",
        "//w[. = '']",
        "//w/text()",
        "//w/text()[. = ' ']",
        "//comment()[. = 'x']",
        "/comment()",
        "//a[text() = 'x']",
        "/r[. = 'x']",
        "not(/a)",
        "//e[not(@id)]",
        "//e[preceding-sibling::a]",
        "//e[following::e]",
        "//a[/r/w]",
        "//w[contains('', e)]",
        "ordered /r[a]/w/e",
        "/r[@x or a]",
        "//node()[. = 'x']",
    ] {
        assert_eq!(reason(&graph, xpath), None, "{xpath}");
    }
}

#[test]
fn without_namespaces_equal_local_names_are_one() {
    let graph = letters().ignoring_namespaces();
    assert_eq!(graph.len(), 5);
    assert_eq!(reason(&graph, "//a/a"), None);
    assert_eq!(reason(&graph, "//a//a/a"), None);
    assert!(graph.recursive().contains(graph.element("", "a").unwrap()));
}

#[test]
fn shape() {
    let graph = letters();
    assert_eq!(graph.depth(), Some(3));
    assert_eq!(graph.path_count(), Some(3));
    assert_eq!(graph.recursive().iter().collect::<Vec<_>>(), [graph.element("", "m").unwrap()]);
    let looped = crate::setting::graph("r>a, a>b, b>a c");
    assert_eq!(looped.depth(), None);
    assert_eq!(looped.path_count(), None);
    assert_eq!(looped.recursive().len(), 2);
    let [a, b] = ["a", "b"].map(|name| looped.element("", name).unwrap());
    assert_eq!(looped.component(a), looped.component(b));
}

#[test]
fn undeclared_elements_are_told_and_hold_text() {
    let graph = graph("r>a b, a>c");
    let undeclared: Vec<&str> = graph.undeclared().iter().map(|&each| graph.name(each).1).collect();
    assert_eq!(undeclared, ["b", "c"]);
    assert_eq!(reason(&graph, "//b[. = 'x']"), None);
}

#[test]
fn bytes_come_back_and_damage_does_not() {
    let graph = letters();
    let mut bytes = Vec::new();
    graph.encode(&mut bytes);
    let back = Graph::decode(&mut &bytes[..]).unwrap();
    let mut again = Vec::new();
    back.encode(&mut again);
    assert_eq!(bytes, again);
    assert_eq!(reason(&back, "//a[@side = 'right']"), reason(&graph, "//a[@side = 'right']"));
    for cut in 0..bytes.len() {
        assert!(Graph::decode(&mut &bytes[..cut]).is_err(), "cut at {cut}");
    }
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let _ = Graph::decode(&mut &damaged[..]);
        }
    }
}
