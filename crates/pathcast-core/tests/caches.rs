//! A cache that has been used, changed, filled and halved answers as the shared automaton, which has none.
#![allow(clippy::unwrap_used)] // the lint spares test functions, but not what they share

use pathcast_core::index::{ENGINES, EngineKind, Id, Index, Settings};
use pathcast_core::reader::Document;

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
        for _ in 0..=self.below(5) {
            path.push_str(if self.below(3) == 0 { "//" } else { "/" });
            path.push_str(["a", "b", "c", "d", "*"][self.below(5) as usize]);
        }
        match self.below(8) {
            0 => path + "/@x",
            1 => path + "//@y",
            _ => path,
        }
    }

    fn element(&mut self, depth: u32, out: &mut String) {
        let name = ["a", "b", "c", "d", "z"][self.below(5) as usize];
        let attributes = ["", " x=''", " y=''"][self.below(3) as usize];
        out.push_str(&format!("<{name}{attributes}>"));
        for _ in 0..if depth < 8 { self.below(4) } else { 0 } {
            self.element(depth + 1, out);
        }
        out.push_str(&format!("</{name}>"));
    }
}

fn found(index: &Index, document: &str) -> Vec<Id> {
    index.matches(Document::Text(document)).unwrap().ids().collect()
}

#[test]
fn caches_of_any_size_answer_alike_while_paths_come_and_go() {
    let seed = std::env::var("PATHCAST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_116);
    println!("seed {seed}");
    let mut random = Random(seed);
    let kind = |name| EngineKind::find(name, &ENGINES).unwrap();
    let settings = [("yfilter", 0), ("lazy-dfa", 64 << 20), ("lazy-dfa", 30_000), ("auto", 100_000)];
    let mut full = 0;
    for _ in 0..8 {
        let mut indexes = settings.map(|(name, bytes)| {
            Index::new(Settings { engine: kind(name), cache_bytes: Some(bytes), ..Settings::default() })
        });
        for round in 0..40 {
            // One or a few at a time, so that most of what is cached is kept.
            for _ in 0..if round == 0 { 200 } else { random.below(4) } {
                let (id, path) = (Id::Number(random.below(400) as i64), random.path());
                let leaves = round > 0 && random.below(3) == 0;
                for index in &mut indexes {
                    if leaves {
                        index.remove(&id);
                    } else {
                        index.add(id.clone(), &path, false, &Vec::new()).unwrap();
                    }
                }
            }
            for _ in 0..4 {
                let mut document = String::new();
                random.element(0, &mut document);
                let expected = found(&indexes[0], &document);
                for index in &indexes[1..] {
                    assert_eq!(found(index, &document), expected, "{document}");
                }
            }
        }
        full += indexes[2].stats().cache.clears;
    }
    assert!(full > 0, "the small cache was never full: nothing was halved");
}

#[test]
fn keys_answer_as_the_shared_automaton_before_and_after_a_change() {
    let mut random = Random(20_261_117);
    let kind = |name| EngineKind::find(name, &ENGINES).unwrap();
    let mut indexes =
        ["yfilter", "auto"].map(|name| Index::new(Settings { engine: kind(name), ..Settings::default() }));
    let path = |random: &mut Random| {
        let mut path = String::from("/r");
        for _ in 0..2 + random.below(4) {
            path.push_str(if random.below(6) == 0 { "//" } else { "/" });
            match random.below(21) {
                20 => path.push('*'),
                name => path.push_str(&format!("n{name}")),
            }
        }
        path
    };
    let document = |random: &mut Random, deepest: u64| {
        let (mut text, mut open) = (String::from("<r>"), Vec::new());
        for _ in 0..40.max(2 * deepest) {
            if open.len() as u64 == deepest || !open.is_empty() && random.below(5) < 2 {
                text.push_str(&format!("</n{}>", open.pop().unwrap()));
            } else {
                open.push(random.below(21));
                text.push_str(&format!("<n{}>", open[open.len() - 1]));
            }
        }
        open.iter().rev().for_each(|name| text.push_str(&format!("</n{name}>")));
        text + "</r>"
    };
    for id in 0..6_000 {
        let path = path(&mut random);
        for index in &mut indexes {
            index.add(Id::Number(id), &path, false, &Vec::new()).unwrap();
        }
    }
    let mut matched = 0;
    for round in 0..340 {
        // the last ones are deeper than keys go, and come with changes
        if round >= 330 {
            let path = path(&mut random);
            for index in &mut indexes {
                index.add(Id::Number(round), &path, false, &Vec::new()).unwrap();
            }
        }
        let document = document(&mut random, if round > 310 && round % 2 == 0 { 100 } else { 8 });
        let expected = found(&indexes[0], &document);
        assert_eq!(found(&indexes[1], &document), expected, "{document}");
        matched += expected.len();
    }
    assert!(matched > 340);
    assert!(indexes[1].stats().cache.keyed_documents > 50, "{:?}", indexes[1].stats().cache);
}
