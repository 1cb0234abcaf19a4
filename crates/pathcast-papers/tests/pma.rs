//! The pattern-matching automaton beside the shared one, where keywords overlap.
#![allow(clippy::unwrap_used)] // the lint spares test functions, but not what they share

use pathcast_core::index::{self, EngineKind, Id, Index, Settings};
use pathcast_core::reader::Document;
use pathcast_papers::{PMA, PMA_UPDATING};

const VARIANTS: [EngineKind; 2] = [PMA, PMA_UPDATING];

fn empty(engine: EngineKind) -> Index {
    Index::new(Settings { engine, ..Settings::default() })
}

fn found(index: &Index, document: &str) -> Vec<i64> {
    let matches = index.matches(Document::Bytes(document.as_bytes())).unwrap();
    matches.ids().map(|id| if let Id::Number(number) = id { number } else { -1 }).collect()
}

fn matches(engine: EngineKind, xpath: &str, document: &str) -> bool {
    let mut index = empty(engine);
    index.add(Id::Number(0), xpath, false, &Vec::new()).unwrap();
    !found(&index, document).is_empty()
}

#[test]
fn two_keywords_share_no_symbol() {
    for engine in VARIANTS {
        for (xpath, document, expected) in [
            // A suffix of a keyword is a prefix of the next, or the next contains it: the paper's two examples.
            ("//a/b//b/c", "<doc><a><b><c/></b></a></doc>", false),
            ("//b//a/b/c", "<doc><a><b><c/></b></a></doc>", false),
            ("//a/b//b/c", "<doc><a><b><b><c/></b></b></a></doc>", true),
            ("//b//a/b/c", "<b><a><b><c/></b></a></b>", true),
            ("//a//a", "<a/>", false),
            ("//a//a", "<a><b><a/></b></a>", true),
            // Keywords on different ways down do not make a path.
            ("//a//b", "<r><a/><b/></r>", false),
            ("//b//a", "<r><a><c/></a><b><c/><a/></b></r>", true),
            ("/a//b/c//d", "<a><b><c><d/></c></b></a>", true),
            ("/a//b/c//d", "<a><b><c/><d/></b></a>", false),
            // `#` is the document node.
            ("/a/b", "<a><a><b/></a></a>", false),
            ("//a/b", "<a><a><b/></a></a>", true),
            // An attribute is a symbol that nothing follows.
            ("//a//@x", "<a x='1'/>", true),
            ("//a//@x", "<r x='1'><a/></r>", false),
            ("//a/b/@x", "<a x='1'><b/></a>", false),
            ("//@x", "<r><a x='1'/></r>", true),
            // Names nobody uses lie between.
            ("//a/b", "<a><z><b/></z></a>", false),
            ("//a//b", "<a><z><b/></z></a>", true),
        ] {
            assert_eq!(matches(engine, xpath, document), expected, "{engine:?}: {xpath} on {document}");
        }
    }
}

#[test]
fn one_name_a_thousand_deep() {
    let depth = 1_000;
    let document = format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    for engine in VARIANTS {
        let mut index = empty(engine);
        let paths =
            ["//a//a//a//a//a", "/a//a/a/a//a//a/a", &"//a".repeat(200), &"/a".repeat(250), "//a/b//a"];
        for (number, xpath) in (0..).zip(paths) {
            index.add(Id::Number(number), xpath, false, &Vec::new()).unwrap();
        }
        assert_eq!(found(&index, &document), [0, 1, 2, 3], "{engine:?}");
        assert_eq!(found(&index, "<a><a/><a/></a>"), Vec::<i64>::new(), "{engine:?}: nothing is left over");
    }
}

/// A small generator: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn path(&mut self) -> String {
        let mut path = String::new();
        for _ in 0..=self.below(6) {
            path.push_str(if self.below(3) == 0 { "//" } else { "/" });
            // One name in eight is a wildcard, which the automaton leaves to the shared one.
            path.push_str(["a", "b", "a", "b", "a", "b", "c", "*"][self.below(8) as usize]);
        }
        match self.below(8) {
            0 => path + "/@x",
            1 => path + "//@y",
            _ => path,
        }
    }

    fn element(&mut self, depth: u32, out: &mut String) {
        let name = ["a", "b", "c", "z"][self.below(4) as usize];
        let attributes = ["", " x=''", " y=''", " x='' y=''"][self.below(4) as usize];
        out.push_str(&format!("<{name}{attributes}>"));
        for _ in 0..if depth < 9 { self.below(3) } else { 0 } {
            self.element(depth + 1, out);
        }
        out.push_str(&format!("</{name}>"));
    }
}

#[test]
fn agrees_with_the_shared_automaton_while_paths_come_and_go() {
    let seed = std::env::var("PATHCAST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_240_607);
    println!("seed {seed}");
    let mut random = Random(seed);
    let mut pairs = 0;
    for _ in 0..40 {
        let mut indexes = [index::ENGINES[1], PMA, PMA_UPDATING].map(empty);
        for round in 0..12 {
            for number in 0..60 {
                let id = Id::Number(number);
                let change = random.below(3);
                let path = random.path();
                for index in &mut indexes {
                    match change {
                        0 if round > 0 => drop(index.remove(&id)),
                        1 if round > 0 => {}
                        _ => drop(index.add(id.clone(), &path, false, &Vec::new()).unwrap()),
                    }
                }
            }
            for _ in 0..5 {
                let mut document = String::new();
                random.element(0, &mut document);
                let expected = found(&indexes[0], &document);
                for index in &indexes[1..] {
                    assert_eq!(found(index, &document), expected, "seed {seed}: {document}");
                }
                pairs += indexes[0].len();
            }
        }
    }
    assert!(pairs > 50_000, "{pairs} pairs");
}
