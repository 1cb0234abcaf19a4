//! The class `Cover`: expressions, advertisements and covering forests under one set of names.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use pathcast_core::cover::{
    Advertisement, AdvertisementError, Expression, Forest, Handle, Inserted, LeafPath, PlainStep, Registry,
};
use pathcast_core::hashing::Seed;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::calls::detached;
use crate::errors::{advertisement_exception, document_exception, raise, xpath_exception};
use crate::index::limits_from_python;
use crate::subscriptions::namespaces_from_python;
use crate::variables::written;

/// Expressions between two looks for signals.
const SIGNALS: usize = 256;

/// Everything that one broker compares. Expressions, advertisements and forests have numbers that the caller gives.
#[pyclass(module = "pathcast._core")]
pub(crate) struct Cover {
    registry: Registry,
    expressions: HashMap<Handle, Arc<Expression>>,
    advertisements: HashMap<u32, Advertisement>,
    forests: HashMap<u32, Forest>,
}

impl Cover {
    fn expression(&self, handle: Handle) -> PyResult<&Arc<Expression>> {
        self.expressions.get(&handle).ok_or_else(|| PyKeyError::new_err(handle))
    }

    fn advertisement(&self, number: u32) -> PyResult<&Advertisement> {
        self.advertisements.get(&number).ok_or_else(|| PyKeyError::new_err(number))
    }
}

#[pymethods]
impl Cover {
    /// `seed` is for what repeats itself; without, one is drawn when the process starts.
    #[new]
    #[pyo3(signature = (limits, seed=None))]
    fn new(limits: &Bound<'_, PyAny>, seed: Option<u64>) -> PyResult<Self> {
        Ok(Self {
            registry: Registry::new(limits_from_python(limits)?, seed.map_or_else(Seed::default, Seed::new)),
            expressions: HashMap::new(),
            advertisements: HashMap::new(),
            forests: HashMap::new(),
        })
    }

    /// Reads an expression; answers whether it is a linear path.
    #[pyo3(signature = (handle, xpath, ordered=false, namespaces=None, variables=None))]
    fn register(
        &mut self,
        py: Python<'_>,
        handle: Handle,
        xpath: &str,
        ordered: bool,
        namespaces: Option<&Bound<'_, PyAny>>,
        variables: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let expression = self
            .registry
            .expression(&written(xpath, ordered, namespaces, variables)?)
            .map_err(|error| raise(xpath_exception(py, &error, xpath)))?;
        let linear = expression.is_linear();
        self.expressions.insert(handle, expression);
        Ok(linear)
    }

    fn release(&mut self, handle: Handle) -> PyResult<()> {
        self.expressions.remove(&handle).map(|_| ()).ok_or_else(|| PyKeyError::new_err(handle))
    }

    fn covers(&self, general: Handle, specific: Handle) -> PyResult<bool> {
        Ok(self.registry.covers(self.expression(general)?, self.expression(specific)?))
    }

    /// Reads the advertisements of one publisher; answers with the number of states.
    #[pyo3(signature = (number, texts, namespaces=None))]
    fn advertise(
        &mut self,
        py: Python<'_>,
        number: u32,
        texts: Vec<String>,
        namespaces: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let namespaces = namespaces_from_python(namespaces)?;
        let made = self.registry.advertisement(&texts, &namespaces);
        let made = made.map_err(|error: AdvertisementError| raise(advertisement_exception(py, &error)))?;
        let states = made.states();
        self.advertisements.insert(number, made);
        Ok(states)
    }

    fn unadvertise(&mut self, number: u32) -> PyResult<()> {
        self.advertisements.remove(&number).map(|_| ()).ok_or_else(|| PyKeyError::new_err(number))
    }

    /// Which of the expressions a document of any of the advertised sets can satisfy.
    #[pyo3(signature = (numbers, handles, single=false))]
    fn overlapping(
        &self,
        py: Python<'_>,
        numbers: Vec<u32>,
        handles: Vec<Handle>,
        single: bool,
    ) -> PyResult<Vec<Handle>> {
        let advertised: PyResult<Vec<_>> = numbers.iter().map(|&number| self.advertisement(number)).collect();
        let advertised = advertised?;
        let mut found = Vec::new();
        for (at, handle) in handles.into_iter().enumerate() {
            if at % SIGNALS == 0 {
                py.check_signals()?;
            }
            let expression = self.expression(handle)?;
            if advertised.iter().any(|each| self.registry.overlaps(each, expression, single)) {
                found.push(handle);
            }
        }
        Ok(found)
    }

    /// Whether every path of the second is one of the first.
    #[pyo3(signature = (general, specific, budget=10_000))]
    fn advertisement_covers(&self, general: u32, specific: u32, budget: usize) -> PyResult<bool> {
        Ok(self.advertisement(general)?.covers(self.advertisement(specific)?, budget))
    }

    /// Whether a path, as pairs of URI and local name, is advertised.
    fn accepts(&self, number: u32, path: Vec<(String, String)>) -> PyResult<bool> {
        let path = path.iter().map(|(uri, local)| (uri.as_str(), local.as_str()));
        Ok(self.registry.accepts(self.advertisement(number)?, path))
    }

    /// How much of what a merger selects none of its members selects.
    fn degree(
        &self,
        number: u32,
        merger: Handle,
        members: Vec<Handle>,
        depth: usize,
    ) -> PyResult<Option<f64>> {
        let members: PyResult<Vec<&Expression>> =
            members.iter().map(|&member| self.expression(member).map(AsRef::as_ref)).collect();
        let advertisement = self.advertisement(number)?;
        Ok(self.registry.imperfect_degree(advertisement, self.expression(merger)?, &members?, depth))
    }

    /// Adds an expression to a forest: whether it is a root, and which were roots until now.
    fn insert(&mut self, forest: u32, handle: Handle) -> PyResult<(bool, Vec<Handle>)> {
        let expression = self.expression(handle)?.clone();
        let forest = self.forests.entry(forest).or_default();
        if forest.contains(handle) {
            return Err(PyValueError::new_err(format!("expression {handle} is in the forest")));
        }
        Ok(match forest.insert(handle, expression, &self.registry) {
            Inserted::Covered(_) => (false, Vec::new()),
            Inserted::Root(hidden) => (true, hidden),
        })
    }

    /// Takes an expression out of a forest: whether it was a root, which are roots now, and which no longer are.
    fn remove(&mut self, forest: u32, handle: Handle) -> PyResult<(bool, Vec<Handle>, Vec<Handle>)> {
        let Entry::Occupied(mut entry) = self.forests.entry(forest) else {
            return Err(PyKeyError::new_err(handle));
        };
        let removed = entry.get_mut().remove(handle, &self.registry);
        if entry.get().is_empty() {
            entry.remove();
        }
        let removed = removed.ok_or_else(|| PyKeyError::new_err(handle))?;
        Ok((removed.was_root, removed.surfaced, removed.hidden))
    }

    fn roots(&self, forest: u32) -> Vec<Handle> {
        let mut roots: Vec<_> =
            self.forests.get(&forest).map(|each| each.roots().collect()).unwrap_or_default();
        roots.sort_unstable();
        roots
    }

    fn is_root(&self, forest: u32, handle: Handle) -> bool {
        self.forests.get(&forest).is_some_and(|each| each.is_root(handle))
    }

    fn in_forest(&self, forest: u32, handle: Handle) -> bool {
        self.forests.get(&forest).is_some_and(|each| each.contains(handle))
    }

    /// The number of expressions and of roots.
    fn sizes(&self, forest: u32) -> (usize, usize) {
        self.forests.get(&forest).map_or((0, 0), |each| (each.len(), each.root_count()))
    }

    /// Forgets a forest.
    fn clear(&mut self, forest: u32) {
        self.forests.remove(&forest);
    }

    fn __len__(&self) -> usize {
        self.expressions.len()
    }

    /// Heap bytes of the forests.
    fn memory_bytes(&self) -> usize {
        self.forests.values().map(Forest::memory_bytes).sum()
    }
}

/// A path as names, pairs of URI and local name, and as XML.
type Path = (Vec<(String, String)>, Py<PyBytes>);

/// The distinct root-to-leaf paths of a document.
#[pyfunction]
pub(crate) fn leaf_paths(py: Python<'_>, document: &[u8], limits: &Bound<'_, PyAny>) -> PyResult<Vec<Path>> {
    let limits = limits_from_python(limits)?;
    let paths = detached(py, None, || pathcast_core::cover::leaf_paths(document, &limits))?
        .map_err(|error| raise(document_exception(py, &error)))?;
    let path = |path: LeafPath| (path.names, PyBytes::new(py, path.xml.as_bytes()).unbind());
    Ok(paths.into_iter().map(path).collect())
}

/// The steps of a path of names and wildcards, each with whether it may lie any number of levels below the last; None for any
/// other expression.
#[pyfunction]
pub(crate) fn path_steps(
    py: Python<'_>,
    xpath: &str,
    limits: &Bound<'_, PyAny>,
) -> PyResult<Option<Vec<PlainStep>>> {
    let limits = limits_from_python(limits)?;
    pathcast_core::cover::plain_steps(xpath, &limits)
        .map_err(|error| raise(xpath_exception(py, &error, xpath)))
}
