//! The class `Index`.
//!
//! The interpreter lock is released while the index lock is held, always: a thread that matches a Python file needs
//! the interpreter while it reads, so nobody may wait for the index with the interpreter in hand.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock, RwLockWriteGuard};

use pathcast_core::cancel::{Bulk, Pulse};
use pathcast_core::engine::AttributeFilters;
use pathcast_core::index::{EngineKind, Index as Core, SchemaOptions, Settings, Validate, Written};
use pathcast_core::limits::Limits;
use pathcast_core::reader::Document;
use pathcast_core::select::select;
use pathcast_papers::ENGINES;
use pyo3::exceptions::{PyException, PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use pyo3_arrow::PyChunkedArray;
use pyo3_arrow::input::AnyArray;

use crate::calls::{Cancellation, collected, detached, refuse_within};
use crate::documents::{Source, missing};
use crate::errors::{
    document_exception, format_exception, poisoned, raise, subscription_errors, xpath_exception,
};
use crate::ids::Objects;
use crate::matches::{Batch, Matches};
use crate::schema::{Graph, Pruning, prune_limits};
use crate::select::{Node, given};
use crate::subscriptions::{id_from_python, id_to_python, namespaces_from_python, refuse_twice, rows};
use crate::variables::{variables_to_python, written};

/// How many documents of an iterable are held at once.
const BLOCK: usize = 256;

/// A set of subscriptions.
#[pyclass(module = "pathcast._core", frozen)]
pub(crate) struct Index {
    core: RwLock<Core>,
    objects: Arc<Objects>,
}

impl Index {
    /// The class around an index that was made elsewhere.
    pub(crate) fn around(core: Core) -> Self {
        Self { core: RwLock::new(core), objects: Arc::default() }
    }

    pub(crate) fn read<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Core) -> T + Send) -> PyResult<T> {
        self.read_until(py, None, work)
    }

    /// Reads the index until the work is done or the call is cancelled.
    fn read_until<T: Send>(
        &self,
        py: Python<'_>,
        cancellation: Option<&Cancellation>,
        work: impl FnOnce(&Core) -> T + Send,
    ) -> PyResult<T> {
        refuse_within()?;
        detached(py, cancellation, || {
            let mut core = self.core.read().map_err(|_| poisoned())?;
            if !core.is_settled() {
                drop(core);
                drop(self.settled()?);
                core = self.core.read().map_err(|_| poisoned())?;
            }
            Ok(work(&core))
        })?
    }

    fn write<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Core) -> T + Send) -> PyResult<T> {
        refuse_within()?;
        detached(py, None, || Ok(work(&mut *self.settled()?)))?
    }

    /// The index for writing, without what an interrupted addition has left in it.
    fn settled(&self) -> PyResult<RwLockWriteGuard<'_, Core>> {
        let mut core = self.core.write().map_err(|_| poisoned())?;
        core.settle();
        if core.is_settled() { Ok(core) } else { Err(PyRuntimeError::new_err("the call was interrupted")) }
    }
}

#[pymethods]
impl Index {
    #[new]
    #[pyo3(signature = (
        engine, limits, ordered, namespaces, ignore_namespaces, cache_bytes, attribute_filters, schema, prune,
        validate, refuse_impossible, entities
    ))]
    #[allow(clippy::too_many_arguments, reason = "the Python class names and defaults them")]
    fn new(
        engine: &str,
        limits: &Bound<'_, PyAny>,
        ordered: bool,
        namespaces: Option<&Bound<'_, PyAny>>,
        ignore_namespaces: bool,
        cache_bytes: Option<usize>,
        attribute_filters: &str,
        schema: Option<&Bound<'_, Graph>>,
        prune: Option<Pruning>,
        validate: Option<bool>,
        refuse_impossible: bool,
        entities: BTreeMap<String, String>,
    ) -> PyResult<Self> {
        let Some(engine) = EngineKind::find(engine, ENGINES) else {
            let all = crate::engines(false).join(", ");
            let message = format!("there is no engine '{engine}'; there are {all}");
            return Err(PyValueError::new_err(message));
        };
        let Some(attribute_filters) = AttributeFilters::from_name(attribute_filters) else {
            let message = format!("attribute_filters is 'inline' or 'postponed', not '{attribute_filters}'");
            return Err(PyValueError::new_err(message));
        };
        let settings = Settings {
            engine,
            ordered,
            cache_bytes,
            attribute_filters,
            limits: limits_from_python(limits)?,
            namespaces: namespaces_from_python(namespaces)?,
            ignore_namespaces,
            entities: entities.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect(),
        };
        let core = match schema {
            None => Core::new(settings),
            Some(schema) => {
                let graph = schema.get().core.clone();
                let prune = prune.map(prune_limits);
                let validate = match validate {
                    Some(true) => Validate::Yes,
                    None if prune.is_some() => Validate::WhenPruned { pruned: false },
                    _ => Validate::No,
                };
                Core::with_schema(settings, SchemaOptions { graph, prune, validate, refuse_impossible })
            }
        };
        Ok(Self::around(core))
    }

    #[pyo3(signature = (id, xpath, ordered=None, namespaces=None, variables=None))]
    fn add(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        xpath: &str,
        ordered: Option<bool>,
        namespaces: Option<&Bound<'_, PyAny>>,
        variables: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<String>> {
        let id = id_from_python(id)?;
        let written = self.written(py, xpath, ordered, namespaces, variables)?;
        self.write(py, |core| core.add_written(id, &written))?
            .map_err(|error| raise(xpath_exception(py, &error, xpath)))
    }

    /// Adds all or, if any expression is refused, nothing; the warnings with the ids they are about.
    fn add_many<'py>(
        &self,
        py: Python<'py>,
        subscriptions: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, String)>> {
        let ordered = self.read(py, |core| core.settings().ordered)?;
        let rows = rows(subscriptions, ordered)?;
        refuse_twice(&rows)?;
        match self.write(py, |core| core.add_all(&rows))? {
            Ok(warnings) => collected(py, warnings, |(at, text)| Ok((id_to_python(py, &rows[at].id)?, text))),
            Err(refused) => {
                let failures = collected(py, &refused, |(at, error)| {
                    let row = &rows[*at];
                    Ok((id_to_python(py, &row.id)?, xpath_exception(py, error, &row.written.xpath)?))
                });
                Err(subscription_errors(py, failures?))
            }
        }
    }

    /// The normal form as text, and the warning that `add` would give.
    #[pyo3(signature = (xpath, ordered=None, namespaces=None, variables=None))]
    fn check(
        &self,
        py: Python<'_>,
        xpath: &str,
        ordered: Option<bool>,
        namespaces: Option<&Bound<'_, PyAny>>,
        variables: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(String, Option<String>)> {
        let written = self.written(py, xpath, ordered, namespaces, variables)?;
        self.write(py, |core| core.check(&written))?
            .map_err(|error| raise(xpath_exception(py, &error, xpath)))
    }

    /// What an expression is under the schema.
    #[pyo3(signature = (xpath, ordered=None, namespaces=None, variables=None))]
    fn pruned(
        &self,
        py: Python<'_>,
        xpath: &str,
        ordered: Option<bool>,
        namespaces: Option<&Bound<'_, PyAny>>,
        variables: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<String>> {
        let written = self.written(py, xpath, ordered, namespaces, variables)?;
        self.write(py, |core| core.pruned(&written))?
            .map_err(|error| raise(xpath_exception(py, &error, xpath)))
    }

    fn remove(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<()> {
        let known = match id_from_python(id) {
            Ok(id) => self.write(py, |core| core.remove(&id))?,
            Err(_) => false,
        };
        if known { Ok(()) } else { Err(PyKeyError::new_err(id.clone().unbind())) }
    }

    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.write(py, Core::clear)
    }

    #[pyo3(name = "match", signature = (document, cancellation=None))]
    fn matches<'py>(
        &self,
        py: Python<'py>,
        document: &Bound<'py, PyAny>,
        cancellation: Option<&Bound<'py, Cancellation>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut source = Source::new(document)?;
        let result =
            self.read_until(py, cancellation.map(Bound::get), |core| core.matches(source.document()?))?;
        if let Some(exception) = source.take_exception() {
            return Err(exception);
        }
        match result {
            Ok(matches) => Matches::new(matches, self.objects.clone()).to_list_or_raise(py),
            Err(error) => Err(raise(document_exception(py, &error))),
        }
    }

    /// The nodes that each subscription which matched selects, and the ids of those that could not be decided.
    #[pyo3(signature = (document, cancellation=None))]
    fn select<'py>(
        &self,
        py: Python<'py>,
        document: &Bound<'py, PyAny>,
        cancellation: Option<&Bound<'py, Cancellation>>,
    ) -> PyResult<(Bound<'py, PyDict>, Vec<Bound<'py, PyAny>>)> {
        let mut source = Source::new(document)?;
        let result = self.read_until(py, cancellation.map(Bound::get), |core| {
            let given = given(source.document()?, core.settings().limits.document_bytes)?;
            select(core, &given)
        })?;
        if let Some(exception) = source.take_exception() {
            return Err(exception);
        }
        let selection = result.map_err(|error| raise(document_exception(py, &error)))?;
        let found = PyDict::new(py);
        collected(py, &selection.found, |(id, nodes)| {
            let nodes =
                collected(py, nodes.iter(), |&node| Bound::new(py, Node::new(&selection.picture, node)));
            found.set_item(id_to_python(py, id)?, nodes?)
        })?;
        Ok((found, collected(py, &selection.undecided, |id| id_to_python(py, id))?))
    }

    #[pyo3(signature = (documents, threads, cancellation=None))]
    fn match_many(
        &self,
        py: Python<'_>,
        documents: &Bound<'_, PyAny>,
        threads: usize,
        cancellation: Option<&Bound<'_, Cancellation>>,
    ) -> PyResult<Batch> {
        let cancellation = cancellation.map(Bound::get);
        if documents.hasattr("__arrow_c_array__")? || documents.hasattr("__arrow_c_stream__")? {
            let array = documents.extract::<AnyArray>()?.into_chunked_array()?;
            return self.match_arrow(py, &array, threads, cancellation);
        }
        let mut results = Vec::new();
        let mut documents = documents.try_iter()?;
        loop {
            let block: PyResult<Vec<Source>> =
                documents.by_ref().take(BLOCK).map(|document| Source::or_missing(&document?)).collect();
            let mut block = block?;
            if block.is_empty() {
                return Ok(Batch::new(results, self.read(py, Core::all_numbers)?, self.objects.clone()));
            }
            results.extend(self.read_until(py, cancellation, |core| {
                let mut refused = Vec::new();
                let mut good = Vec::new();
                for (at, source) in block.iter_mut().enumerate() {
                    match source.document() {
                        Ok(document) => good.push(document),
                        Err(error) => refused.push((at, error)),
                    }
                }
                let mut results = core.match_many(good, threads);
                for (at, error) in refused {
                    results.insert(at, Err(error));
                }
                results
            })?);
            // An interrupt or an exit is no answer, wherever it was raised.
            let raised = block.iter_mut().filter_map(Source::take_exception);
            if let Some(exception) = raised.into_iter().find(|each| !each.is_instance_of::<PyException>(py)) {
                return Err(exception);
            }
            py.check_signals()?;
        }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, Core::len)
    }

    fn __contains__(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        match id_from_python(id) {
            Ok(id) => self.read(py, |core| core.contains(&id)),
            Err(_) => Ok(false),
        }
    }

    /// What an id subscribes to, as `(xpath, ordered, namespaces, variables)`.
    fn written_of<'py>(&self, py: Python<'py>, id: &Bound<'py, PyAny>) -> PyResult<Described<'py>> {
        let found = match id_from_python(id) {
            Ok(id) => self.read(py, |core| core.written(&id))?,
            Err(_) => None,
        };
        match found {
            Some(written) => describe(py, &written),
            None => Err(PyKeyError::new_err(id.clone().unbind())),
        }
    }

    /// All ids with their expressions as written, in order of registration.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let mut pulse = Pulse::default();
        let items: Bulk<_> = self.read(py, |core| {
            let items = core.items().take_while(|_| !pulse.requested());
            items.map(|(id, written)| (id, written.xpath)).collect()
        })?;
        collected(py, items.iter(), |(id, xpath)| (id_to_python(py, id)?, &**xpath).into_pyobject(py))
    }

    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let mut pulse = Pulse::default();
        let ids: Bulk<_> = self.read(py, |core| core.ids().take_while(|_| !pulse.requested()).collect())?;
        PyList::new(py, collected(py, ids.iter(), |id| id_to_python(py, id))?)
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (stats, requested) = self.read(py, |core| (core.stats(), core.settings().engine))?;
        let dict = PyDict::new(py);
        dict.set_item("subscriptions", stats.subscriptions)?;
        dict.set_item("distinct", stats.distinct)?;
        dict.set_item("engine", stats.engine)?;
        dict.set_item("requested_engine", requested.name)?;
        dict.set_item("memory_bytes", stats.memory_bytes)?;
        dict.set_item("linear", stats.linear)?;
        dict.set_item("twigs", stats.twigs)?;
        dict.set_item("native", stats.native)?;
        dict.set_item("always_decided", stats.always)?;
        dict.set_item("decided_on_tree", stats.on_tree)?;
        dict.set_item("shared_conditions", stats.shared_conditions)?;
        dict.set_item("typed", stats.typed)?;
        dict.set_item("names", stats.names)?;
        dict.set_item("cache_bytes", stats.cache.bytes)?;
        dict.set_item("cache_states", stats.cache.states)?;
        dict.set_item("cache_clears", stats.cache.clears)?;
        dict.set_item("uncached_steps", stats.cache.loose_steps)?;
        dict.set_item("remembered_bytes", stats.remembered_bytes)?;
        dict.set_item("run_bytes", stats.run_bytes)?;
        dict.set_item("unsuited_paths", stats.unsuited)?;
        if let Some(pruning) = stats.pruning {
            dict.set_item("pruning", pruning)?;
        }
        if let Some((choice, profile)) = stats.choice {
            dict.set_item("reason", choice.reason)?;
            dict.set_item("paths", profile.paths)?;
            dict.set_item("descendant_paths", profile.descendants)?;
            dict.set_item("wildcard_paths", profile.wildcards)?;
            dict.set_item("attribute_paths", profile.attributes)?;
            dict.set_item("cached_documents", stats.cache.cached_documents)?;
            dict.set_item("uncached_documents", stats.cache.shared_documents)?;
            dict.set_item("keyed_documents", stats.cache.keyed_documents)?;
            dict.set_item("cache_rests", stats.cache.rests)?;
        }
        Ok(dict)
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.read(py, |core| core.save(&path))?.map_err(|error| format_exception(py, error, &path))
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let loaded = detached(py, None, || Core::load(&path, ENGINES))?;
        loaded.map(Self::around).map_err(|error| format_exception(py, error, &path))
    }

    /// Whether there is an image of such an index, which is then written.
    fn save_image(&self, py: Python<'_>, path: PathBuf) -> PyResult<bool> {
        self.read(py, |core| core.save_image(&path))?.map_err(|error| format_exception(py, error, &path))
    }

    #[staticmethod]
    fn load_image(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let loaded = detached(py, None, || Core::load_image(&path, ENGINES))?;
        loaded.map(Self::around).map_err(|error| format_exception(py, error, &path))
    }

    /// The bytes that `save` writes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.read(py, Core::to_bytes)?))
    }

    /// The index that `to_bytes` gave the bytes of.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = detached(py, None, || Core::from_bytes(bytes, ENGINES))?;
        read.map(Self::around).map_err(|error| format_exception(py, error, Path::new("")))
    }
}

/// Text, mode, namespaces and variables.
type Described<'py> = (String, bool, Bound<'py, PyDict>, Bound<'py, PyDict>);

fn describe<'py>(py: Python<'py>, written: &Written) -> PyResult<Described<'py>> {
    let namespaces = PyDict::new(py);
    for (prefix, uri) in &written.namespaces {
        namespaces.set_item(&**prefix, &**uri)?;
    }
    let variables = variables_to_python(py, &written.variables)?;
    Ok((String::from(&*written.xpath), written.ordered, namespaces, variables))
}

impl Index {
    /// An expression with the index's mode if it has none of its own.
    fn written(
        &self,
        py: Python<'_>,
        xpath: &str,
        ordered: Option<bool>,
        namespaces: Option<&Bound<'_, PyAny>>,
        variables: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Written> {
        let ordered = match ordered {
            Some(ordered) => ordered,
            None => self.read(py, |core| core.settings().ordered)?,
        };
        written(xpath, ordered, namespaces, variables)
    }

    /// Matches the values of an Arrow array without a Python object for any of them.
    fn match_arrow(
        &self,
        py: Python<'_>,
        array: &PyChunkedArray,
        threads: usize,
        cancellation: Option<&Cancellation>,
    ) -> PyResult<Batch> {
        let mut results = Vec::with_capacity(array.chunks().iter().map(|chunk| chunk.len()).sum());
        for chunk in array.chunks() {
            let values = crate::documents::Values::new(chunk)?;
            let mut from = 0;
            while from < chunk.len() {
                let to = (from + BLOCK).min(chunk.len());
                let values = &values;
                results.extend(self.read_until(py, cancellation, |core| {
                    let documents =
                        (from..to).map(|at| values.get(at).unwrap_or(Document::Bytes(b""))).collect();
                    let mut results = core.match_many(documents, threads);
                    for (at, result) in results.iter_mut().enumerate() {
                        if values.get(from + at).is_none() {
                            *result = Err(missing());
                        }
                    }
                    results
                })?);
                py.check_signals()?;
                from = to;
            }
        }
        Ok(Batch::new(results, self.read(py, Core::all_numbers)?, self.objects.clone()))
    }
}

pub(crate) fn limits_from_python(limits: &Bound<'_, PyAny>) -> PyResult<Limits> {
    let size = |name: &str| -> PyResult<usize> { limits.getattr(name)?.extract() };
    Ok(Limits {
        depth: size("depth")?,
        attributes: size("attributes")?,
        name_bytes: size("name_bytes")?,
        document_bytes: size("document_bytes")? as u64,
        expression_bytes: size("expression_bytes")?,
        steps: size("steps")?,
        nesting: size("nesting")?,
        expansion: size("expansion")?,
        evaluation_steps: size("evaluation_steps")? as u64,
        work: size("work")? as u64,
        entity_expansion: size("entity_expansion")? as u64,
    })
}
