//! The Python binding: one file a class, errors mapped, no algorithms.

use pyo3::prelude::*;

/// The compiled core of Pathcast.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
