//! The W3C XML conformance suite: what must be refused is refused, what is well-formed is accepted.
//!
//! Every case of type `not-wf`, `valid` and `invalid` runs (an invalid document is well-formed); type `error` leaves the
//! choice to the processor. A case whose outcome differs must be listed with its reason in `w3c-exceptions.toml`, and
//! one that is listed must differ: the list can neither hide a regression nor outlive its need.
//!
//! The suite is not part of the repository. It is looked for in `$PATHCAST_CORPUS/w3c-xmlconf`, then beside the
//! repository; without it the test says so and passes.
#![allow(clippy::unwrap_used)] // the lint spares test functions, but not what they share

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pathcast_core::limits::Limits;
use pathcast_core::reader::{Reader, Sink, StartTag, UriId};
use quick_xml::events::{BytesStart, Event};

struct Case {
    id: String,
    kind: String,
    path: PathBuf,
}

struct Ignore;

impl Sink for Ignore {
    fn wants_text(&self) -> bool {
        true
    }
    fn namespace(&mut self, _: UriId, _: &str) {}
    fn start(&mut self, tag: &StartTag<'_>) {
        assert_eq!(tag.attributes().count(), tag.attribute_count());
    }
    fn end(&mut self) {}
    fn text(&mut self, text: &str) {
        assert!(!text.is_empty());
    }
    fn comment(&mut self, _: &str) {}
    fn instruction(&mut self, _: &str, _: &str) {}
}

fn suite() -> Option<PathBuf> {
    let corpus = match std::env::var_os("PATHCAST_CORPUS") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"),
    };
    Some(corpus.join("w3c-xmlconf")).filter(|path| path.join("xmlconf.xml").is_file())
}

/// The catalogues that `xmlconf.xml` includes: its entity declarations with a system identifier.
fn catalogues(suite: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(suite.join("xmlconf.xml")).unwrap();
    let declarations = text.split("<!ENTITY").skip(1);
    let paths = declarations.filter_map(|text| text.split_once("SYSTEM")?.1.split('"').nth(1));
    paths.map(|path| suite.join(path)).collect()
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(name).unwrap()?;
    Some(attribute.value.to_string())
}

fn cases(catalogue: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(catalogue).unwrap();
    let mut reader = quick_xml::Reader::from_str(&text);
    let mut cases = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) if tag.name().as_ref() == "TEST" => cases.push(Case {
                id: attribute(&tag, "ID").unwrap(),
                kind: attribute(&tag, "TYPE").unwrap(),
                path: catalogue.parent().unwrap().join(attribute(&tag, "URI").unwrap()),
            }),
            Event::Eof => return cases,
            _ => {}
        }
    }
}

/// Lines `id = "reason"`; headings in brackets group them for the reader's sake.
fn exceptions() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for line in include_str!("w3c-exceptions.toml").lines() {
        if line.trim().is_empty() || line.starts_with(['#', '[']) {
            continue;
        }
        let (id, reason) = line.split_once(" = ").unwrap_or_else(|| panic!("not an exception: {line}"));
        let reason = reason.trim().trim_matches('"');
        assert!(!reason.is_empty(), "{id} has no reason");
        assert!(
            found.insert(id.trim_matches('"').to_owned(), reason.to_owned()).is_none(),
            "{id} is listed twice"
        );
    }
    found
}

#[test]
fn the_w3c_suite() {
    let Some(suite) = suite() else {
        println!(
            "skipped: the W3C suite is not here; set PATHCAST_CORPUS to the folder that holds w3c-xmlconf"
        );
        return;
    };
    let exceptions = exceptions();
    let mut unneeded: BTreeSet<&str> = exceptions.keys().map(String::as_str).collect();
    let mut reader = Reader::new(Limits::default());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in catalogues(&suite).iter().flat_map(|path| cases(path)) {
        let expected = match case.kind.as_str() {
            "valid" | "invalid" => true,
            "not-wf" => false,
            kind => {
                *counts.entry(format!("{kind}, not run")).or_default() += 1;
                continue;
            }
        };
        let document =
            std::fs::read(&case.path).unwrap_or_else(|error| panic!("{}: {error}", case.path.display()));
        let result = reader.read_bytes(&document, &mut Ignore);
        assert_eq!(result, reader.read_stream(&document[..], &mut Ignore), "{} streamed", case.id);
        let outcome = match (&result, expected) {
            (Ok(()), true) => "accepted",
            (Err(_), false) => "refused",
            _ if exceptions.contains_key(&case.id) => {
                unneeded.remove(case.id.as_str());
                "excepted by name"
            }
            (Ok(()), false) => {
                wrong.push(format!("{} must be refused: {}", case.id, case.path.display()));
                "wrong"
            }
            (Err(error), true) => {
                wrong.push(format!("{} must be accepted: {error}: {}", case.id, case.path.display()));
                "wrong"
            }
        };
        *counts.entry(format!("{}, {outcome}", case.kind)).or_default() += 1;
    }
    for (outcome, count) in &counts {
        println!("{outcome}: {count}");
    }
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(unneeded.is_empty(), "exceptions that are not needed: {unneeded:?}");
}
