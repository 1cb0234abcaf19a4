//! The paper's own examples, number by number, and laws of the structure.

use super::levels::Gap;
use super::pattern::tree_pattern;
use super::state::Branches;
use super::{Options, Run, Variant, View, XTrie};
use pathcast_core::engine::{Engine, Found, PathId};
use pathcast_core::limits::Limits;
use pathcast_core::names::{NameId, Names, Resolved};
use pathcast_core::pattern::{Scope, normalise};

/// Patterns over one set of names.
struct Fixture {
    names: Names,
    xtrie: XTrie,
}

impl Fixture {
    fn new(options: Options) -> Self {
        let mut names = Names::default();
        for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
            names.intern(pathcast_core::names::NamespaceId::NONE, name);
        }
        Self { names, xtrie: XTrie::new(options) }
    }

    /// Tree patterns for everything, as in the paper's sections 3 and 4.
    fn of_trees(variant: Variant) -> Self {
        Self::new(Options { variant, single_paths: false, ..Options::default() })
    }

    fn add(&mut self, id: u32, xpath: &str, ordered: bool) {
        let parsed = pathcast_core::xpath::parse(xpath, &Limits::default()).unwrap();
        let mut scope = Scope { names: &mut self.names, namespaces: &[], ignore_namespaces: false };
        let condition = normalise(&parsed, ordered, &mut scope).unwrap();
        let pattern = tree_pattern(&condition).unwrap_or_else(|| panic!("{xpath} is not taken"));
        self.xtrie.insert_pattern(&pattern, PathId(id));
    }

    fn label(&self, view: &View, node: usize) -> String {
        let mut names = Vec::new();
        let mut at = node;
        while let Some(name) = view.nodes.get(at.wrapping_sub(1)).and_then(|node| node.name) {
            names.push(self.names.parts(name).1);
            at = view.nodes[at - 1].parent;
        }
        names.into_iter().rev().collect()
    }

    fn name(&self, name: &str) -> Resolved {
        self.names.resolve(pathcast_core::names::NamespaceId::NONE, name)
    }

    /// Runs a document given as names of start tags and `/` for end tags; what is found.
    fn run(&self, run: &mut Run, events: &str, mut after: impl FnMut(&str, &mut Run)) -> Vec<u32> {
        let mut found = Found::default();
        found.clear(64);
        self.xtrie.begin(run);
        for event in events.split_whitespace() {
            if event == "/" {
                self.xtrie.end(run);
            } else {
                self.xtrie.start(run, self.name(event), &[], &mut found);
                after(event, run);
            }
        }
        self.xtrie.finish(run, &mut found);
        let mut found: Vec<u32> = found.paths().iter().map(|path| path.0).collect();
        found.sort_unstable();
        found
    }
}

const EXAMPLE: [&str; 4] = ["//a/a/b/c/*/a/b", "/a/b[c/e]/*/b/c/d", "/a/b[c/*/d]//b/c", "//c/b//c/d/*/*/d"];

/// Example 4.1: four expressions, twelve rows, the trie, ranks, levels and links.
#[test]
fn example_4_1() {
    let mut fixture = Fixture::of_trees(Variant::Eager);
    for (id, xpath) in (1..).zip(EXAMPLE) {
        fixture.add(id, xpath, true);
    }
    let view = fixture.xtrie.view();
    let exact = |levels| Gap::new(levels, true);
    let from = |levels| Gap::new(levels, false);
    let expected = [
        ("aabc", 0, from(4), 1, 1, 0),
        ("ab", 1, exact(3), 1, 0, 3),
        ("ab", 0, exact(2), 1, 2, 6),
        ("abce", 3, exact(2), 1, 0, 0),
        ("bcd", 3, exact(4), 2, 0, 0),
        ("ab", 0, exact(2), 1, 2, 0),
        ("abc", 6, exact(1), 1, 1, 0),
        ("d", 7, exact(2), 1, 0, 12),
        ("bc", 6, from(2), 2, 0, 0),
        ("cb", 0, from(2), 1, 1, 0),
        ("cd", 10, from(2), 1, 1, 0),
        ("d", 11, exact(3), 1, 0, 0),
    ];
    let rows: Vec<_> = view
        .rows
        .iter()
        .map(|row| (fixture.label(&view, row.node), row.parent, row.gap, row.rank, row.children, row.next))
        .collect();
    let expected_rows: Vec<_> =
        expected.iter().map(|row| (row.0.to_owned(), row.1, row.2, row.3, row.4, row.5)).collect();
    assert_eq!(rows, expected_rows);

    // Label, the row its substring pointer leads to, the label its max-suffix pointer leads to.
    let mut trie: Vec<_> = (1..=view.nodes.len())
        .map(|node| {
            let each = &view.nodes[node - 1];
            (fixture.label(&view, node), each.substring, fixture.label(&view, each.max_suffix))
        })
        .collect();
    trie.sort();
    let expected = [
        ("", 0, ""),
        ("a", 0, ""),
        ("aa", 0, "a"),
        ("aab", 0, "ab"),
        ("aabc", 1, "abc"),
        ("ab", 2, "b"),
        ("abc", 7, "bc"),
        ("abce", 4, ""),
        ("b", 0, ""),
        ("bc", 9, "c"),
        ("bcd", 5, "cd"),
        ("c", 0, ""),
        ("cb", 10, "b"),
        ("cd", 11, "d"),
        ("d", 8, ""),
    ];
    let expected: Vec<_> =
        expected.iter().map(|node| (node.0.to_owned(), node.1, node.2.to_owned())).collect();
    assert_eq!(trie, expected);
    assert!(fixture.xtrie.chains_are_sound());
}

/// In the lazy variant only leaves are chained.
#[test]
fn example_4_1_lazy() {
    let mut fixture = Fixture::of_trees(Variant::Lazy);
    for (id, xpath) in (1..).zip(EXAMPLE) {
        fixture.add(id, xpath, true);
    }
    let view = fixture.xtrie.view();
    let mut chained: Vec<_> = view
        .nodes
        .iter()
        .zip(1..)
        .filter(|(node, _)| node.substring > 0)
        .map(|(node, at)| (fixture.label(&view, at), node.substring, view.rows[node.substring - 1].next))
        .collect();
    chained.sort();
    let expected = [("ab", 2, 0), ("abce", 4, 0), ("bc", 9, 0), ("bcd", 5, 0), ("d", 8, 12)];
    assert_eq!(chained, expected.map(|(label, row, next)| (label.to_owned(), row, next)));
}

/// Figure 1's document and Table 2: every change of the run-time state, start tag by start tag.
#[test]
fn table_2() {
    let mut fixture = Fixture::of_trees(Variant::Eager);
    fixture.add(0, "//a[.//b[*/c]/d]/f", true);
    let view = fixture.xtrie.view();
    let document = "g a b b e c / / d / / h c / / / b / f / / /";
    let mut lines = Vec::new();
    let mut run = Run::default();
    let found = fixture.run(&mut run, document, |tag, run| {
        let changes: Vec<String> = run
            .trace
            .drain(..)
            .map(|(row, level, value)| {
                format!("[{},{level}]={value}", fixture.label(&view, view.rows[row as usize].node))
            })
            .collect();
        lines.push(format!("{tag}: {}", changes.join(" ")));
    });
    assert_eq!(
        lines,
        [
            "g: ",
            "a: [a,2]=1",
            "b: [b,3]=1",
            "b: [b,4]=1",
            "e: ",
            "c: [c,6]=1 [b,4]=2",
            "d: [bd,5]=1 [b,4]=3 [a,2]=2 [b,3]=3",
            "h: ",
            "c: ",
            "b: ",
            "f: [af,3]=1 [a,2]=3",
        ]
    );
    assert_eq!(found, [0]);
    assert_eq!(run.states.len(), 0, "what was noted for a level goes with it");
}

/// Section 3.1: unordered, a branch may be met before the ones written earlier; ordered, it may not.
#[test]
fn figure_2_unordered_and_ordered() {
    for variant in [Variant::Eager, Variant::Lazy] {
        let mut fixture = Fixture::of_trees(variant);
        fixture.add(0, "/a/b[c/d//e][g//e/f]//*/*/e/f", false);
        fixture.add(1, "/a/b[c/d//e][g//e/f]//*/*/e/f", true);
        let [c, g, wild] = ["c d e / / /", "g e f / / /", "h h e f / / / /"];
        let mut run = Run::default();
        let mut found = |branches: [&str; 3]| {
            fixture.run(&mut run, &format!("a b {} / /", branches.join(" ")), |_, _| {})
        };
        assert_eq!(found([c, g, wild]), [0, 1], "{variant:?}");
        assert_eq!(found([wild, c, g]), [0], "{variant:?}");
        assert_eq!(found([c, g, "h h e / / /"]), [] as [u32; 0], "{variant:?}");
    }
}

/// A fresh build of the same patterns, for comparison.
fn rebuilt(options: Options, live: &[Option<(String, bool)>]) -> (View, usize, bool) {
    let mut fixture = Fixture::new(options);
    for (id, each) in (0..).zip(live) {
        if let Some((xpath, ordered)) = each {
            fixture.add(id, xpath, *ordered);
        }
    }
    (fixture.xtrie.view(), fixture.xtrie.table.subtrees.len(), fixture.xtrie.chains_are_sound())
}

/// Any order of insertions and deletions equals a fresh build: node for node, pointer for pointer, row for row.
#[test]
fn maintenance_equals_a_fresh_build() {
    // A small generator of its own: what matters is that it repeats.
    let mut seed = 7_u64;
    let mut draw = |bound: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % bound
    };
    for single_paths in [false, true] {
        for variant in [Variant::Eager, Variant::Lazy] {
            let options = Options { variant, single_paths, ..Options::default() };
            let mut fixture = Fixture::new(options);
            let mut live: Vec<Option<(String, bool)>> = vec![None; 12];
            for round in 0..400 {
                let id = draw(live.len() as u64) as usize;
                if live[id].take().is_some() {
                    fixture.xtrie.remove_pattern(PathId(id as u32));
                } else {
                    let mut xpath = String::new();
                    for _ in 0..=draw(5) {
                        xpath.push_str(["/", "/", "/", "//"][draw(4) as usize]);
                        xpath.push_str(["a", "b", "c", "*"][draw(4) as usize]);
                        xpath.push_str(["", "", "", "[b/c]", "[a/a]", "[@x]", "[. = 'x']"][draw(7) as usize]);
                    }
                    let ordered = draw(2) == 0;
                    fixture.add(id as u32, &xpath, ordered);
                    live[id] = Some((xpath, ordered));
                }
                if round % 7 == 0 || round > 390 {
                    let (fresh, subtrees, sound) = rebuilt(options, &live);
                    let view = fixture.xtrie.view();
                    assert_eq!(fixture.xtrie.table.subtrees.len(), subtrees, "round {round}: {live:?}");
                    // A fresh build meets fewer pattern numbers, but what it holds is the same.
                    assert_eq!(view, fresh, "round {round}: {live:?}");
                    assert!(sound && fixture.xtrie.chains_are_sound());
                }
            }
            for id in (0..).zip(&live).filter(|(_, each)| each.is_some()).map(|(id, _)| id) {
                fixture.xtrie.remove_pattern(PathId(id));
            }
            let view = fixture.xtrie.view();
            assert_eq!((view.nodes.len(), view.rows.len(), view.reversed), (1, 0, 1));
            assert_eq!((view.lineages, fixture.xtrie.table.subtrees.len()), (0, 0));
            assert_eq!((fixture.xtrie.attributes, fixture.xtrie.text), (0, 0));
        }
    }
}

/// The suffix of a substring is found though its node is a leaf, and though it came first.
#[test]
fn suffixes_may_be_leaves_and_may_come_first() {
    for variant in [Variant::Eager, Variant::Lazy] {
        let mut fixture = Fixture::of_trees(variant);
        fixture.add(0, "//b", false);
        fixture.add(1, "//c/a/b", false);
        fixture.add(2, "//a/b", false);
        let mut run = Run::default();
        assert_eq!(fixture.run(&mut run, "c a b / / /", |_, _| {}), [0, 1, 2]);
        assert_eq!(fixture.run(&mut run, "a b / /", |_, _| {}), [0, 2]);
    }
}

/// A prefix that matches thousands of times under a pattern that never completes costs no more for it.
#[test]
fn prefixes_without_end_do_not_blow_up() {
    for (single_paths, variant) in
        [(true, Variant::Eager), (true, Variant::Lazy), (false, Variant::Eager), (false, Variant::Lazy)]
    {
        let mut fixture = Fixture::new(Options { variant, single_paths, ..Options::default() });
        fixture.add(0, &format!("//h{}//b", "//a".repeat(40)), false);
        fixture.add(1, &format!("//a{}[.//h]", "[.//a]//a".repeat(12)), false);
        fixture.add(2, &format!("//a{}//h", "[.//a][b]//a".repeat(8)), true);
        let chain = 150;
        let document = format!("{} {} {}", "a ".repeat(chain), "b / ".repeat(500), "/ ".repeat(chain));
        let mut run = Run::default();
        let mut states = 0;
        let found = fixture.run(&mut run, &document, |_, run| states = states.max(run.states.len()));
        assert_eq!(found, [] as [u32; 0], "{variant:?}");
        // One state at most for each inner row and level.
        let inner = fixture.xtrie.view().rows.iter().filter(|row| row.children > 0).count();
        assert!(states <= inner * (chain + 1), "{variant:?}: {states}");
    }
}

/// Sixty branches at one node, and sixty that share all their substrings.
#[test]
fn many_branches() {
    for variant in [Variant::Eager, Variant::Lazy] {
        let mut fixture = Fixture::of_trees(variant);
        fixture.add(0, &format!("/a{}", "[b/c]".repeat(60)), true);
        let distinct: String = (0..120).map(|number| format!("[b/x{number}]")).collect();
        fixture.add(1, &format!("/a{distinct}"), false);
        let document = |branches: usize| format!("a {} /", "b c / / ".repeat(branches));
        let mut run = Run::default();
        assert_eq!(fixture.run(&mut run, &document(60), |_, _| {}), [0], "{variant:?}");
        assert_eq!(fixture.run(&mut run, &document(59), |_, _| {}), [] as [u32; 0], "{variant:?}");
        let all = |from: usize| -> String {
            let inside: String = (from..120).map(|number| format!("x{number} / ")).collect();
            format!("a b {inside} / /")
        };
        assert_eq!(fixture.run(&mut run, &all(0), |_, _| {}), [1], "{variant:?}");
        assert_eq!(fixture.run(&mut run, &all(1), |_, _| {}), [] as [u32; 0], "{variant:?}");
    }
}

/// A name that ends many lineages: those that hang on what was met are tried, at any depth and only while it is open.
#[test]
fn lineages_are_found_by_what_they_hang_on() {
    for (single_paths, variant) in
        [(true, Variant::Eager), (true, Variant::Lazy), (false, Variant::Eager), (false, Variant::Lazy)]
    {
        let mut fixture = Fixture::new(Options { variant, single_paths, ..Options::default() });
        for id in 0..40 {
            fixture.add(id, &format!("//x{id}//h[g]"), false);
        }
        fixture.add(40, "/*/h", false);
        fixture.add(41, "//*[descendant-or-self::h]/g", false);
        let mut run = Run::default();
        let mut expect = |events: &str, expected: &[u32]| {
            assert_eq!(fixture.run(&mut run, events, |_, _| {}), expected, "{variant:?}: {events}");
        };
        for depth in [0, 62, 63, 64, 130] {
            let (down, up) = ("a ".repeat(depth), "/ ".repeat(depth));
            expect(&format!("{down} b x3 x7 x3 h g / / / h g / / / / / {up}"), &[3, 7, 41]);
            // What has ended is met no more.
            expect(
                &format!("{down} b x3 x3 / x9 h / / / x4 h g / / / x3 / h g / / / {up}"),
                match depth {
                    0 => &[4, 40, 41],
                    _ => &[4, 41],
                },
            );
            expect(
                &format!("{down} x5 {down} x5 / h g / / {up} / h / {up}"),
                match depth {
                    0 => &[5, 40, 41],
                    _ => &[5, 41],
                },
            );
        }
        expect("h g / /", &[41]);

        // What it hangs on may be the very element, and met after it.
        let mut fixture = Fixture::new(Options { variant, single_paths, ..Options::default() });
        fixture.add(0, "//*[not(b)][descendant-or-self::h]", false);
        let mut run = Run::default();
        assert_eq!(fixture.run(&mut run, "h g / /", |_, _| {}), [0], "{variant:?}");
        assert_eq!(fixture.run(&mut run, "h b / /", |_, _| {}), [] as [u32; 0], "{variant:?}");
    }
}

/// A document that breaks off leaves nothing behind, at any depth.
#[test]
fn a_broken_document_leaves_no_trace() {
    for variant in [Variant::Eager, Variant::Lazy] {
        for depth in [3, 200] {
            let mut fixture = Fixture::of_trees(variant);
            fixture.add(0, "//a[b]//a[c]", false);
            fixture.add(1, "//a and //c", false);
            fixture.add(2, "//a[b]//a[c]", true);
            let mut run = Run::default();
            let deepest = &mut (0, 0);
            fixture.run(&mut run, &format!("{} b / c", "a ".repeat(depth)), |_, run| {
                *deepest = (run.states.len(), run.completed.iter().map(Vec::len).sum());
            });
            assert!(deepest.0 > 0 && deepest.1 > depth, "{variant:?}: {deepest:?}");
            assert_eq!(fixture.run(&mut run, "a /", |_, _| {}), [] as [u32; 0], "{variant:?}");
            assert_eq!(fixture.run(&mut run, "a c / /", |_, _| {}), [1], "{variant:?}");
            let branches = Branches { mode: super::Mode::Ordered, count: 2 };
            let row = fixture.xtrie.table.rows_of(PathId(2)).start;
            assert!((0..300).all(|level| run.states.wants(row, level, branches, 1, 0)));
            let subtrees = 0..fixture.xtrie.table.subtrees.bound() as u32;
            // What was found below the document node is forgotten when the next one begins.
            fixture.xtrie.begin(&mut run);
            assert!(
                subtrees
                    .flat_map(|each| (0..300).map(move |level| (each, level)))
                    .all(|(each, level)| !run.complete.has(each, level))
            );
            assert_eq!(run.level(), 0);

            // The index may change before the next document, and numbers of nodes come back.
            fixture.run(&mut run, &"a ".repeat(depth), |_, _| {});
            (0..3).for_each(|id| fixture.xtrie.remove_pattern(PathId(id)));
            fixture.add(0, "//g//h", false);
            fixture.add(1, "//f[g]//h", false);
            assert_eq!(fixture.run(&mut run, "b h / /", |_, _| {}), [] as [u32; 0], "{variant:?}");
        }
    }
}

/// Unknown names are no substring.
#[test]
fn a_name_nobody_uses_ends_every_substring() {
    let mut fixture = Fixture::of_trees(Variant::Eager);
    fixture.add(0, "//a/b", false);
    assert_eq!(fixture.name("nobody").name, NameId::OTHER);
    assert_eq!(fixture.run(&mut Run::default(), "a nobody b / / /", |_, _| {}), [] as [u32; 0]);
}
