//! Subscriptions from Python: ids, pairs, rows and Arrow tables.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch};
use arrow_schema::DataType;
use pathcast_core::cancel::Bulk;
use pathcast_core::index::{Id, Subscription, Written};
use pathcast_core::names::Namespaces;
use pathcast_core::xpath::{Binding, Variables};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBool, PyDict, PyInt, PyString, PyTuple};
use pyo3_arrow::PyTable;

use crate::variables::written;

/// Rows between two looks for signals.
const SIGNALS: usize = 4_096;

pub(crate) fn id_from_python(id: &Bound<'_, PyAny>) -> PyResult<Id> {
    if let Ok(text) = id.cast::<PyString>() {
        return Ok(Id::Text(text.to_str()?.into()));
    }
    // A bool is an int as well, and `True` would be the id 1.
    if id.is_instance_of::<PyInt>() && !id.is_instance_of::<PyBool>() {
        return match id.extract::<i64>() {
            Ok(number) => Ok(Id::Number(number)),
            Err(_) => Err(too_large()),
        };
    }
    Err(PyTypeError::new_err(format!("an id is a str or an int, not {}", id.get_type().name()?)))
}

fn too_large() -> PyErr {
    PyOverflowError::new_err("a number as id must fit into 64 bits with sign; use str(id) for a larger one")
}

pub(crate) fn id_to_python<'py>(py: Python<'py>, id: &Id) -> PyResult<Bound<'py, PyAny>> {
    Ok(match id {
        Id::Number(number) => number.into_pyobject(py)?.into_any(),
        Id::Text(text) => PyString::new(py, text).into_any(),
    })
}

pub(crate) fn namespaces_from_python(namespaces: Option<&Bound<'_, PyAny>>) -> PyResult<Namespaces> {
    let Some(namespaces) = namespaces.filter(|namespaces| !namespaces.is_none()) else {
        return Ok(Vec::new());
    };
    let map = PyDict::new(namespaces.py());
    map.update(
        namespaces.cast().map_err(|_| PyTypeError::new_err("namespaces is a mapping of prefix to URI"))?,
    )?;
    map.iter()
        .map(|(prefix, uri)| {
            let prefix: Option<String> = named("a prefix in namespaces", &prefix)?;
            Ok((prefix.unwrap_or_default().into(), named::<String>("a URI in namespaces", &uri)?.into()))
        })
        .collect()
}

/// A value of the type that an argument has; the error names the argument.
pub(crate) fn named<'py, T: FromPyObjectOwned<'py>>(
    argument: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<T> {
    value.extract().map_err(|_| {
        let kind = value.get_type().name().map_or_else(|_| String::new(), |name| format!(" {name}"));
        PyTypeError::new_err(format!("{argument} has the wrong type{kind}"))
    })
}

/// Refuses an id that is there twice.
pub(crate) fn refuse_twice(rows: &[Subscription]) -> PyResult<()> {
    // Row numbers and sorted ids need no table.
    if rows.is_sorted_by(|one, next| one.id < next.id) {
        return Ok(());
    }
    let mut seen = HashMap::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        if let Some(first) = seen.insert(&row.id, at) {
            let id = match &row.id {
                Id::Number(number) => number.to_string(),
                Id::Text(text) => format!("{text:?}"),
            };
            return Err(PyValueError::new_err(format!(
                "the id {id} is there twice, in rows {first} and {at}: none was added"
            )));
        }
    }
    Ok(())
}

/// Reads pairs `(id, xpath)` or rows `(id, xpath, ordered, namespaces, variables)`, or an Arrow table with such columns.
pub(crate) fn rows(subscriptions: &Bound<'_, PyAny>, ordered: bool) -> PyResult<Bulk<Subscription>> {
    if subscriptions.hasattr("__arrow_c_stream__")? {
        let (batches, _) = subscriptions.extract::<PyTable>()?.into_inner();
        let mut all = Bulk::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
        for batch in &batches {
            arrow_rows(subscriptions.py(), batch, ordered, &mut all)?;
        }
        return Ok(all);
    }
    let py = subscriptions.py();
    let rows = subscriptions.try_iter()?.enumerate().map(|(at, row)| {
        if at % SIGNALS == 0 {
            py.check_signals()?;
        }
        python_row(&row?, ordered)
    });
    rows.collect()
}

fn python_row(row: &Bound<'_, PyAny>, ordered: bool) -> PyResult<Subscription> {
    let wrong = || {
        PyTypeError::new_err(
            "a subscription is a pair (id, xpath) or (id, xpath, ordered, namespaces, variables)",
        )
    };
    let length = row.len().map_err(|_| wrong())?;
    if !(2..=5).contains(&length) || row.is_instance_of::<PyString>() {
        return Err(wrong());
    }
    let tuple = row.cast_exact::<PyTuple>();
    // A mapping has a length as well.
    let item = |at: usize| match tuple {
        Ok(tuple) => tuple.get_item(at),
        Err(_) => row.get_item(at).map_err(|_| wrong()),
    };
    let own: Option<bool> = if length > 2 { named("ordered", &item(2)?)? } else { None };
    let further = |at: usize| if length > at { item(at).map(Some) } else { Ok(None) };
    let (namespaces, variables) = (further(3)?, further(4)?);
    let xpath: PyBackedStr = named("xpath", &item(1)?)?;
    Ok(Subscription {
        id: id_from_python(&item(0)?)?,
        written: written(&xpath, own.unwrap_or(ordered), namespaces.as_ref(), variables.as_ref())?,
    })
}

fn arrow_rows(
    py: Python<'_>,
    batch: &RecordBatch,
    default: bool,
    all: &mut Vec<Subscription>,
) -> PyResult<()> {
    let column = |name: &str| batch.column_by_name(name);
    let needed = |name: &str| {
        column(name).ok_or_else(|| PyValueError::new_err(format!("the table has no column '{name}'")))
    };
    let (ids, xpaths) = (needed("id")?, Texts::new("xpath", needed("xpath")?)?);
    let ids = Ids::new(ids)?;
    let ordered = column("ordered").filter(|array| *array.data_type() != DataType::Null).map(|array| {
        let array: Option<&BooleanArray> = array.as_boolean_opt();
        array.cloned().ok_or_else(|| PyTypeError::new_err("the column 'ordered' must be boolean"))
    });
    let ordered = ordered.transpose()?;
    let namespaces = column("namespaces").map(|array| text_maps("namespaces", array)).transpose()?;
    let variables = column("variables").map(|array| text_maps("variables", array)).transpose()?;
    for at in 0..batch.num_rows() {
        if at % SIGNALS == 0 {
            py.check_signals()?;
        }
        let row = all.len();
        let missing = |name: &str| PyValueError::new_err(format!("row {row} of the table has no {name}"));
        all.push(Subscription {
            id: ids.get(at).ok_or_else(|| missing("id"))?,
            written: Written {
                xpath: xpaths.get(at).ok_or_else(|| missing("xpath"))?.into(),
                ordered: ordered
                    .as_ref()
                    .filter(|array| array.is_valid(at))
                    .map_or(default, |array| array.value(at)),
                namespaces: namespaces.as_ref().map_or_else(Vec::new, |maps| maps[at].clone()),
                variables: variables.as_ref().map_or_else(Vec::new, |maps| constants(&maps[at])),
            },
        });
    }
    Ok(())
}

/// A column of maps binds strings only.
fn constants(map: &Namespaces) -> Variables {
    map.iter().map(|(name, text)| (name.clone(), Binding::Text(text.clone()))).collect()
}

/// A column of maps of string to string: prefixes to URIs, variables to texts.
fn text_maps(name: &str, array: &ArrayRef) -> PyResult<Vec<Namespaces>> {
    let wrong = || PyTypeError::new_err(format!("the column '{name}' must be a map of string to string"));
    if *array.data_type() == DataType::Null {
        return Ok(vec![Vec::new(); array.len()]);
    }
    let maps = array.as_map_opt().ok_or_else(wrong)?;
    let mut all = Vec::with_capacity(maps.len());
    for at in 0..maps.len() {
        let entries = maps.value(at);
        let (prefixes, uris) = (Texts::new(name, entries.column(0))?, Texts::new(name, entries.column(1))?);
        let entry = |at: usize| Some((prefixes.get(at)?.into(), uris.get(at)?.into()));
        let valid = if maps.is_valid(at) { entries.len() } else { 0 };
        all.push((0..valid).filter_map(entry).collect());
    }
    Ok(all)
}

/// A column of strings, of any of Arrow's kinds.
pub(crate) enum Texts<'a> {
    Small(&'a arrow_array::StringArray),
    Large(&'a arrow_array::LargeStringArray),
    View(&'a arrow_array::StringViewArray),
}

impl<'a> Texts<'a> {
    pub(crate) fn new(name: &str, array: &'a ArrayRef) -> PyResult<Self> {
        match array.data_type() {
            DataType::Utf8 => Ok(Self::Small(array.as_string())),
            DataType::LargeUtf8 => Ok(Self::Large(array.as_string())),
            DataType::Utf8View => Ok(Self::View(array.as_string_view())),
            other => Err(PyTypeError::new_err(format!("the column '{name}' must be strings, not {other}"))),
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<&'a str> {
        match self {
            Self::Small(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Large(array) => array.is_valid(at).then(|| array.value(at)),
            Self::View(array) => array.is_valid(at).then(|| array.value(at)),
        }
    }
}

enum Ids<'a> {
    Texts(Texts<'a>),
    Numbers(Int64Array),
}

impl<'a> Ids<'a> {
    fn new(array: &'a ArrayRef) -> PyResult<Self> {
        if let Ok(texts) = Texts::new("id", array) {
            return Ok(Self::Texts(texts));
        }
        let numbers = widened(array)?;
        Ok(Self::Numbers(numbers))
    }

    fn get(&self, at: usize) -> Option<Id> {
        match self {
            Self::Texts(texts) => texts.get(at).map(|text| Id::Text(text.into())),
            Self::Numbers(numbers) => numbers.is_valid(at).then(|| Id::Number(numbers.value(at))),
        }
    }
}

/// Integers of any width as 64 bits.
fn widened(array: &ArrayRef) -> PyResult<Int64Array> {
    use arrow_array::types::{
        Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    };
    macro_rules! widen {
        ($kind:ty) => {
            Ok(array.as_primitive::<$kind>().iter().map(|value| value.map(i64::from)).collect())
        };
    }
    match array.data_type() {
        DataType::Int64 => Ok(array.as_primitive::<Int64Type>().clone()),
        DataType::Int32 => widen!(Int32Type),
        DataType::Int16 => widen!(Int16Type),
        DataType::Int8 => widen!(Int8Type),
        DataType::UInt32 => widen!(UInt32Type),
        DataType::UInt16 => widen!(UInt16Type),
        DataType::UInt8 => widen!(UInt8Type),
        DataType::UInt64 => {
            let numbers = array.as_primitive::<UInt64Type>().iter();
            numbers
                .map(|value| value.map(i64::try_from).transpose())
                .collect::<Result<_, _>>()
                .map_err(|_| too_large())
        }
        other => {
            Err(PyTypeError::new_err(format!("the column 'id' must be strings or integers, not {other}")))
        }
    }
}
