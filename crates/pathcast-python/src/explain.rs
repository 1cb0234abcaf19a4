//! Why a document matches an expression, or where it fails to.

use std::collections::BTreeMap;

use pathcast_core::explain::{Explanation, Part, Predicate, Step, explain as explain_core};
use pathcast_core::index::Settings;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::calls::detached;
use crate::documents::Source;
use crate::errors::{document_exception, raise, xpath_exception};
use crate::index::limits_from_python;
use crate::select::given;
use crate::variables::written;

/// The explanation as plain data: dicts, lists, strings, numbers.
#[pyfunction]
#[pyo3(signature = (xpath, document, limits, namespaces, ignore_namespaces, ordered, variables=None, entities=None))]
#[allow(clippy::too_many_arguments, reason = "the Python function names and defaults them")]
pub(crate) fn explain<'py>(
    py: Python<'py>,
    xpath: &str,
    document: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    namespaces: Option<&Bound<'py, PyAny>>,
    ignore_namespaces: bool,
    ordered: bool,
    variables: Option<&Bound<'py, PyAny>>,
    entities: Option<BTreeMap<String, String>>,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = Settings {
        limits: limits_from_python(limits)?,
        ignore_namespaces,
        entities: entities.iter().flatten().map(|(name, text)| (name.as_str(), text.as_str())).collect(),
        ..Settings::default()
    };
    let written = written(xpath, ordered, namespaces, variables)?;
    let mut source = Source::new(document)?;
    let explained = detached(py, None, || {
        let given = source.document().and_then(|each| given(each, settings.limits.document_bytes));
        given.map(|given| explain_core(&written, &given, &settings))
    })?;
    if let Some(exception) = source.take_exception() {
        return Err(exception);
    }
    let result = explained
        .map_err(|error| raise(document_exception(py, &error)))?
        .map_err(|error| raise(xpath_exception(py, &error, xpath)))?
        .map_err(|error| raise(document_exception(py, &error)))?;
    to_python(py, &result)
}

fn to_python<'py>(py: Python<'py>, explanation: &Explanation) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("matched", explanation.matched)?;
    dict.set_item("normal_form", &explanation.normal_form)?;
    dict.set_item("failure", &explanation.failure)?;
    let parts: PyResult<Vec<_>> = explanation.parts.iter().map(|part| part_to_python(py, part)).collect();
    dict.set_item("paths", parts?)?;
    Ok(dict)
}

fn part_to_python<'py>(py: Python<'py>, part: &Part) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("text", &part.text)?;
    dict.set_item("matched", part.matched)?;
    let steps: PyResult<Vec<_>> = part.steps.iter().map(|step| step_to_python(py, step)).collect();
    dict.set_item("steps", steps?)?;
    Ok(dict)
}

fn step_to_python<'py>(py: Python<'py>, step: &Step) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("text", &step.text)?;
    dict.set_item("count", step.count)?;
    dict.set_item("nodes", &step.nodes)?;
    dict.set_item("hints", &step.hints)?;
    let predicate = |predicate: &Predicate| {
        let dict = PyDict::new(py);
        dict.set_item("text", &predicate.text)?;
        dict.set_item("kept", predicate.kept)?;
        dict.set_item("of", predicate.of)?;
        dict.set_item("found", &predicate.found)?;
        Ok(dict)
    };
    let predicates: PyResult<Vec<_>> = step.predicates.iter().map(predicate).collect();
    dict.set_item("predicates", predicates?)?;
    Ok(dict)
}
