//! Subscriptions and documents as Arrow tables, for matching inside a database.

use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int32Builder, Int64Builder, LargeStringBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, Field, Schema};
use pathcast_core::cancel::Pulse;
use pathcast_core::index::{Id, Subscription, Written};
use pathcast_core::reader::{Document, DocumentError};
use pathcast_core::relational::shred::Asked;
use pathcast_core::relational::{Bounds, Compiler, Rows, Shredder, Tables};
use pathcast_core::xpath::Binding;
use pyo3::exceptions::{PyImportError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3_arrow::PyRecordBatch;
use pyo3_arrow::input::AnyArray;

use crate::calls::detached;
use crate::documents::{Source, Values, missing};
use crate::errors::{document_exception, xpath_exception};
use crate::index::limits_from_python;
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
    let (compiled, refused) = detached(py, None, || {
        let mut refused = Vec::new();
        let mut pulse = Pulse::default();
        for (at, each) in all.iter().enumerate() {
            if pulse.requested() {
                break;
            }
            if let Err(error) = compiler.add(&each.written) {
                refused.push((at, error));
            }
        }
        (compiler.finish(), refused)
    })?;
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
#[pyo3(signature = (documents, limits, ignore_namespaces, text_bytes, most_rows, key, subjects, first = 0))]
#[allow(clippy::too_many_arguments, reason = "the Python function names them")]
pub(crate) fn shred<'py>(
    py: Python<'py>,
    documents: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    ignore_namespaces: bool,
    text_bytes: usize,
    most_rows: u64,
    key: (u64, u64),
    subjects: Vec<Asked>,
    first: i64,
) -> PyResult<(Bound<'py, PyDict>, Refused<'py>)> {
    let limits = limits_from_python(limits)?;
    let number = |at: usize| first + at as i64;
    let mut shredder = Shredder::new(limits, ignore_namespaces, text_bytes, most_rows, key, subjects);
    let mut columns = Columns::default();
    let mut refused: Vec<(usize, DocumentError)> = Vec::new();
    if documents.hasattr("__arrow_c_array__")? || documents.hasattr("__arrow_c_stream__")? {
        let array = documents.extract::<AnyArray>()?.into_chunked_array()?;
        let mut before = 0;
        for chunk in array.chunks() {
            let values = Values::new(chunk)?;
            detached(py, None, || {
                let mut pulse = Pulse::default();
                for at in 0..chunk.len() {
                    if pulse.requested() {
                        break;
                    }
                    let result = match values.get(at) {
                        Some(document) => shredder.shred(number(before + at), document, &mut columns),
                        None => Err(missing()),
                    };
                    refused.extend(result.err().map(|error| (before + at, error)));
                }
            })?;
            before += chunk.len();
        }
    } else {
        for (at, document) in documents.try_iter()?.enumerate() {
            let mut source = Source::new(&document?)?;
            let result = detached(py, None, || {
                let document: Document<'_> = source.document()?;
                shredder.shred(number(at), document, &mut columns)
            })?;
            if let Some(exception) = source.take_exception() {
                return Err(exception);
            }
            refused.extend(result.err().map(|error| (at, error)));
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
    let Rows { steps, slots, patterns, others, subjects, predicates, tops } = rows;
    let ids: StringArray = all.iter().map(|each| Some(json_id(&each.id))).collect();
    let definitions: StringArray = all.iter().map(|each| Some(definition(each))).collect();
    Ok(vec![
        (
            "Step",
            batch(vec![
                ("step", longs(steps, |row| row.step)),
                ("proof", longs(steps, |row| row.proof)),
                ("parent", longs(steps, |row| row.parent)),
                ("level", ints(steps, |row| row.level)),
                ("high_node", texts(steps, |row| Some(&row.high_node))),
                ("low_node", texts(steps, |row| Some(&row.low_node))),
                ("min_diff", ints(steps, |row| row.min_diff)),
                ("max_diff", ints(steps, |row| row.max_diff)),
            ])?,
        ),
        (
            "Slot",
            batch(vec![
                ("slot", longs(slots, |row| row.slot)),
                ("proof", longs(slots, |row| row.proof)),
                ("step", longs(slots, |row| row.step)),
                ("is_test", flags(slots, |row| row.is_test)),
                ("low", longs(slots, |row| row.low)),
            ])?,
        ),
        (
            "Pattern",
            batch(vec![
                ("id", longs(patterns, |row| row.id)),
                ("proof", longs(patterns, |row| row.proof)),
                ("level", ints(patterns, |row| row.level)),
                ("first_slot", longs(patterns, |row| row.first)),
                ("second_slot", longs(patterns, |row| row.second)),
                ("others", ints(patterns, |row| row.others)),
            ])?,
        ),
        (
            "OtherSlot",
            batch(vec![("id", longs(others, |row| row.id)), ("slot", longs(others, |row| row.slot))])?,
        ),
        (
            "Subject",
            batch(vec![
                ("subject", longs(subjects, |row| row.subject)),
                ("proof", longs(subjects, |row| row.proof)),
                ("node", texts(subjects, |row| Some(&row.node))),
                ("name", texts(subjects, |row| Some(&row.name))),
            ])?,
        ),
        (
            "Predicate",
            batch(vec![
                ("predicate", longs(predicates, |row| row.predicate)),
                ("proof", longs(predicates, |row| row.proof)),
                ("subject", longs(predicates, |row| row.subject)),
                ("operation", ints(predicates, |row| row.operation)),
                ("text_value", texts(predicates, |row| row.text.as_deref())),
                (
                    "number_value",
                    Arc::new(predicates.iter().map(|row| row.number).collect::<Float64Array>()) as ArrayRef,
                ),
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
    path: Int64Builder,
    path_depth: Int32Builder,
    path_name: LargeStringBuilder,
    path_namespace: LargeStringBuilder,
    above_low: Int64Builder,
    above_diff: Int32Builder,
    above_high: Int64Builder,
    node: Int64Builder,
    node_path: Int64Builder,
    below_high: Int64Builder,
    below_path: Int64Builder,
    below_diff: Int32Builder,
    pair_low: Int64Builder,
    pair_diff: Int32Builder,
    pair_high: Int64Builder,
    value_node: Int64Builder,
    value_subject: Int64Builder,
    value_text: LargeStringBuilder,
    value_number: Float64Builder,
}

impl Tables for Columns {
    fn path(&mut self, path: i64, depth: i32, name: &str, namespace: Option<&str>) {
        self.path.append_value(path);
        self.path_depth.append_value(depth);
        self.path_name.append_value(name);
        self.path_namespace.append_option(namespace);
    }

    fn path_ancestor(&mut self, low: i64, difference: i32, high: i64) {
        self.above_low.append_value(low);
        self.above_diff.append_value(difference);
        self.above_high.append_value(high);
    }

    fn node(&mut self, node: i64, path: i64) {
        self.node.append_value(node);
        self.node_path.append_value(path);
    }

    fn below(&mut self, high: i64, path: i64, difference: i32) {
        self.below_high.append_value(high);
        self.below_path.append_value(path);
        self.below_diff.append_value(difference);
    }

    fn ancestor(&mut self, low: i64, difference: i32, high: i64) {
        self.pair_low.append_value(low);
        self.pair_diff.append_value(difference);
        self.pair_high.append_value(high);
    }

    fn value(&mut self, node: i64, subject: i64, text: Option<&str>, number: Option<f64>) {
        self.value_node.append_value(node);
        self.value_subject.append_value(subject);
        self.value_text.append_option(text);
        self.value_number.append_option(number);
    }
}

impl Columns {
    fn finish(mut self) -> Result<Vec<(&'static str, RecordBatch)>, ArrowError> {
        Ok(vec![
            (
                "XMLPath",
                batch(vec![
                    ("path", Arc::new(self.path.finish()) as ArrayRef),
                    ("depth", Arc::new(self.path_depth.finish())),
                    ("name", Arc::new(self.path_name.finish())),
                    ("namespace", Arc::new(self.path_namespace.finish())),
                ])?,
            ),
            (
                "XMLPathAncestor",
                batch(vec![
                    ("low", Arc::new(self.above_low.finish()) as ArrayRef),
                    ("diff", Arc::new(self.above_diff.finish())),
                    ("high", Arc::new(self.above_high.finish())),
                ])?,
            ),
            (
                "XMLNode",
                batch(vec![
                    ("node", Arc::new(self.node.finish()) as ArrayRef),
                    ("path", Arc::new(self.node_path.finish())),
                ])?,
            ),
            (
                "XMLBelow",
                batch(vec![
                    ("node", Arc::new(self.below_high.finish()) as ArrayRef),
                    ("path", Arc::new(self.below_path.finish())),
                    ("diff", Arc::new(self.below_diff.finish())),
                ])?,
            ),
            (
                "XMLAncestor",
                batch(vec![
                    ("low", Arc::new(self.pair_low.finish()) as ArrayRef),
                    ("diff", Arc::new(self.pair_diff.finish())),
                    ("high", Arc::new(self.pair_high.finish())),
                ])?,
            ),
            (
                "XMLValue",
                batch(vec![
                    ("node", Arc::new(self.value_node.finish()) as ArrayRef),
                    ("subject", Arc::new(self.value_subject.finish())),
                    ("text_value", Arc::new(self.value_text.finish())),
                    ("number_value", Arc::new(self.value_number.finish())),
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
