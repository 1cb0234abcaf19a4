//! Variables from Python: strings, numbers, booleans, and expressions of the class `pathcast.XPath`.

use pathcast_core::index::Written;
use pathcast_core::xpath::{Binding, Variables};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::subscriptions::{named, namespaces_from_python};

/// What one subscription says besides its id.
pub(crate) fn written(
    xpath: &str,
    ordered: bool,
    namespaces: Option<&Bound<'_, PyAny>>,
    variables: Option<&Bound<'_, PyAny>>,
) -> PyResult<Written> {
    Ok(Written {
        xpath: xpath.into(),
        ordered,
        namespaces: namespaces_from_python(namespaces)?,
        variables: variables_from_python(variables)?,
    })
}

/// A mapping of names to what they are bound to.
pub(crate) fn variables_from_python(variables: Option<&Bound<'_, PyAny>>) -> PyResult<Variables> {
    let Some(variables) = variables.filter(|variables| !variables.is_none()) else {
        return Ok(Vec::new());
    };
    let map = PyDict::new(variables.py());
    map.update(
        variables.cast().map_err(|_| PyTypeError::new_err("variables is a mapping of name to value"))?,
    )?;
    map.iter()
        .map(|(name, value)| {
            let name: String = named("a name in variables", &name)?;
            let binding = binding(&name, &value)?;
            Ok((name.into(), binding))
        })
        .collect()
}

fn binding(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Binding> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Binding::Text(text.to_str()?.into()));
    }
    // A bool is an int as well.
    if value.is_instance_of::<PyBool>() {
        return Ok(Binding::Boolean(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Ok(Binding::Number(value.extract()?));
    }
    // As JSON has it.
    if let Ok(map) = value.cast::<PyDict>()
        && map.len() == 1
        && let Some(source) = map.get_item("xpath")?
    {
        return Ok(Binding::Expression(source.extract::<String>()?.into()));
    }
    let class = value.py().import("pathcast.types")?.getattr("XPath")?;
    if value.is_instance(&class)? {
        return Ok(Binding::Expression(value.getattr("expression")?.extract::<String>()?.into()));
    }
    Err(PyTypeError::new_err(format!(
        "the variable {name:?} is bound to a str, int, float, bool or pathcast.XPath, not to {}",
        value.get_type().name()?
    )))
}

/// Variables as the mapping that gives them back.
pub(crate) fn variables_to_python<'py>(
    py: Python<'py>,
    variables: &Variables,
) -> PyResult<Bound<'py, PyDict>> {
    let map = PyDict::new(py);
    for (name, binding) in variables {
        match binding {
            Binding::Text(text) => map.set_item(&**name, &**text)?,
            Binding::Number(number) => map.set_item(&**name, number)?,
            Binding::Boolean(value) => map.set_item(&**name, value)?,
            Binding::Expression(source) => {
                let class = py.import("pathcast.types")?.getattr("XPath")?;
                map.set_item(&**name, class.call1((&**source,))?)?;
            }
        }
    }
    Ok(map)
}
