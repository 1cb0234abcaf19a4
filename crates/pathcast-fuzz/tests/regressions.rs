//! Every input that is kept in `fuzz/corpus`, once: what a fuzzer found worth keeping, and what failed on the way.
#![allow(clippy::unwrap_used)] // the lint spares test functions, but not what they share

use std::path::Path;

use pathcast_fuzz::{documents, expressions, files, schemas};

/// Runs each file of a target; a name is printed before the law is asked, so that a failure shows it.
fn each(target: &str, check: impl Fn(&[u8]) -> bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() > 10, "{target} has a corpus");
    let mut accepted = 0;
    for path in &paths {
        println!("{}", path.display());
        accepted += usize::from(check(&std::fs::read(path).unwrap()));
    }
    assert!(accepted > 0, "{target}: everything is refused");
}

#[test]
fn kept_documents() {
    each("documents", |bytes| documents::check(bytes, bytes.len() as u64));
}

#[test]
fn kept_expressions() {
    each("expressions", |bytes| expressions::check(&String::from_utf8_lossy(bytes)));
}

#[test]
fn kept_files() {
    each("files", files::check);
}

#[test]
fn kept_schemas() {
    each("schemas", schemas::check);
}
