//! Subscriptions and documents as Arrow tables, for matching inside a database.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int32Builder, Int64Builder, LargeStringBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Field, Schema};
use pathcast_core::index::{Id, Subscription, Written};
use pathcast_core::reader::{Document, DocumentError};
use pathcast_core::relational::shred::{Place, Value};
use pathcast_core::relational::{Bounds, Compiler, Rows, Shredder, Tables};
use pathcast_core::xpath::Binding;
use pyo3::exceptions::{PyImportError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatch;
use pyo3_arrow::input::AnyArray;

use crate::documents::{Source, Values};
use crate::errors::{document_exception, xpath_exception};
use crate::index::{limits_from_python, missing};
use crate::subscriptions::{id_to_python, namespaces_from_python, rows};

/// What was refused, with its position.
type Refused<'py> = Vec<(usize, Bound<'py, PyAny>)>;
/// Subscriptions that were refused: position, id and error.
type RefusedSubscriptions<'py> = Vec<(usize, Bound<'py, PyAny>, Bound<'py, PyAny>)>;

/// The rows of a set of subscriptions as `pyarrow` record batches by name, and which were refused as
/// `(position, id, error)`.
#[pyfunction]
#[pyo3(signature = (subscriptions, limits, ordered, namespaces, ignore_namespaces, key, levels, alternatives))]
#[allow(clippy::too_many_arguments, reason = "the Python function names them")]
pub(crate) fn compile<'py>(
    py: Python<'py>,
    subscriptions: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    ordered: bool,
    namespaces: Option<&Bound<'py, PyAny>>,
    ignore_namespaces: bool,
    key: (u64, u64),
    levels: usize,
    alternatives: usize,
) -> PyResult<(Bound<'py, PyDict>, RefusedSubscriptions<'py>)> {
    let limits = limits_from_python(limits)?;
    let namespaces = namespaces_from_python(namespaces)?;
    let all = rows(subscriptions, ordered)?;
    let bounds = Bounds { levels, alternatives };
    let mut compiler = Compiler::new(limits, namespaces, ignore_namespaces, key, bounds);
    let (compiled, refused) = py.detach(|| {
        let mut refused = Vec::new();
        for (at, each) in all.iter().enumerate() {
            if let Err(error) = compiler.add(&each.written) {
                refused.push((at, error));
            }
        }
        (compiler.finish(), refused)
    });
    let refused: PyResult<Vec<_>> = refused
        .iter()
        .map(|(at, error)| {
            let each = &all[*at];
            Ok((*at, id_to_python(py, &each.id)?, xpath_exception(py, error, &each.written.xpath)?))
        })
        .collect();
    let batches = py.detach(|| tables(&compiled, &all)).map_err(wrong)?;
    Ok((to_python(py, batches)?, refused?))
}

/// The rows of documents as `pyarrow` record batches by name, and which were refused, by position.
#[pyfunction]
#[pyo3(signature = (documents, limits, ignore_namespaces, text_bytes, most_rows))]
pub(crate) fn shred<'py>(
    py: Python<'py>,
    documents: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    ignore_namespaces: bool,
    text_bytes: usize,
    most_rows: u64,
) -> PyResult<(Bound<'py, PyDict>, Refused<'py>)> {
    let limits = limits_from_python(limits)?;
    let mut shredder = Shredder::new(limits, ignore_namespaces, text_bytes, most_rows);
    let mut columns = Columns::default();
    let mut refused: Vec<(usize, DocumentError)> = Vec::new();
    if documents.hasattr("__arrow_c_array__")? || documents.hasattr("__arrow_c_stream__")? {
        let array = documents.extract::<AnyArray>()?.into_chunked_array()?;
        let mut first = 0;
        for chunk in array.chunks() {
            let values = Values::new(chunk)?;
            py.detach(|| {
                for at in 0..chunk.len() {
                    let result = match values.get(at) {
                        Some(document) => shredder.shred((first + at) as i64, document, &mut columns),
                        None => Err(missing()),
                    };
                    refused.extend(result.err().map(|error| (first + at, error)));
                }
            });
            first += chunk.len();
            py.check_signals()?;
        }
    } else {
        for (at, document) in documents.try_iter()?.enumerate() {
            let mut source = Source::new(&document?)?;
            let result = py.detach(|| {
                let document: Document<'_> = source.document()?;
                shredder.shred(at as i64, document, &mut columns)
            });
            if let Some(exception) = source.take_exception() {
                return Err(exception);
            }
            refused.extend(result.err().map(|error| (at, error)));
            py.check_signals()?;
        }
    }
    let refused: PyResult<Vec<_>> =
        refused.iter().map(|(at, error)| Ok((*at, document_exception(py, error)?))).collect();
    let batches = py.detach(|| columns.finish()).map_err(wrong)?;
    Ok((to_python(py, batches)?, refused?))
}

fn wrong(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn to_python<'py>(
    py: Python<'py>,
    batches: Vec<(&'static str, RecordBatch)>,
) -> PyResult<Bound<'py, PyDict>> {
    let pyarrow = py.import("pyarrow").map_err(|_| {
        PyImportError::new_err("tables need pyarrow: install pathcast with the extra 'arrow'")
    })?;
    let make = pyarrow.getattr("record_batch")?;
    let all = PyDict::new(py);
    for (name, batch) in batches {
        all.set_item(name, make.call1((PyRecordBatch::new(batch),))?)?;
    }
    Ok(all)
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> Result<RecordBatch, ArrowError> {
    let fields: Vec<_> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, array)| array).collect())
}

fn longs<'a, T: 'a>(rows: &'a [T], of: impl Fn(&'a T) -> i64) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<Int64Array>())
}

fn ints<'a, T: 'a>(rows: &'a [T], of: impl Fn(&'a T) -> i32) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<Int32Array>())
}

fn flags<'a, T: 'a>(rows: &'a [T], of: impl Fn(&'a T) -> bool) -> ArrayRef {
    Arc::new(rows.iter().map(|row| Some(of(row))).collect::<BooleanArray>())
}

fn texts<'a, T: 'a>(rows: &'a [T], of: impl Fn(&'a T) -> Option<&'a str>) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<StringArray>())
}

fn tables(rows: &Rows, all: &[Subscription]) -> Result<Vec<(&'static str, RecordBatch)>, ArrowError> {
    let Rows { frames, edges, predicates, tests, tops } = rows;
    let ids: StringArray = all.iter().map(|each| Some(json_id(&each.id))).collect();
    let definitions: StringArray = all.iter().map(|each| Some(definition(each))).collect();
    Ok(vec![
        (
            "Frame",
            batch(vec![
                ("frame", longs(frames, |row| row.frame)),
                ("high_node", texts(frames, |row| Some(&row.high_node))),
                ("low_node", texts(frames, |row| Some(&row.low_node))),
                ("min_diff", ints(frames, |row| row.min_diff)),
                ("max_diff", ints(frames, |row| row.max_diff)),
            ])?,
        ),
        (
            "XPathFrame",
            batch(vec![
                ("level", ints(edges, |row| row.level)),
                ("id", longs(edges, |row| row.id)),
                ("branch", ints(edges, |row| row.branch)),
                ("branches", ints(edges, |row| row.branches)),
                ("frame", longs(edges, |row| row.frame)),
                ("low_id", longs(edges, |row| row.low)),
                ("is_final", flags(edges, |row| row.leaf)),
            ])?,
        ),
        (
            "Predicate",
            batch(vec![
                ("predicate", longs(predicates, |row| row.predicate)),
                ("node", texts(predicates, |row| Some(&row.node))),
                ("name", texts(predicates, |row| Some(&row.name))),
                ("operation", ints(predicates, |row| row.operation)),
                ("text_value", texts(predicates, |row| row.text.as_deref())),
                (
                    "number_value",
                    Arc::new(predicates.iter().map(|row| row.number).collect::<Float64Array>()) as ArrayRef,
                ),
            ])?,
        ),
        (
            "XPathPred",
            batch(vec![
                ("level", ints(tests, |row| row.level)),
                ("id", longs(tests, |row| row.id)),
                ("branch", ints(tests, |row| row.branch)),
                ("branches", ints(tests, |row| row.branches)),
                ("predicate", longs(tests, |row| row.predicate)),
            ])?,
        ),
        (
            "Subscriber",
            batch(vec![
                ("position", longs(tops, |row| row.expression as i64)),
                ("pattern", longs(tops, |row| row.pattern)),
                ("is_exact", flags(tops, |row| row.exact)),
                ("is_several", flags(tops, |row| row.several)),
            ])?,
        ),
        (
            "Subscription",
            batch(vec![
                ("subscription", Arc::new(ids) as ArrayRef),
                ("definition", Arc::new(definitions) as ArrayRef),
            ])?,
        ),
    ])
}

/// The rows of documents as they grow.
#[derive(Default)]
struct Columns {
    node_document: Int64Builder,
    node: LargeStringBuilder,
    namespace: LargeStringBuilder,
    start: Int64Builder,
    end: Int64Builder,
    depth: Int32Builder,
    value_document: Int64Builder,
    value_start: Int64Builder,
    name: LargeStringBuilder,
    name_namespace: LargeStringBuilder,
    text: LargeStringBuilder,
    number: Float64Builder,
    pair_document: Int64Builder,
    low: Int64Builder,
    high: Int64Builder,
    difference: Int32Builder,
}

impl Tables for Columns {
    fn node(&mut self, document: i64, name: &str, namespace: Option<&str>, place: Place) {
        self.node_document.append_value(document);
        self.node.append_value(name);
        self.namespace.append_option(namespace);
        self.start.append_value(place.start);
        self.end.append_value(place.end);
        self.depth.append_value(place.depth);
    }

    fn value(&mut self, document: i64, start: i64, value: &Value<'_>) {
        self.value_document.append_value(document);
        self.value_start.append_value(start);
        self.name.append_value(value.name);
        self.name_namespace.append_option(value.namespace);
        self.text.append_option(value.text);
        self.number.append_option(value.number);
    }

    fn ancestor(&mut self, document: i64, low: i64, high: i64, difference: i32) {
        self.pair_document.append_value(document);
        self.low.append_value(low);
        self.high.append_value(high);
        self.difference.append_value(difference);
    }
}

impl Columns {
    fn finish(mut self) -> Result<Vec<(&'static str, RecordBatch)>, ArrowError> {
        Ok(vec![
            (
                "XMLFrame",
                batch(vec![
                    ("document", Arc::new(self.node_document.finish()) as ArrayRef),
                    ("node", Arc::new(self.node.finish())),
                    ("namespace", Arc::new(self.namespace.finish())),
                    ("start_point", Arc::new(self.start.finish())),
                    ("end_point", Arc::new(self.end.finish())),
                    ("depth", Arc::new(self.depth.finish())),
                ])?,
            ),
            (
                "XMLValue",
                batch(vec![
                    ("document", Arc::new(self.value_document.finish()) as ArrayRef),
                    ("start_point", Arc::new(self.value_start.finish())),
                    ("name", Arc::new(self.name.finish())),
                    ("namespace", Arc::new(self.name_namespace.finish())),
                    ("text_value", Arc::new(self.text.finish())),
                    ("number_value", Arc::new(self.number.finish())),
                ])?,
            ),
            (
                "XMLAncestor",
                batch(vec![
                    ("document", Arc::new(self.pair_document.finish()) as ArrayRef),
                    ("low_start", Arc::new(self.low.finish())),
                    ("high_start", Arc::new(self.high.finish())),
                    ("depth_diff", Arc::new(self.difference.finish())),
                ])?,
            ),
        ])
    }
}

/// An id as JSON, which keeps `5` and `"5"` apart.
fn json_id(id: &Id) -> String {
    match id {
        Id::Number(number) => number.to_string(),
        Id::Text(text) => json(text),
    }
}

/// A subscription as JSON: `[xpath, ordered, {prefix: uri}]`, and `{name: value}` behind it if there are variables.
fn definition(subscription: &Subscription) -> String {
    let Written { xpath, ordered, namespaces, variables } = &subscription.written;
    let object = |entries: Vec<String>| format!("{{{}}}", entries.join(","));
    let prefixes = namespaces.iter().map(|(prefix, uri)| format!("{}:{}", json(prefix), json(uri)));
    let mut text = format!("[{},{ordered},{}", json(xpath), object(prefixes.collect()));
    if !variables.is_empty() {
        let bound =
            variables.iter().map(|(name, binding)| format!("{}:{}", json(name), json_binding(binding)));
        text = format!("{text},{}", object(bound.collect()));
    }
    text + "]"
}

/// What a variable is bound to, as JSON that can be given back; no JSON number is infinite or none at all.
fn json_binding(binding: &Binding) -> String {
    match binding {
        Binding::Text(text) => json(text),
        Binding::Boolean(value) => value.to_string(),
        Binding::Number(number) if number.is_finite() => format!("{number:?}"),
        Binding::Number(number) => {
            let quotient = if number.is_nan() {
                "0 div 0"
            } else if *number > 0.0 {
                "1 div 0"
            } else {
                "-1 div 0"
            };
            format!("{{\"xpath\":{}}}", json(quotient))
        }
        Binding::Expression(source) => format!("{{\"xpath\":{}}}", json(source)),
    }
}

/// A JSON string; databases refuse the character zero, so it and its like are escaped.
fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// Subscription ids as they are kept: JSON texts.
#[pyfunction]
pub(crate) fn encode_ids(ids: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    ids.iter().map(|id| Ok(json_id(&crate::subscriptions::id_from_python(id)?))).collect()
}
