//! The paper's examples, the errors in it, and paths too long for a word.
#![allow(clippy::unwrap_used)]

use super::constraint::{Distance, Predicate};
use super::tags::Tags;
use super::{Organisation, Predicates, encode};
use pathcast_core::engine::{AttributeFilters, Engine, Filters, PathId};
use pathcast_core::index::{EngineKind, Id, Index, Settings};
use pathcast_core::limits::Limits;
use pathcast_core::names::Names;
use pathcast_core::pattern::{FilteredPath, Scope, as_filtered, normalise};
use pathcast_core::reader::Document;
use pathcast_core::xpath;

const ENGINES: [EngineKind; 3] = [crate::PREDICATE, crate::PREDICATE_PC, crate::PREDICATE_PC_AP];

fn path(text: &str, names: &mut Names) -> FilteredPath {
    let expression = xpath::parse(text, &Limits::default()).expect(text);
    let mut scope = Scope { names, namespaces: &[], ignore_namespaces: false };
    as_filtered(&normalise(&expression, false, &mut scope).expect(text)).expect(text)
}

/// The predicates of an expression, written as the paper writes them.
fn written(text: &str) -> String {
    let mut names = Names::default();
    let mut tags = Tags::default();
    let path = path(text, &mut names);
    let encoded = encode::intern(&path, true, &mut tags);
    let name = |tag: u32| {
        let at = encoded.tags.iter().position(|&each| each == tag).unwrap();
        match path.steps[at].name {
            pathcast_core::pattern::NameTest::Name(id) => names.parts(id).1.to_owned(),
            _ => "*".to_owned(),
        }
    };
    let distance = |Distance { min, exact }| if exact { format!("= {min}") } else { format!(">= {min}") };
    let predicate = |each: &Predicate| match *each {
        Predicate::Absolute { tag, distance: far } => format!("{} {}", name(tag), distance(far)),
        Predicate::Relative { from, to, distance: far } => {
            format!("d({}, {}) {}", name(from), name(to), distance(far))
        }
        Predicate::EndOfPath { tag, levels } => format!("{}| >= {levels}", name(tag)),
        Predicate::Length { levels } => format!("length >= {levels}"),
    };
    encoded.predicates.iter().map(predicate).collect::<Vec<_>>().join(", ")
}

#[test]
fn expressions_become_the_papers_predicates() {
    for (text, expected) in [
        ("/a/b/b", "a = 1, d(a, b) = 1, d(b, b) = 1"),
        ("a", "a >= 1"),
        ("a/a/b/c", "d(a, a) = 1, d(a, b) = 1, d(b, c) = 1"),
        ("/a/*/*/b", "a = 1, d(a, b) = 3"),
        ("/a/b/*/*", "a = 1, d(a, b) = 1, b| >= 2"),
        ("/*/a/b", "a = 2, d(a, b) = 1"),
        ("/*/*/*/*", "length >= 4"),
        ("a/b/*/*", "d(a, b) = 1, b| >= 2"),
        ("*/*/a/*/b", "a >= 3, d(a, b) = 2"),
        ("a/*/*/b/c", "d(a, b) = 3, d(b, c) = 1"),
        ("*/*/*/*", "length >= 4"),
        ("/a//b/c", "a = 1, d(a, b) >= 1, d(b, c) = 1"),
        ("/*/b//c/*", "b = 2, d(b, c) >= 1, c| >= 1"),
        ("a/b//c", "d(a, b) = 1, d(b, c) >= 1"),
        ("*/a/*/b//c/*/*", "a >= 2, d(a, b) = 2, d(b, c) >= 1, c| >= 2"),
        ("a/c/*/a//c", "d(a, c) = 1, d(c, a) = 2, d(a, c) >= 1"),
    ] {
        assert_eq!(written(text), expected, "{text}");
    }
}

fn index_of(engine: EngineKind, attribute_filters: AttributeFilters, expressions: &[&str]) -> Index {
    let mut index = Index::new(Settings { engine, attribute_filters, ..Settings::default() });
    for (number, xpath) in (0..).zip(expressions) {
        index.add(Id::Number(number), xpath, false, &Vec::new()).expect(xpath);
    }
    index
}

fn found(index: &Index, document: &str) -> Vec<i64> {
    let matches = index.matches(Document::Bytes(document.as_bytes())).expect(document);
    matches.ids().map(|id| if let Id::Number(number) = id { number } else { -1 }).collect()
}

/// Each expression with its answer, alone and together, in every organisation and both ways to filter.
fn check(document: &str, expected: &[(&str, bool)]) {
    let expressions: Vec<_> = expected.iter().map(|each| each.0).collect();
    let answer: Vec<i64> = (0..).zip(expected).filter(|each| each.1.1).map(|each| each.0).collect();
    for engine in ENGINES {
        for when in AttributeFilters::ALL {
            let index = index_of(engine, when, &expressions);
            assert_eq!(found(&index, document), answer, "{engine:?} {when:?} {expected:?} {document}");
            assert_eq!(found(&index, document), answer, "once more: {engine:?} {when:?} {document}");
            for (xpath, expected) in expected {
                let alone = found(&index_of(engine, when, &[xpath]), document);
                assert_eq!(alone.is_empty(), !expected, "{engine:?} {when:?} {xpath} {document}");
            }
        }
    }
}

#[test]
fn occurrences_must_fit_together() {
    // Table 1: both predicates of `c//b//a` are true, with different occurrences of `b`.
    check(
        "<a><b><c><a><b><c/></b></a></c></b></a>",
        &[("a//b/c", true), ("c//b//a", false), ("c//a/b", true), ("a/c", false), ("b//b/*", true)],
    );
}

#[test]
fn erratum_10_at_least_looks_at_values_up_to_the_position() {
    // `*/a` is (p_a, >=, 2): the `a` at position 4 satisfies it, and looking at values above 4 would miss it.
    check(
        "<r><s><t><a/></t></s></r>",
        &[("//a", true), ("*/a", true), ("*/*/*/a", true), ("*/*/*/*/a", false), ("r//*/*/a", true)],
    );
}

#[test]
fn erratum_11_the_longer_expression_implies_its_prefix() {
    check("<a><b/></a>", &[("/a", true), ("/a/b", true), ("/a/b/c", false), ("/a/b/c/d", false)]);
    check("<a><b><c/></b></a>", &[("/a", true), ("/a/b", true), ("/a/b/c", true), ("/a/b/c/d", false)]);
}

#[test]
fn erratum_12_one_element_may_serve_two_branches() {
    check("<a><b/></a>", &[("/a[b]/b", true), ("/a[b/c]/b", false)]);
    check("<a><b><c/><d/></b></a>", &[("/a[b/c]/b/d", true), ("/a[b[c]]/b[d]", true), ("/a[b/d]/c", false)]);
    // And branches found under different elements are no match: only the whole twig decides.
    check("<r><a><b/></a><a><c/></a></r>", &[("//a[b]/c", false), ("/r[a/b]/a/c", true)]);
}

#[test]
fn filters_are_asked_of_the_elements_that_fit() {
    check(
        "<r><a x='1'><b y='2'/></a><a x='2'><b y='1'/></a></r>",
        &[
            ("//a[@x = 1]/b[@y = 2]", true),
            ("//a[@x = 1]/b[@y = 1]", false),
            ("//a[@x = '2']/b", true),
            ("//a[@x > 2]", false),
            ("//a[@z]", false),
            ("//a[not(@z)]/b[not(@x)]/@y", true),
            ("//a[@x = 1 or @x = 3]//@y", true),
            ("//*[@x = 2]/*[@y = 1]", true),
            ("//*[@x = 2]/*/*", false),
            ("/r/*/@x", true),
            ("/r/*/*/@x", false),
            ("//a[@x = 2][b/@y = 2]", false),
            ("//a[@x = 2][b/@y = 1]/b", true),
            ("/r//@y", true),
            ("//b//@y", true),
            ("//@*", true),
            ("/@x", false),
        ],
    );
}

#[test]
fn equal_names_with_other_attributes_are_another_path() {
    let items: String = (0..50).map(|at| format!("<i k='{at}'><j/></i>")).collect();
    check(
        &format!("<r>{items}</r>"),
        &[
            ("//i[@k = 49]/j", true),
            ("//i[@k = 50]/j", false),
            ("//i[@k != 0]/*", true),
            ("//i[@q]/j", false),
        ],
    );
}

#[test]
fn removing_leaves_nothing() {
    let mut names = Names::default();
    let texts =
        ["/a/b", "/a/b/c", "//a[@x = 1]/b", "//a[@x = 2]/b", "//a[not(@x)]", "//*/*", "/*//@y", "//a/*"];
    let paths: Vec<_> = texts.iter().map(|text| path(text, &mut names)).collect();
    for organisation in [Organisation::Basic, Organisation::PrefixCovering, Organisation::AccessPredicates] {
        for when in AttributeFilters::ALL {
            let mut engine = Predicates::new(organisation);
            engine.set_attribute_filters(when);
            for rotated in 0..paths.len() {
                for (at, path) in (0..).zip(&paths) {
                    engine.insert_filtered(path, PathId(at));
                }
                for at in 0..paths.len() {
                    let at = (at + rotated) % paths.len();
                    engine.remove_filtered(&paths[at], PathId(at as u32));
                }
                assert!(engine.is_vacant(), "{organisation:?} {when:?}");
                assert!(!engine.wants_attributes());
            }
        }
    }
}

#[test]
fn distances_below_64_levels_are_exact() {
    for above in [61, 62, 63, 64, 65, 70] {
        let nested =
            format!("{}<a><b x='1'><a/><c><b/></c></b></a>{}", "<o>".repeat(above), "</o>".repeat(above));
        check(
            &nested,
            &[
                ("//a//b", true),
                ("//a//*/*/b", true),
                ("//a//*/*/*/b", false),
                ("//a//a", true),
                ("//a//*//a", true),
                ("//a//*//*//a", false),
                ("//a/a", false),
                ("//b//b", true),
                ("//b/b", false),
                ("//b/*/b", true),
                ("//b[@x = 1]/*/b", true),
                ("//b/*/b[@x]", false),
                ("//a/*/c/*", true),
                ("//a/*/c/*/*", false),
                ("//c//a", false),
                ("//a[@x]", false),
                ("//a//@x", true),
            ],
        );
        // What a path that is gone held must not be there for the next one.
        let then = format!("<r>{nested}<a/>{}<b/>{}</r>", "<o>".repeat(above), "</o>".repeat(above));
        check(&then, &[("/r/a/b", false), ("/r/a", true), ("/r//c//b", true), ("/r/b", false)]);
        let twice =
            format!("<r>{nested}<a>{}<c/>{}</a></r>", "<p>".repeat(above + 3), "</p>".repeat(above + 3));
        check(&twice, &[("/r/a//c", true), ("/r/a//b", false), ("/r/a//a", false), ("//p/c", true)]);
    }
}

#[test]
fn combinations_that_all_fail_are_not_tried_one_by_one() {
    // All predicates of `//a//a//a//a/b` are true, and a search with backtracking would try 4 · 10^10 combinations.
    for levels in [40, 1_000] {
        let path = format!("<a><b>{}{}</b></a>", "<a>".repeat(levels), "</a>".repeat(levels));
        check(&path, &[("//a//a//a//a/b", false), ("//a//a//a//a/a", true), ("//a/b", true)]);
    }
}

/// A path below the root with names at some positions, and `o` at all others.
fn below_the_root(depth: usize, names: &[(usize, &str)]) -> String {
    let name = |at: usize| names.iter().find(|each| each.0 == at).map_or("o", |each| each.1);
    let open: String = (2..=depth).map(|at| format!("<{}>", name(at))).collect();
    let close: String = (2..=depth).rev().map(|at| format!("</{}>", name(at))).collect();
    open + &close
}

#[test]
fn a_long_path_forgets_the_one_before() {
    let first = below_the_root(70, &[(10, "a"), (70, "a")]);
    let second = below_the_root(67, &[(20, "a"), (66, "a"), (67, "c")]);
    let tenth = format!("{}/a//c", "/*".repeat(9));
    let twentieth = format!("{}/a//c", "/*".repeat(19));
    check(&format!("<r>{first}{second}</r>"), &[(&tenth, false), (&twentieth, true)]);
    check(&format!("<r>{second}{first}</r>"), &[(&tenth, false), (&twentieth, true)]);
}

/// Paths around and beyond 64 levels, against the automaton.
#[test]
fn long_paths_are_answered_as_the_automaton_does() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut draw = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for round in 0..40 {
        let mut expressions = Vec::new();
        for _ in 0..60 {
            let mut text = String::new();
            for _ in 0..1 + draw(6) {
                text.push_str(["/", "/", "//"][draw(3)]);
                let wild = [0, 0, 1, 3, 40][draw(5)];
                text.push_str(&"*/".repeat(wild));
                text.push_str(["a", "b", "c", "*"][draw(4)]);
            }
            text.push_str(["", "", "", "/@x", "//@y"][draw(5)]);
            expressions.push(text);
        }
        let expressions: Vec<_> = expressions.iter().map(String::as_str).collect();
        let depth = [3, 60, 63, 64, 65, 66, 90, 150][round % 8];
        let (mut open, mut close) = (String::new(), String::new());
        for _ in 0..depth {
            // Few names that matter in every second document, so that distances decide.
            let names = if round / 8 % 2 == 0 { 4 } else { 40 };
            let name = ["a", "b", "c"].get(draw(names)).unwrap_or(&"o");
            let attribute = ["", "", " x='1'", " y='2'"][draw(4)];
            let leaf =
                ["", "", "<a/>", "<b x='3'/>", "<c><a/></c>"][if draw(names) < 3 { draw(5) } else { 0 }];
            open.push_str(&format!("<{name}{attribute}>{leaf}"));
            close = format!("{leaf}</{name}>{close}");
        }
        let document = open + &close;
        let expected = found(
            &index_of(pathcast_core::index::ENGINES[1], AttributeFilters::Inline, &expressions),
            &document,
        );
        for engine in ENGINES {
            for when in AttributeFilters::ALL {
                let index = index_of(engine, when, &expressions);
                assert_eq!(found(&index, &document), expected, "{round} {engine:?} {when:?} {document}");
                assert!(found(&index, "<o/>").iter().all(|&at| !expressions[at as usize].contains('a')));
            }
        }
    }
}
