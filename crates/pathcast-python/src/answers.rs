//! Pairs that a database found, as lists of ids in order.
//!
//! A document may have thousands of matches, so what happens for each of them is a look into a table and a number in a
//! sort. Ids are decoded once and remembered, with their rank among all that are known.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pathcast_core::index::Id;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3_arrow::PyArray;

use crate::subscriptions::id_to_python;

/// Ids that are remembered.
const HELD: usize = 1_000_000;

/// Turns columns of documents and subscriptions into lists of ids; several threads may share it.
#[pyclass(module = "pathcast._core", frozen)]
#[derive(Default)]
pub(crate) struct Answers(Mutex<Known>);

#[derive(Default)]
struct Known {
    places: HashMap<Box<str>, u32>,
    ids: Vec<Id>,
    objects: Vec<Py<PyAny>>,
    /// By place: the rank.
    ranks: Vec<u32>,
    /// By rank: the place.
    order: Vec<u32>,
}

#[pymethods]
impl Answers {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// The places of the documents that have matches, each with its subscriptions in order and once.
    fn by_document<'py>(
        &self,
        py: Python<'py>,
        documents: PyArray,
        subscriptions: PyArray,
    ) -> PyResult<Vec<(i64, Bound<'py, PyList>)>> {
        let documents = documents.array().as_primitive_opt::<Int64Type>().ok_or_else(|| wrong("bigint"))?;
        let found = {
            // Nothing in here lets another thread run, so nobody waits for the lock with the interpreter in hand.
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.by_document(py, documents.values(), texts(subscriptions.array())?)?
        };
        found.into_iter().map(|(document, ids)| Ok((document, PyList::new(py, ids)?))).collect()
    }
}

impl Known {
    fn by_document<'a>(
        &mut self,
        py: Python<'_>,
        documents: &[i64],
        texts: impl Iterator<Item = &'a str>,
    ) -> PyResult<Vec<(i64, Vec<Py<PyAny>>)>> {
        if self.ids.len() > HELD {
            *self = Self::default();
        }
        let mut keys: Vec<(i64, u32)> = Vec::with_capacity(documents.len());
        for (document, text) in documents.iter().zip(texts) {
            keys.push((*document, self.place(py, text)?));
        }
        self.rank();
        for (_, place) in &mut keys {
            *place = self.ranks[*place as usize];
        }
        keys.sort_unstable();
        keys.dedup();
        let id = |rank: u32| self.objects[self.order[rank as usize] as usize].clone_ref(py);
        Ok(keys
            .chunk_by(|left, right| left.0 == right.0)
            .map(|some| (some[0].0, some.iter().map(|(_, rank)| id(*rank)).collect()))
            .collect())
    }

    fn place(&mut self, py: Python<'_>, text: &str) -> PyResult<u32> {
        if let Some(place) = self.places.get(text) {
            return Ok(*place);
        }
        let id = id_of(text).ok_or_else(|| PyValueError::new_err(format!("not an id: {text}")))?;
        let place = self.ids.len() as u32;
        self.objects.push(id_to_python(py, &id)?.unbind());
        self.ids.push(id);
        self.places.insert(text.into(), place);
        Ok(place)
    }

    /// Ranks all ids again when there are new ones: numbers before texts.
    fn rank(&mut self) {
        if self.ranks.len() == self.ids.len() {
            return;
        }
        self.order = (0..self.ids.len() as u32).collect();
        self.order.sort_unstable_by(|left, right| self.ids[*left as usize].cmp(&self.ids[*right as usize]));
        self.ranks = vec![0; self.ids.len()];
        for (rank, place) in self.order.iter().enumerate() {
            self.ranks[*place as usize] = rank as u32;
        }
    }
}

/// The id that a text in a table stands for: a number, or a string of JSON as [`encode_ids`] writes it.
///
/// [`encode_ids`]: crate::relational::encode_ids
fn id_of(text: &str) -> Option<Id> {
    let Some(quoted) = text.strip_prefix('"') else { return text.parse().ok().map(Id::Number) };
    let mut rest = quoted.strip_suffix('"')?;
    let mut id = String::with_capacity(rest.len());
    while let Some((plain, escaped)) = rest.split_once('\\') {
        id.push_str(plain);
        rest = match escaped.strip_prefix('u') {
            Some(digits) => {
                let code = u32::from_str_radix(digits.get(..4)?, 16).ok()?;
                id.push(char::from_u32(code)?);
                &digits[4..]
            }
            None => {
                let character = escaped.chars().next()?;
                id.push(character);
                &escaped[character.len_utf8()..]
            }
        };
    }
    id.push_str(rest);
    Some(Id::Text(id.into()))
}

fn texts(array: &ArrayRef) -> PyResult<Box<dyn Iterator<Item = &str> + '_>> {
    match array.data_type() {
        DataType::Utf8 => Ok(Box::new(array.as_string::<i32>().iter().map(Option::unwrap_or_default))),
        DataType::LargeUtf8 => Ok(Box::new(array.as_string::<i64>().iter().map(Option::unwrap_or_default))),
        DataType::Utf8View => Ok(Box::new(array.as_string_view().iter().map(Option::unwrap_or_default))),
        _ => Err(wrong("text")),
    }
}

fn wrong(wanted: &str) -> PyErr {
    PyTypeError::new_err(format!("a column of {wanted} is wanted"))
}
