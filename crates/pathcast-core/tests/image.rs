//! An index that was opened from its image is the index that it is an image of: it answers, changes and saves alike.
#![allow(clippy::unwrap_used)] // the lint spares test functions, but not what they share

use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pathcast_core::cancel::{Watch, under};
use pathcast_core::engine::AttributeFilters;
use pathcast_core::index::{
    ENGINES, EngineKind, Id, Index, IndexFormatError, LAYOUT, Settings, Subscription, Written,
};
use pathcast_core::reader::Document;

/// Bytes before the tables: mark, layout, length and checksum.
const HEADER: usize = 52;

/// A small generator: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }

    fn predicate(&mut self) -> String {
        let number = self.below(40);
        let name = self.pick(&["a", "b", "c", "@x", "@y", ".", "b/c", "text()"]);
        match self.below(16) {
            0 => name.into(),
            1 | 2 => format!("{name} = '{number}'"),
            3 => format!("{name} >= {number}"),
            4 => format!("{name} < {number}"),
            5 => format!("{name} != '{number}'"),
            6 => format!("contains({name}, '{number}')"),
            7 => format!("starts-with({name}, '{}')", number % 7),
            8 => format!("not({name} = {number})"),
            9 => format!("count(a) > {}", number % 3),
            10 => format!("normalize-space({name}) = '{number}'"),
            11 => format!("{name} or b = {number}"),
            12 => format!("following-sibling::{}", self.pick(&["a", "b"])),
            13 => format!("string-length({name}) + 1 = {}", number % 4),
            14 => format!("contains('1{number}2', {name})"),
            _ => format!("position() = {}", 1 + number % 3),
        }
    }

    fn path(&mut self) -> String {
        let mut path = String::new();
        for _ in 0..=self.below(4) {
            path.push_str(if self.below(3) == 0 { "//" } else { "/" });
            path.push_str(self.pick(&["a", "b", "c", "*", "n:a", "n:*", "*:c"]));
            for _ in 0..self.below(6).saturating_sub(3) {
                path.push_str(&format!("[{}]", self.predicate()));
            }
        }
        match self.below(8) {
            0 => path + "/@x",
            _ => path,
        }
    }

    fn expression(&mut self) -> String {
        match self.below(12) {
            0 => format!("{} | {}", self.path(), self.path()),
            1 => format!("count({}) > 1", self.path()),
            2 => self.pick(&["true()", "false()", "1 = 1", "/", "/*"]).into(),
            3 => {
                let tests: Vec<String> = (0..5).map(|_| format!("[{}]", self.predicate())).collect();
                format!("//a{}", tests.concat())
            }
            _ => self.path(),
        }
    }

    fn id(&mut self) -> Id {
        let number = self.below(600) as i64;
        if number % 3 == 0 { Id::Text(format!("t{number}").into()) } else { Id::Number(number) }
    }

    fn written(&mut self) -> Written {
        let namespaces = vec![("n".into(), self.pick(&["urn:n", "urn:m"]).into())];
        Written::new(&self.expression(), self.below(9) == 0, &namespaces)
    }

    fn element(&mut self, depth: u32, out: &mut String) {
        let name = self.pick(&["a", "b", "c", "z", "n:a", "m:c"]);
        let attribute = match self.below(3) {
            0 => format!(" x='{}'", self.below(40)),
            1 => format!(" y='{}'", self.below(40)),
            _ => String::new(),
        };
        out.push_str(&format!("<{name}{attribute} xmlns:n='urn:n' xmlns:m='urn:m'>"));
        for _ in 0..if depth < 6 { self.below(4) } else { 0 } {
            match self.below(3) {
                0 => out.push_str(&self.below(40).to_string()),
                _ => self.element(depth + 1, out),
            }
        }
        out.push_str(&format!("</{name}>"));
    }

    fn document(&mut self) -> String {
        let mut document = String::new();
        self.element(0, &mut document);
        document
    }

    /// One change of some subscription; what is refused changes nothing.
    fn change(&mut self, indexes: &mut [&mut Index]) {
        let (id, written) = (self.id(), self.written());
        let removes = self.below(3) == 0;
        for index in indexes {
            if removes {
                index.remove(&id);
            } else {
                let _ = index.add_written(id.clone(), &written);
            }
        }
    }
}

fn seed() -> u64 {
    let seed = std::env::var("PATHCAST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_118);
    println!("seed {seed}");
    seed
}

fn opened(index: &Index) -> Index {
    Index::from_image(Cursor::new(index.to_image().unwrap()), &ENGINES).unwrap()
}

fn found(index: &Index, document: &str) -> Vec<Id> {
    index.matches(Document::Text(document)).unwrap().ids().collect()
}

#[test]
fn an_index_and_its_image_answer_and_change_alike() {
    let mut random = Random(seed());
    let mut matches = 0;
    for round in 0..24 {
        let mut index = Index::new(Settings { ignore_namespaces: round % 8 == 7, ..Settings::default() });
        let all: Vec<Subscription> = (0..random.below(400))
            .map(|_| Subscription { id: random.id(), written: random.written() })
            .collect();
        for each in all {
            let _ = index.add_all(&[each]);
        }
        for _ in 0..random.below(200) {
            random.change(&mut [&mut index]);
        }
        for _ in 0..random.below(3) * 200 {
            found(&index, &random.document()); // so that keys are chosen by what documents have
        }
        let mut other = opened(&index);
        let mut afresh = Index::from_bytes(&index.to_bytes(), &ENGINES).unwrap();
        assert!(other.to_image() == index.to_image());
        for part in 0..4 {
            for _ in 0..10 {
                let document = random.document();
                let expected = found(&afresh, &document);
                matches += expected.len();
                assert_eq!(found(&index, &document), expected, "{document}");
                assert_eq!(found(&other, &document), expected, "{document}");
            }
            assert!(other.to_bytes() == index.to_bytes());
            assert_eq!((other.len(), other.all_numbers()), (index.len(), index.all_numbers()));
            let (one, two) = (index.stats(), other.stats());
            assert_eq!(
                (
                    one.distinct,
                    one.linear,
                    one.twigs,
                    one.on_tree,
                    one.typed,
                    one.shared_conditions,
                    one.choice
                ),
                (
                    two.distinct,
                    two.linear,
                    two.twigs,
                    two.on_tree,
                    two.typed,
                    two.shared_conditions,
                    two.choice
                ),
            );
            if part == 2 {
                other = opened(&other);
            }
            for _ in 0..60 {
                random.change(&mut [&mut index, &mut other, &mut afresh]);
            }
        }
        let ids: Vec<Id> = other.ids().collect();
        for id in &ids {
            assert!(other.contains(id) && other.remove(id));
        }
        assert_eq!((other.len(), other.stats().distinct, other.stats().shared_conditions), (0, 0, 0));
    }
    assert!(matches > 10_000, "{matches}");
}

#[test]
fn what_an_index_says_of_itself_comes_back() {
    let settings = Settings {
        ordered: true,
        cache_bytes: Some(77_777),
        namespaces: vec![("n".into(), "urn:n".into())],
        entities: [("nbsp", "\u{a0}")].into_iter().collect(),
        ..Settings::default()
    };
    let mut index = Index::new(settings.clone());
    for number in 0..3_000 {
        let id = if number < 2_000 { Id::Number(7 - number) } else { Id::Text(format!("é{number}").into()) };
        index.add(id, &format!("/n:a[b = {}][c]", number % 700), number % 2 == 0, &Vec::new()).unwrap();
    }
    index.remove(&Id::Number(5));
    let other = opened(&index);
    assert_eq!(other.settings(), &settings);
    assert!(other.items().eq(index.items()));
    assert!(other.stats().memory_bytes <= index.stats().memory_bytes);
}

#[test]
fn an_index_with_another_engine_has_no_image() {
    for name in ["yfilter", "lazy-dfa"] {
        let engine = EngineKind::find(name, &ENGINES).unwrap();
        assert!(Index::new(Settings { engine, ..Settings::default() }).to_image().is_none());
    }
    let late = Settings { attribute_filters: AttributeFilters::Postponed, ..Settings::default() };
    assert!(Index::new(late).to_image().is_some());
}

fn some() -> Index {
    let mut random = Random(7);
    let mut index = Index::new(Settings::default());
    while index.len() < 150 {
        let _ = index.add_written(random.id(), &random.written());
    }
    index
}

#[test]
fn damaged_and_cut_images_are_refused() {
    let image = some().to_image().unwrap();
    let refused = |bytes: &[u8]| match Index::from_image(Cursor::new(bytes), &ENGINES) {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    };
    for at in (0..image.len()).step_by(11).chain(0..HEADER) {
        assert!(!refused(&image[..at]).to_string().is_empty());
        let mut bytes = image.clone();
        bytes[at] ^= 0x10;
        assert!(!refused(&bytes).to_string().is_empty());
    }
    let error = refused(&[&image[..], &[0]].concat());
    assert!(matches!(error, IndexFormatError::Damaged("it has the wrong length")), "{error}");
    assert!(matches!(refused(&some().to_bytes()), IndexFormatError::NotAnImage));
    assert!(Index::from_bytes(&image, &ENGINES).is_err());
    let mut other = image.clone();
    other[8..8 + LAYOUT.len()].copy_from_slice(&LAYOUT.as_bytes().iter().rev().copied().collect::<Vec<_>>());
    let error = refused(&other);
    assert!(matches!(error, IndexFormatError::OtherTables(_)), "{error}");
    assert!(error.to_string().contains(LAYOUT) && error.to_string().contains("index file"), "{error}");
}

#[test]
fn nobody_waits_for_an_image_that_is_not_wanted_any_more() {
    let index = some();
    let image = index.to_image().unwrap();
    let folder = std::env::temp_dir().join(format!("pathcast-image-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let over = Watch { flag: Some(Arc::new(AtomicBool::new(true))), ask: None };
    under(over, || {
        assert!(matches!(index.save_image(&folder.join("image")), Err(IndexFormatError::Cancelled)));
        let opened = Index::from_image(Cursor::new(&image), &ENGINES);
        assert!(matches!(opened, Err(IndexFormatError::Cancelled)));
    });
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    assert!(index.save_image(&folder.join("image")).unwrap());
    assert_eq!(std::fs::read(folder.join("image")).unwrap(), image);
    std::fs::remove_dir_all(folder).unwrap();
}

/// An image whose checksum fits and whose tables were changed: an error or an index, and neither a panic nor much memory.
#[test]
fn changed_tables_are_read_without_harm() {
    let image = some().to_image().unwrap();
    let mut random = Random(seed());
    let mut read = 0;
    for _ in 0..3_000 {
        let mut tables = image[HEADER..].to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(tables.len() as u64) as usize;
            tables[at] = [0, 1, 0x7f, 0xff, random.below(256) as u8][random.below(5) as usize];
        }
        let front = [(tables.len() as u64).to_le_bytes().as_slice(), &crc32fast::hash(&tables).to_le_bytes()]
            .concat();
        let bytes = [&image[..HEADER - 12], &front, &tables].concat();
        read += u32::from(Index::from_image(Cursor::new(bytes), &ENGINES).is_ok());
    }
    assert!((1..3_000).contains(&read), "{read}");
}

/// When this fails, tables are no longer what they were: count up the number in `LAYOUT`, and put the new checksum here.
#[test]
fn tables_do_not_change_under_one_layout() {
    let image = some().to_image().unwrap();
    let number = LAYOUT.rsplit('-').next().unwrap();
    assert_eq!((number, crc32fast::hash(&image[HEADER..])), ("1", 649_902_025));
}
