//! Every engine × every case of `testdata/`, on the core itself; and each index again after a file's round trip.
#![allow(clippy::unwrap_used)] // the lint spares test functions, but not what they share

use std::path::Path;

use pathcast_core::engine::AttributeFilters;
use pathcast_core::index::{EngineKind, Id, Index, Settings};
use pathcast_core::limits::Limits;
use pathcast_core::names::Namespaces;
use pathcast_core::pattern::Written;
use pathcast_core::reader::{Document, DocumentErrorKind, Entities};
use pathcast_core::xpath::{Binding, Variables};
use pathcast_papers::ENGINES;
use toml::{Table, Value};

/// The entries of one kind in all files, each with the name of its file.
fn entries(kind: &str) -> Vec<(String, Table)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let topic = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut file: Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        let Some(Value::Array(tables)) = file.remove(kind) else { continue };
        all.extend(tables.into_iter().map(|table| match table {
            Value::Table(table) => (topic.clone(), table),
            other => panic!("{topic}: {other:?} is no table"),
        }));
    }
    assert!(!all.is_empty(), "there is no {kind} in {}", folder.display());
    all
}

fn text<'t>(table: &'t Table, key: &str) -> &'t str {
    table.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn flag(table: &Table, key: &str) -> bool {
    table.get(key).and_then(Value::as_bool).unwrap_or_default()
}

fn texts(table: &Table, key: &str) -> Vec<String> {
    let list = table.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    list.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

fn namespaces(table: &Table) -> Namespaces {
    let map = table.get("namespaces").and_then(Value::as_table).cloned().unwrap_or_default();
    map.iter().map(|(prefix, uri)| (prefix.as_str().into(), uri.as_str().unwrap().into())).collect()
}

fn document(table: &Table) -> Vec<u8> {
    match table.get("document_base64") {
        Some(encoded) => base64(encoded.as_str().unwrap()),
        None => table["document"].as_str().unwrap().as_bytes().to_vec(),
    }
}

fn base64(encoded: &str) -> Vec<u8> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut gathered, mut bits) = (0_u32, 0);
    for digit in encoded.trim_end_matches('=').chars() {
        gathered = gathered << 6 | DIGITS.find(digit).unwrap() as u32;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((gathered >> bits) as u8);
        }
    }
    bytes
}

/// An engine, bytes for its cache, and when it decides filters.
type Kind = (EngineKind, usize, AttributeFilters);

/// Every engine; one that has a budget also with hardly any and with none, one that decides filters also later.
fn engines() -> impl Iterator<Item = Kind> {
    const ROOM: usize = 64 << 20;
    ENGINES.iter().flat_map(|&engine| {
        let others: &[(usize, AttributeFilters)] = match engine.name {
            "auto" | "lazy-dfa" | "xfilter" | "xfilter-lb" | "xfilter-trees" | "index-filter" => {
                &[(2_000, AttributeFilters::Inline), (0, AttributeFilters::Inline)]
            }
            "predicate"
            | "predicate-pc"
            | "predicate-pc-ap"
            | "predicate-pc-longest"
            | "predicate-pc-ap-first" => &[(ROOM, AttributeFilters::Postponed)],
            _ => &[],
        };
        let all = [(ROOM, AttributeFilters::Inline)].into_iter().chain(others.iter().copied());
        all.map(move |(bytes, filters)| (engine, bytes, filters))
    })
}

/// An empty index for a case.
fn empty((engine, cache_bytes, attribute_filters): Kind, table: &Table) -> Index {
    Index::new(Settings {
        engine,
        cache_bytes: Some(cache_bytes),
        attribute_filters,
        limits: Limits::default(),
        namespaces: namespaces(table),
        ignore_namespaces: flag(table, "ignore_namespaces"),
        ordered: flag(table, "ordered"),
        entities: Entities::default(),
    })
}

fn numbers(index: &Index, document: &[u8]) -> Vec<i64> {
    let matches = index.matches(Document::Bytes(document)).unwrap_or_else(|error| panic!("{error}"));
    let numbers: Vec<_> =
        matches.ids().map(|id| if let Id::Number(number) = id { number } else { -1 }).collect();
    assert_eq!(numbers.len(), matches.len());
    numbers
}

/// What the variables of a case are bound to.
fn variables(table: &Table) -> Variables {
    let Some(Value::Table(bound)) = table.get("variables") else { return Vec::new() };
    let binding = |value: &Value| match value {
        Value::String(text) => Binding::Text(text.as_str().into()),
        Value::Integer(number) => Binding::Number(*number as f64),
        Value::Float(number) => Binding::Number(*number),
        Value::Boolean(truth) => Binding::Boolean(*truth),
        other => Binding::Expression(other["xpath"].as_str().unwrap().into()),
    };
    let mut all: Variables =
        bound.iter().map(|(name, value)| (name.as_str().into(), binding(value))).collect();
    // A variable may use those before it, and a table forgets the order.
    all.sort_by_key(|(_, value)| matches!(value, Binding::Expression(text) if text.contains('$')));
    all
}

/// Adds every expression of a case; the numbers of those that match.
fn fill(index: &mut Index, table: &Table, from: i64) -> Vec<(i64, String, bool)> {
    let expected = texts(table, "matches").into_iter().map(|xpath| (xpath, true));
    let all = expected.chain(texts(table, "misses").into_iter().map(|xpath| (xpath, false)));
    let mut added = Vec::new();
    for (number, (xpath, expected)) in (from..).zip(all) {
        let mut written = Written::new(&xpath, flag(table, "ordered"), &namespaces(table));
        written.variables = variables(table);
        index.add_written(Id::Number(number), &written).unwrap_or_else(|error| panic!("{xpath}: {error}"));
        added.push((number, xpath, expected));
    }
    added
}

#[test]
fn every_engine_gives_every_verdict() {
    for engine in engines() {
        for (topic, table) in entries("case") {
            let mut index = empty(engine, &table);
            let added = fill(&mut index, &table, 0);
            let expected: Vec<i64> = added.iter().filter(|each| each.2).map(|each| each.0).collect();
            let document = document(&table);
            let name = format!("{engine:?}, {topic}, {}", text(&table, "name"));
            assert_eq!(numbers(&index, &document), expected, "{name}: {added:?}");

            let bytes = index.to_bytes();
            let loaded = Index::from_bytes(&bytes, ENGINES).unwrap();
            assert_eq!(numbers(&loaded, &document), expected, "{name}, loaded: {added:?}");
            assert_eq!(loaded.settings(), index.settings(), "{name}");
            assert_eq!(loaded.ids().collect::<Vec<_>>(), index.ids().collect::<Vec<_>>(), "{name}");
            assert_eq!(loaded.stats().distinct, index.stats().distinct, "{name}");
            assert_eq!(loaded.to_bytes(), bytes, "{name}: a loaded index is saved as the same bytes");

            for (number, ..) in &added {
                assert!(index.remove(&Id::Number(*number)), "{name}");
            }
            assert_eq!((index.stats().distinct, index.stats().shared_conditions), (0, 0), "{name}");
            assert_eq!(numbers(&index, &document), Vec::<i64>::new(), "{name}, emptied");
        }
    }
}

/// What subscriptions share must not make them answer for one another.
#[test]
fn all_cases_in_one_index() {
    for engine in engines() {
        let mut index = empty(engine, &Table::new());
        let mut cases = Vec::new();
        let mut next = 0;
        for (topic, table) in entries("case") {
            if flag(&table, "ignore_namespaces")
                || namespaces(&table).iter().any(|(prefix, _)| prefix.is_empty())
            {
                continue;
            }
            let added = fill(&mut index, &table, next);
            next += added.len() as i64;
            cases.push((topic, document(&table), added));
        }
        let loaded = Index::from_bytes(&index.to_bytes(), ENGINES).unwrap();
        assert_eq!(loaded.len(), next as usize);
        for (topic, document, added) in &cases {
            let found = numbers(&index, document);
            assert_eq!(found, numbers(&loaded, document), "{topic}");
            for (number, xpath, expected) in added {
                assert_eq!(found.contains(number), *expected, "{engine:?}, {topic}: {xpath}");
            }
        }
    }
}

#[test]
fn every_refused_document_is_refused_and_leaves_no_trace() {
    for engine in engines() {
        let mut index = empty(engine, &Table::new());
        for (number, xpath) in (0..).zip(["//*", "not(//*)", "//*[. = '']", "/a"]) {
            index.add(Id::Number(number), xpath, false, &Vec::new()).unwrap();
        }
        for (_, table) in entries("document") {
            let name = text(&table, "name");
            let error = index.matches(Document::Bytes(&document(&table))).map(|_| ()).expect_err(name);
            assert!(error.line >= 1 && error.column >= 1, "{name}: {error}");
            assert_ne!(error.kind, DocumentErrorKind::Io, "{name}: {error}");
            let reason = text(&table, "reason").to_lowercase();
            assert!(error.reason.to_lowercase().contains(&reason), "{name}: {error}");
            assert_eq!(numbers(&index, b"<a/>"), [0, 2, 3], "after {name}");
        }
    }
}

#[test]
fn every_refused_expression_is_refused_at_its_column() {
    for engine in engines() {
        for (_, table) in entries("expression") {
            let (name, xpath) = (text(&table, "name"), text(&table, "xpath"));
            let mut index = empty(engine, &Table::new());
            let refused = index.add(Id::Number(1), xpath, flag(&table, "ordered"), &namespaces(&table));
            let error = refused.expect_err(name);
            assert!((1..=xpath.chars().count() + 1).contains(&error.column), "{name}: {error}");
            if let Some(column) = table.get("column").and_then(Value::as_integer) {
                assert_eq!(error.column as i64, column, "{name}: {error}");
            }
            let message = text(&table, "message").to_lowercase();
            assert!(error.message.to_lowercase().contains(&message), "{name}: {error}");
            assert!(index.is_empty() && index.stats().distinct == 0, "{name}");
        }
    }
}
