//! XTrie built otherwise than its names say, and what it looks like inside: for drawings and comparisons.

use std::any::Any;

use pathcast_core::index::{Index as Core, Settings};
use pathcast_core::limits::Limits;
use pathcast_core::names::{NameId, Names};
use pathcast_core::pattern::{Scope, normalise};
use pathcast_core::xpath::parse;
use pathcast_papers::xtrie::{Decomposition, Gap, Mode, Options, Special, Variant, View, XTrie, substrings};
use pathcast_papers::{XTRIE, XTRIE_LAZY};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::index::Index;

/// `(parent, label, substring pointer, max-suffix pointer)`; the label is the name on the edge.
type Node = (usize, String, usize, usize);
/// `(pattern, node, parent, least level, exactly, rank, children, mode, next)`.
type Row = (u32, usize, usize, u32, bool, u32, u32, &'static str, usize);

/// An empty index over an XTrie with these options.
#[pyfunction]
#[pyo3(signature = (*, lazy, decomposition, single_paths))]
pub(crate) fn xtrie_index(lazy: bool, decomposition: &str, single_paths: bool) -> PyResult<Index> {
    let options = Options {
        variant: if lazy { Variant::Lazy } else { Variant::Eager },
        decomposition: named(decomposition)?,
        single_paths,
    };
    let settings = Settings { engine: if lazy { XTRIE_LAZY } else { XTRIE }, ..Settings::default() };
    Ok(Index::around(Core::with_engine(settings, None, Box::new(XTrie::new(options)))))
}

fn named(decomposition: &str) -> PyResult<Decomposition> {
    match decomposition {
        "minimal" => Ok(Decomposition::Minimal),
        "simple" => Ok(Decomposition::Simple),
        "maximal" => Ok(Decomposition::Maximal),
        other => Err(PyValueError::new_err(format!(
            "decomposition is 'minimal', 'simple' or 'maximal', not {other:?}"
        ))),
    }
}

/// How many substrings an expression without prefixes is cut into; nothing if it is no tree pattern.
#[pyfunction]
pub(crate) fn xtrie_substrings(xpath: &str, decomposition: &str) -> PyResult<Option<usize>> {
    let wrong = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let parsed = parse(xpath, &Limits::default()).map_err(|error| wrong(&error))?;
    let mut names = Names::default();
    let mut scope = Scope { names: &mut names, namespaces: &[], ignore_namespaces: false };
    let condition = normalise(&parsed, false, &mut scope).map_err(|error| wrong(&error))?;
    Ok(substrings(&condition, named(decomposition)?))
}

/// The trie and the substring-table of an index that has them.
#[pyfunction]
pub(crate) fn xtrie_view(py: Python<'_>, index: &Bound<'_, Index>) -> PyResult<(Vec<Node>, Vec<Row>)> {
    let seen = index.get().read(py, |core| {
        let engine: &dyn Any = core.engine();
        engine.downcast_ref::<XTrie>().map(|xtrie| shown(&xtrie.view(), core.names()))
    })?;
    seen.ok_or_else(|| PyValueError::new_err("only xtrie and xtrie-lazy have a trie to be looked at"))
}

fn shown(view: &View, names: &Names) -> (Vec<Node>, Vec<Row>) {
    let nodes = view.nodes.iter().map(|node| {
        let label = match (node.name, node.special) {
            (Some(name), _) => local(names, name),
            (_, Some(Special::Any)) => "*".to_owned(),
            (_, Some(Special::Partial(name))) if names.is_local(name) => format!("*:{}", local(names, name)),
            (_, Some(Special::Partial(name))) => format!("{{{}}}*", names.parts(name).0),
            (_, Some(Special::Attribute(name))) => format!("*[@{}]", local(names, name)),
            (_, Some(Special::Text)) => "text()".to_owned(),
            (None, None) => String::new(),
        };
        (node.parent, label, node.substring, node.max_suffix)
    });
    let rows = view.rows.iter().map(|row| {
        let mode = match row.mode {
            Mode::All => "all",
            Mode::Any => "any",
            Mode::Ordered => "ordered",
            Mode::Not => "none",
        };
        let Gap { min, exact } = row.gap;
        (row.pattern.0, row.node, row.parent, min, exact, row.rank, row.children, mode, row.next)
    });
    (nodes.collect(), rows.collect())
}

fn local(names: &Names, name: NameId) -> String {
    names.parts(name).1.to_owned()
}
