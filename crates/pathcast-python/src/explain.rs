//! Why a document matches an expression, or where it fails to.

use pathcast_core::explain::{Explanation, explain as explain_core};
use pathcast_core::index::Settings;
use pyo3::prelude::*;

use crate::documents::Source;
use crate::errors::{document_exception, raise, xpath_exception};
use crate::index::limits_from_python;
use crate::subscriptions::namespaces_from_python;

/// One step as `(text, count, labels)`.
type Step = (String, usize, Vec<String>);
/// One path as `(text, matched, steps)`.
type Part = (String, bool, Vec<Step>);

/// The verdict and its parts: `(matched, [(path, matched, [(step, count, nodes)])])`.
#[pyfunction]
#[pyo3(signature = (xpath, document, limits, namespaces, ignore_namespaces, ordered))]
pub(crate) fn explain(
    py: Python<'_>,
    xpath: &str,
    document: &Bound<'_, PyAny>,
    limits: &Bound<'_, PyAny>,
    namespaces: Option<&Bound<'_, PyAny>>,
    ignore_namespaces: bool,
    ordered: bool,
) -> PyResult<(bool, Vec<Part>)> {
    let settings = Settings {
        limits: limits_from_python(limits)?,
        namespaces: namespaces_from_python(namespaces)?,
        ignore_namespaces,
        ..Settings::default()
    };
    let mut source = Source::new(document)?;
    let document = source.document().map_err(|error| raise(document_exception(py, &error)))?;
    let explained = py.detach(|| explain_core(xpath, document, &settings, ordered));
    if let Some(exception) = source.take_exception() {
        return Err(exception);
    }
    let result = explained
        .map_err(|error| raise(xpath_exception(py, &error, xpath)))?
        .map_err(|error| raise(document_exception(py, &error)))?;
    Ok(to_python(result))
}

fn to_python(explanation: Explanation) -> (bool, Vec<Part>) {
    let step = |step: pathcast_core::explain::Step| (step.text, step.count, step.nodes);
    let parts = explanation
        .parts
        .into_iter()
        .map(|part| (part.text, part.matched, part.steps.into_iter().map(step).collect()));
    (explanation.matched, parts.collect())
}
