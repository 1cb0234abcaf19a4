//! What the predicate engines are made of, for comparisons with their paper.

use std::any::Any;

use pathcast_core::index::{Index as Core, Settings};
use pathcast_papers::PREDICATE_PC_AP;
use pathcast_papers::predicate::{Organisation, Predicates};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::index::Index;

/// An empty index that matches predicates and decides no expression: it finds nothing, and takes what that takes.
#[pyfunction]
pub(crate) fn predicate_stage() -> Index {
    let settings = Settings { engine: PREDICATE_PC_AP, ..Settings::default() };
    let engine = Predicates::new(Organisation::AccessPredicates).without_expressions();
    Index::around(Core::with_engine(settings, None, Box::new(engine)))
}

/// How many distinct predicates the expressions of an index have.
#[pyfunction]
pub(crate) fn predicate_count(py: Python<'_>, index: &Bound<'_, Index>) -> PyResult<usize> {
    let counted = index.get().read(py, |core| {
        let engine: &dyn Any = core.engine();
        engine.downcast_ref::<Predicates>().map(Predicates::distinct_predicates)
    })?;
    counted.ok_or_else(|| PyValueError::new_err("only the predicate engines have predicates to count"))
}
