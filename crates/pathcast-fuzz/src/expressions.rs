//! The parser and all that follows it: printing, normal form, bytes, and an index that forgets without a trace.

use std::io::Cursor;

use pathcast_core::index::{ENGINES, Id, Index, Settings};
use pathcast_core::limits::Limits;
use pathcast_core::names::{Names, Namespaces};
use pathcast_core::pattern::{Scope, Written, decode_condition, encode_condition, normalise};
use pathcast_core::reader::{Document, DocumentError};
use pathcast_core::xpath::parse;

/// What expressions are tried on.
pub const DOCUMENTS: [&str; 4] = [
    "<a/>",
    "<a x='y'><b>2</b><c x='1'><b>x</b>t<!--k--><?t d?></c><b/></a>",
    "<p:a xmlns:p='urn:p'><p:q x=''>x<a><b/><c/></a></p:q><a><a><b>y</b></a></a></p:a>",
    "<r><a><c/><b x='3'/></a><a>x<b>é</b>y</a><!--c--></r>",
];

/// The prefixes that expressions may use.
pub fn namespaces() -> Namespaces {
    [("p", "urn:p"), ("n", "urn:p"), ("x", "urn:1"), ("y", "urn:2")]
        .map(|(prefix, uri)| (prefix.into(), uri.into()))
        .into()
}

/// What each document gives: ids, or the limit that it crosses.
pub fn outcomes(index: &Index) -> Vec<Result<Vec<Id>, DocumentError>> {
    let matched = |document: &&str| {
        index.matches(Document::Bytes(document.as_bytes())).map(|matches| matches.ids().collect())
    };
    DOCUMENTS.iter().map(matched).collect()
}

fn answers(index: &Index) -> Vec<Vec<Id>> {
    outcomes(index).into_iter().map(Result::unwrap).collect()
}

fn empty() -> Index {
    Index::new(Settings { namespaces: namespaces(), ..Settings::default() })
}

/// Registers expressions, one a line; a line that begins with a tab is ordered.
pub fn check(lines: &str) -> bool {
    let limits = Limits::default();
    let mut shared = empty();
    let mut accepted = Vec::new();
    for line in lines.lines().take(6) {
        let ordered = line.starts_with('\t');
        let xpath = line.strip_prefix('\t').unwrap_or(line);
        let tree = match parse(xpath, &limits) {
            Ok(tree) => tree,
            Err(error) => {
                assert!((1..=xpath.chars().count() + 1).contains(&error.column), "{xpath:?}: {error}");
                continue;
            }
        };
        let printed = tree.to_string();
        match parse(&printed, &limits) {
            Ok(again) => assert_eq!(again, tree, "{xpath:?} is printed as {printed:?}"),
            // the canonical spelling may be longer than a limit that the source just fits
            Err(error) => panic!("{xpath:?} is printed as {printed:?}: {error}"),
        }
        if check_normal_form(xpath, ordered, &mut shared) {
            accepted.push((xpath.to_owned(), printed, ordered));
        }
    }
    check_together(shared, &accepted);
    !accepted.is_empty()
}

/// Normal forms survive encoding; an index refuses what cannot be brought into one. False when it is refused.
fn check_normal_form(xpath: &str, ordered: bool, shared: &mut Index) -> bool {
    let tree = parse(xpath, &Limits::default()).unwrap();
    let mut names = Names::default();
    let spaces = namespaces();
    let mut scope = Scope { names: &mut names, namespaces: &[&spaces], ignore_namespaces: false };
    let condition = match normalise(&tree, ordered, &mut scope) {
        Ok(condition) => condition,
        Err(error) => {
            assert!((1..=xpath.chars().count() + 1).contains(&error.column), "{xpath:?}: {error}");
            let written = Written::new(xpath, ordered, &Vec::new());
            assert_eq!(shared.check(&written), Err(error), "{xpath:?}");
            return false;
        }
    };
    let mut bytes = Vec::new();
    encode_condition(&condition, &mut bytes);
    let mut rest = bytes.as_slice();
    assert_eq!(decode_condition(&mut rest, names.len()), Ok(condition), "{xpath:?}");
    assert!(rest.is_empty(), "{xpath:?}");
    true
}

/// Expressions answer in company as they do alone, printed as written, loaded as saved; removed, they leave nothing.
fn check_together(mut shared: Index, expressions: &[(String, String, bool)]) {
    for (number, (xpath, _, ordered)) in (0..).zip(expressions) {
        shared.add(Id::Number(number), xpath, *ordered, &Vec::new()).unwrap();
    }
    let together = answers(&shared);
    for (number, (xpath, printed, ordered)) in (0..).zip(expressions) {
        for text in [xpath, printed] {
            let mut alone = empty();
            alone.add(Id::Number(number), text, *ordered, &Vec::new()).unwrap();
            for ((alone, together), document) in answers(&alone).iter().zip(&together).zip(DOCUMENTS) {
                let inside = together.contains(&Id::Number(number));
                assert_eq!(alone.len() == 1, inside, "{text:?} of {expressions:?} on {document}");
            }
        }
    }
    let loaded = Index::from_bytes(&shared.to_bytes(), &ENGINES).unwrap();
    assert_eq!(answers(&loaded), together, "loaded: {expressions:?}");
    let opened = Index::from_image(Cursor::new(shared.to_image().unwrap()), &ENGINES).unwrap();
    assert_eq!(answers(&opened), together, "opened from an image: {expressions:?}");
    for number in 0..expressions.len() {
        assert!(shared.remove(&Id::Number(number as i64)));
    }
    let stats = shared.stats();
    assert_eq!((stats.distinct, stats.shared_conditions, stats.always), (0, 0, 0), "{expressions:?}");
    assert!(answers(&shared).iter().all(Vec::is_empty), "{expressions:?}");
}
