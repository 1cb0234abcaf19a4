//! What benchmarks measure against.

use pathcast_core::limits::Limits;
use pathcast_core::reader::{self, Reader};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::errors::{document_exception, raise};

/// The elements that quick-xml alone counts in some documents.
#[pyfunction]
pub(crate) fn bare_elements(py: Python<'_>, documents: Vec<PyBackedBytes>) -> u64 {
    py.detach(|| documents.iter().map(|document| reader::bare_elements(document)).sum())
}

/// The elements that the strict reader counts in some documents.
#[pyfunction]
pub(crate) fn strict_elements(py: Python<'_>, documents: Vec<PyBackedBytes>) -> PyResult<u64> {
    let mut reader = Reader::new(Limits::default());
    let counted: Result<u64, _> =
        py.detach(|| documents.iter().map(|document| reader::strict_elements(&mut reader, document)).sum());
    counted.map_err(|error| raise(document_exception(py, &error)))
}
