//! Ids as users get them: columns of Arrow, and Python objects that are made once.

use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Int64Array, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer};
use pathcast_core::index::Matches;
use pyo3::exceptions::{PyOverflowError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyList;

use crate::buffers;
use crate::errors::poisoned;
use crate::forks::Inside;
use crate::subscriptions::id_to_python;

/// The objects of an index's ids by place. Each is made when it is first asked for, and all lists share it.
#[derive(Default)]
pub(crate) struct Objects(Mutex<Made>);

#[derive(Default)]
struct Made {
    /// The edition of the places.
    edition: u64,
    objects: Vec<Option<Py<PyAny>>>,
    /// So many from the first on are all made.
    all: usize,
    /// The places of the last list: room that is used again.
    listed: Vec<u32>,
}

impl Objects {
    /// The ids of some places as a list; of all that matched unless told.
    pub(crate) fn list<'py>(
        &self,
        py: Python<'py>,
        matches: &Matches,
        slots: Option<&[u32]>,
    ) -> PyResult<Bound<'py, PyList>> {
        // A child must not find this locked by a thread that it does not have.
        let _inside = py.detach(Inside::enter);
        let mut made = self.0.lock_py_attached(py).map_err(|_| poisoned())?;
        if made.edition < matches.edition() {
            *made = Made { edition: matches.edition(), ..Made::default() };
        }
        if made.edition > matches.edition() {
            // A result of before the places were numbered anew.
            let slots = slots.map_or_else(|| matches.slots(), <[u32]>::to_vec);
            let ids: PyResult<Vec<_>> =
                slots.iter().map(|&slot| id_to_python(py, &matches.id(slot))).collect();
            return PyList::new(py, ids?);
        }
        let Made { objects, all, listed, .. } = &mut *made;
        let slots = slots.unwrap_or_else(|| {
            listed.clear();
            matches.list_slots(listed);
            listed
        });
        let places = matches.places();
        if objects.len() < places {
            objects.resize_with(places, || None);
        }
        let mut make = |slot: u32| -> PyResult<()> {
            let object = &mut objects[slot as usize];
            if object.is_none() {
                *object = Some(id_to_python(py, &matches.id(slot))?.unbind());
            }
            Ok(())
        };
        if *all < places {
            // Objects that are made in order lie side by side in memory, and are found there sooner.
            if slots.len() > places / 8 {
                (0..places as u32).try_for_each(make)?;
                *all = places;
            } else {
                slots.iter().try_for_each(|&slot| make(slot))?;
            }
        }
        PyList::new(py, slots.iter().map(|&slot| &objects[slot as usize]))
    }
}

/// Ids as an Arrow column; its type is that of the whole index, so that all batches of a stream have one schema.
pub(crate) enum Column {
    Numbers(Vec<i64>),
    Texts { bytes: Vec<u8>, ends: Vec<usize> },
}

impl Column {
    /// An empty one.
    pub(crate) fn new(numbers: bool) -> Self {
        if numbers {
            Self::Numbers(buffers::take())
        } else {
            Self::Texts { bytes: Vec::new(), ends: vec![0] }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Texts { ends, .. } => ends.len() - 1,
        }
    }

    /// Appends the ids of a document; numbers in no order, if none is asked for.
    pub(crate) fn extend(&mut self, matches: &Matches, ordered: bool) {
        match self {
            Self::Numbers(numbers) if ordered => matches.numbers(numbers),
            Self::Numbers(numbers) => matches.loose_numbers(numbers),
            Self::Texts { bytes, ends } => matches.texts(bytes, |end| ends.push(end)),
        }
    }

    pub(crate) fn finish(self) -> PyResult<ArrayRef> {
        Ok(match self {
            Self::Numbers(numbers) => Arc::new(Int64Array::new(buffers::lend(numbers), None)),
            Self::Texts { bytes, ends } => {
                let ends: Result<Vec<i32>, _> = ends.into_iter().map(i32::try_from).collect();
                let offsets = OffsetBuffer::new(ends.map_err(|_| too_many())?.into());
                let array = StringArray::try_new(offsets, Buffer::from_vec(bytes), None);
                Arc::new(array.map_err(|error| PyRuntimeError::new_err(error.to_string()))?)
            }
        })
    }
}

/// The error that a list of Arrow cannot be so long.
pub(crate) fn too_many() -> PyErr {
    PyOverflowError::new_err(
        "more than 2,147,483,647 matches, or bytes of ids, in one batch: match fewer documents at once",
    )
}
