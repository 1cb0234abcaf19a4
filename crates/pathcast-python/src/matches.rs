//! Results: light sequences that build no id until asked.

use std::sync::{Arc, OnceLock};

use arrow_array::{ArrayRef, ListArray, UInt32Array};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::Field;
use pathcast_core::index::Groups;
use pathcast_core::reader::DocumentError;
use pyo3::exceptions::{PyImportError, PyIndexError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PySlice, PyTuple};
use pyo3_arrow::PyArray;

use crate::errors::document_exception;
use crate::ids::{Column, Objects, too_many};
use crate::subscriptions::id_to_python;

/// The ids that one document matched, in order of registration.
#[pyclass(module = "pathcast._core", frozen, sequence)]
pub(crate) struct Matches {
    inner: pathcast_core::index::Matches,
    objects: Arc<Objects>,
    /// The places in order, once somebody asked.
    slots: OnceLock<Vec<u32>>,
}

impl Matches {
    pub(crate) fn new(inner: pathcast_core::index::Matches, objects: Arc<Objects>) -> Self {
        Self { inner, objects, slots: OnceLock::new() }
    }

    fn slots(&self) -> &[u32] {
        self.slots.get_or_init(|| self.inner.slots())
    }

    /// The ids, or the error that some subscriptions could not be decided, with the ids of the others in it.
    pub(crate) fn to_list_or_raise<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (ids, failures) = (self.to_list(py)?, self.failures(py)?);
        if failures.is_empty() {
            return Ok(ids);
        }
        let class = py.import("pathcast.errors")?.getattr("EvaluationError")?;
        Err(PyErr::from_value(class.call1((ids, failures))?))
    }

    pub(crate) fn to_list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.objects.list(py, &self.inner, self.slots.get().map(Vec::as_slice))
    }
}

#[pymethods]
impl Matches {
    /// Ids of subscriptions that cost more than `Limits.evaluation_steps` to decide, in order of registration.
    #[getter]
    fn failures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.objects.list(py, &self.inner, Some(&self.inner.undecided()))
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, at: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = at.cast::<PySlice>() {
            return self.to_list(py)?.as_any().get_item(slice);
        }
        let slots = self.slots();
        let slot = slots[position(at.extract()?, slots.len())?];
        self.objects.list(py, &self.inner, Some(&[slot]))?.get_item(0)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.to_list(py)?.as_any().try_iter()?.into_any())
    }

    fn __contains__(&self, id: &Bound<'_, PyAny>) -> bool {
        crate::subscriptions::id_from_python(id)
            .is_ok_and(|id| self.slots().iter().any(|&slot| self.inner.id(slot) == id))
    }

    fn __eq__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let other = match other.cast::<Self>() {
            Ok(matches) => matches.get().to_list(py)?.into_any(),
            Err(_) => other.clone(),
        };
        self.to_list(py)?.as_any().rich_compare(other, pyo3::basic::CompareOp::Eq)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Matches({})", self.to_list(py)?.repr()?))
    }

    /// Where an id is; `ValueError` when it is not there.
    #[pyo3(signature = (id, *range))]
    fn index<'py>(&self, id: &Bound<'py, PyAny>, range: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        index_in(&self.to_list(id.py())?, id, range)
    }

    /// How often an id is there: once or not at all.
    fn count(&self, id: &Bound<'_, PyAny>) -> usize {
        usize::from(self.__contains__(id))
    }

    /// The ids as a `pyarrow.Array`: of integers if all ids of the index are, else of strings.
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut column = Column::new(self.inner.all_numbers());
        column.extend(&self.inner, true);
        to_pyarrow(py, column.finish()?)
    }
}

fn index_in<'py>(
    list: &Bound<'py, PyList>,
    item: &Bound<'py, PyAny>,
    range: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut arguments = vec![item.clone()];
    arguments.extend(range);
    list.call_method1("index", PyTuple::new(list.py(), arguments)?)
}

fn to_pyarrow(py: Python<'_>, array: ArrayRef) -> PyResult<Bound<'_, PyAny>> {
    let pyarrow = py.import("pyarrow").map_err(|_| {
        PyImportError::new_err("to_arrow() needs pyarrow: install pathcast with the extra 'arrow'")
    })?;
    pyarrow.getattr("array")?.call1((PyArray::from_array_ref(array),))
}

/// A list of ids for each result, empty for a bad document.
fn lists_of_ids<'m>(
    results: impl Iterator<Item = Option<&'m pathcast_core::index::Matches>>,
    numbers: bool,
    ordered: bool,
) -> PyResult<ListArray> {
    let mut column = Column::new(numbers);
    let mut offsets = vec![0];
    for result in results {
        if let Some(matches) = result {
            column.extend(matches, ordered);
        }
        offsets.push(i32::try_from(column.len()).map_err(|_| too_many())?);
    }
    Ok(lists(column.finish()?, offsets))
}

fn lists(values: ArrayRef, offsets: Vec<i32>) -> ListArray {
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    ListArray::new(field, OffsetBuffer::new(offsets.into()), values, None)
}

fn position(at: isize, length: usize) -> PyResult<usize> {
    let from_start = if at < 0 { at + length as isize } else { at };
    if from_start < 0 || from_start as usize >= length {
        return Err(PyIndexError::new_err("index out of range"));
    }
    Ok(from_start as usize)
}

/// One result for each document of a `match_many`, in order: `Matches`, or a `DocumentError`.
#[pyclass(module = "pathcast._core", frozen, sequence)]
pub(crate) struct Batch {
    results: Vec<Result<pathcast_core::index::Matches, DocumentError>>,
    /// The objects that were asked for, each made once.
    items: OnceLock<Vec<OnceLock<Py<Matches>>>>,
    objects: Arc<Objects>,
    /// Whether all ids of the index are numbers.
    numbers: bool,
}

impl Batch {
    pub(crate) fn new(
        results: Vec<Result<pathcast_core::index::Matches, DocumentError>>,
        numbers: bool,
        objects: Arc<Objects>,
    ) -> Self {
        // A subscription may have been added between two blocks of documents.
        let numbers = numbers && results.iter().flatten().all(pathcast_core::index::Matches::all_numbers);
        Self { results, items: OnceLock::new(), objects, numbers }
    }

    fn item<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyAny>> {
        match &self.results[at] {
            Ok(matches) => {
                let cells = || (0..self.results.len()).map(|_| OnceLock::new()).collect();
                let cell = &self.items.get_or_init(cells)[at];
                let object = match cell.get() {
                    Some(known) => known,
                    None => {
                        let new = Py::new(py, Matches::new(matches.clone(), self.objects.clone()))?;
                        cell.get_or_init(|| new)
                    }
                };
                Ok(object.bind(py).clone().into_any())
            }
            Err(error) => document_exception(py, error),
        }
    }
}

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.results.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, at: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = at.cast::<PySlice>() {
            return PyList::new(py, self.items(py)?)?.as_any().get_item(slice);
        }
        self.item(py, position(at.extract()?, self.results.len())?)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.items(py)?)?.as_any().try_iter()?.into_any())
    }

    fn __repr__(&self) -> String {
        let bad = self.results.iter().filter(|result| result.is_err()).count();
        format!("<{} results, {bad} of them errors>", self.results.len())
    }

    /// Where an equal result is; `ValueError` when there is none.
    #[pyo3(signature = (result, *range))]
    fn index<'py>(
        &self,
        result: &Bound<'py, PyAny>,
        range: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = result.py();
        index_in(&PyList::new(py, self.items(py)?)?, result, range)
    }

    /// How many results are equal to one.
    fn count<'py>(&self, result: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = result.py();
        PyList::new(py, self.items(py)?)?.call_method1("count", (result,))
    }

    /// What took more evaluation steps than the limit: pairs of a document's place and a subscription's id.
    #[getter]
    fn undecided<'py>(&self, py: Python<'py>) -> PyResult<Vec<(usize, Bound<'py, PyAny>)>> {
        let mut pairs = Vec::new();
        for (at, matches) in self.results.iter().enumerate() {
            let Ok(matches) = matches else { continue };
            for slot in matches.undecided() {
                pairs.push((at, id_to_python(py, &matches.id(slot))?));
            }
        }
        Ok(pairs)
    }

    /// A `pyarrow.ListArray` of ids, one list a document and null for a bad one; of integers if all ids of the
    /// index are. Integers come sooner, and in no order, if they need not be `ordered`.
    #[pyo3(signature = (*, ordered=true))]
    fn to_arrow<'py>(&self, py: Python<'py>, ordered: bool) -> PyResult<Bound<'py, PyAny>> {
        let ids = py.detach(|| lists_of_ids(self.results(), self.numbers, ordered))?;
        to_pyarrow(py, self.or_null(ids))
    }

    /// The groups of subscriptions that each document matched, and the ids of each group.
    fn to_groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (documents, members) = py.detach(|| -> PyResult<_> {
            let Groups { members, matched, ends } = Groups::of(self.results());
            let offsets = ends.into_iter().map(|end| i32::try_from(end).map_err(|_| too_many()));
            let offsets: Vec<i32> = std::iter::once(Ok(0)).chain(offsets).collect::<PyResult<_>>()?;
            let members = lists_of_ids(members.iter().map(Some), self.numbers, true)?;
            Ok((lists(Arc::new(UInt32Array::from(matched)), offsets), members))
        })?;
        let (documents, members) =
            (to_pyarrow(py, self.or_null(documents))?, to_pyarrow(py, Arc::new(members))?);
        py.import("pathcast.types")?.getattr("Groups")?.call1((documents, members))
    }
}

impl Batch {
    /// What each good document matched.
    fn results(&self) -> impl Iterator<Item = Option<&pathcast_core::index::Matches>> {
        self.results.iter().map(|result| result.as_ref().ok())
    }

    /// Lists with null in the place of those of bad documents.
    fn or_null(&self, lists: ListArray) -> ArrayRef {
        let valid: NullBuffer = self.results.iter().map(Result::is_ok).collect();
        let (field, offsets, values, _) = lists.into_parts();
        Arc::new(ListArray::new(field, offsets, values, Some(valid)))
    }

    fn items<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        (0..self.results.len()).map(|at| self.item(py, at)).collect()
    }
}
