//! The core's errors as exceptions of `pathcast.errors`.

use std::io;
use std::path::Path;

use pathcast_core::cover::AdvertisementError;
use pathcast_core::index::IndexFormatError;
use pathcast_core::reader::{DocumentError, DocumentErrorKind};
use pathcast_core::xpath::{XPathError, XPathErrorKind};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("pathcast.errors")?.getattr(name)
}

/// An `XPathError`, or the limit error that is one.
pub(crate) fn xpath_exception<'py>(
    py: Python<'py>,
    error: &XPathError,
    expression: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let name = if error.kind == XPathErrorKind::Limit { "XPathLimitError" } else { "XPathError" };
    class(py, name)?.call1((&error.message, expression, error.column))
}

/// An `AdvertisementError`.
pub(crate) fn advertisement_exception<'py>(
    py: Python<'py>,
    error: &AdvertisementError,
) -> PyResult<Bound<'py, PyAny>> {
    class(py, "AdvertisementError")?.call1((&error.message, &error.text, error.column))
}

/// A `DocumentError`, or the limit error that is one.
pub(crate) fn document_exception<'py>(py: Python<'py>, error: &DocumentError) -> PyResult<Bound<'py, PyAny>> {
    let (name, kind) = match error.kind {
        DocumentErrorKind::Malformed => ("DocumentError", "malformed"),
        DocumentErrorKind::Encoding => ("DocumentError", "encoding"),
        DocumentErrorKind::Entity => ("DocumentError", "entity"),
        DocumentErrorKind::Limit => ("DocumentLimitError", "limit"),
        DocumentErrorKind::Invalid => ("DocumentError", "invalid"),
        DocumentErrorKind::Io | DocumentErrorKind::Cancelled => ("DocumentError", "io"),
    };
    class(py, name)?.call1((&error.reason, error.line, error.column, kind))
}

/// An `IndexFormatError`, or the `OSError` behind it.
pub(crate) fn format_exception(py: Python<'_>, error: IndexFormatError, path: &Path) -> PyErr {
    match error {
        IndexFormatError::Io(error) => os_error(py, error, path),
        other => class(py, "IndexFormatError")
            .and_then(|class| class.call1((other.to_string(),)))
            .map_or_else(|error| error, PyErr::from_value),
    }
}

/// The `OSError` that Python itself would raise: with number and file name, of the class that the number says.
fn os_error(py: Python<'_>, error: io::Error, path: &Path) -> PyErr {
    let Some(number) = error.raw_os_error() else { return PyErr::from(error) };
    let text = || py.import("os")?.getattr("strerror")?.call1((number,))?.extract::<String>();
    match text() {
        Ok(text) => PyOSError::new_err((number, text, path.to_owned())),
        Err(error) => error,
    }
}

/// Bad expressions of one call, all of them.
pub(crate) fn subscription_errors<'py>(
    py: Python<'py>,
    failures: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
) -> PyErr {
    class(py, "SubscriptionErrors")
        .and_then(|class| class.call1((failures,)))
        .map_or_else(|error| error, PyErr::from_value)
}

/// Raises what `make` built.
pub(crate) fn raise(made: PyResult<Bound<'_, PyAny>>) -> PyErr {
    made.map_or_else(|error| error, PyErr::from_value)
}

/// A lock that a panic poisoned.
pub(crate) fn poisoned() -> PyErr {
    PyOSError::new_err("the index was left in an unknown state by an internal error: load or build it again")
}
