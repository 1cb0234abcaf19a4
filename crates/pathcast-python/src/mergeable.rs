//! The class `Mergeable`: paths that wait for others that they may be merged with.

use pathcast_core::cover::{self, Handle, Likeness, MergeKey, plain_steps};
use pathcast_core::hashing::Seed;
use pathcast_core::limits::Limits;
use pyo3::prelude::*;

use crate::errors::{raise, xpath_exception};
use crate::index::limits_from_python;

/// A key, its rule, the places of two names, and how many wait under it.
type Ready = (MergeKey, u8, Option<(u32, u32)>, u32);

/// Those that wait at one neighbour's forest.
#[pyclass(module = "pathcast._core")]
pub(crate) struct Mergeable {
    waiting: cover::Mergeable,
    rules: Vec<u8>,
    limits: Limits,
    seed: Seed,
}

impl Mergeable {
    fn likenesses(
        &self,
        py: Python<'_>,
        xpath: &str,
        context: &str,
        equal: Option<&str>,
    ) -> PyResult<Vec<Likeness>> {
        if let Some(equal) = equal {
            return Ok(vec![cover::listing_key(equal, context, self.seed)]);
        }
        let steps = plain_steps(xpath, &self.limits);
        let steps = steps.map_err(|error| raise(xpath_exception(py, &error, xpath)))?;
        Ok(steps.map_or_else(Vec::new, |steps| cover::merge_keys(&steps, &self.rules, context, self.seed)))
    }
}

#[pymethods]
impl Mergeable {
    #[new]
    #[pyo3(signature = (rules, limits, seed=None))]
    fn new(rules: Vec<u8>, limits: &Bound<'_, PyAny>, seed: Option<u64>) -> PyResult<Self> {
        let limits = limits_from_python(limits)?;
        let seed = seed.map_or_else(Seed::default, Seed::new);
        Ok(Self { waiting: cover::Mergeable::default(), rules, limits, seed })
    }

    /// The keys of an expression: of a path, or the one of what is equal where values are listed.
    #[pyo3(signature = (xpath, context="", equal=None))]
    fn keys(
        &self,
        py: Python<'_>,
        xpath: &str,
        context: &str,
        equal: Option<&str>,
    ) -> PyResult<Vec<MergeKey>> {
        Ok(self.likenesses(py, xpath, context, equal)?.iter().map(|each| each.key).collect())
    }

    /// The keys under which enough wait to try merging with one more.
    #[pyo3(signature = (xpath, context="", equal=None))]
    fn ready(&self, py: Python<'_>, xpath: &str, context: &str, equal: Option<&str>) -> PyResult<Vec<Ready>> {
        let mut found = Vec::new();
        for Likeness { key, rule, places } in self.likenesses(py, xpath, context, equal)? {
            let number = self.waiting.number(key);
            if number > 0 && (rule == 4 || number + 1 >= self.waiting.patience(key)) {
                found.push((key, rule, places, number));
            }
        }
        Ok(found)
    }

    /// Lets an expression wait under its keys.
    #[pyo3(signature = (handle, xpath, context="", equal=None))]
    fn wait(
        &mut self,
        py: Python<'_>,
        handle: Handle,
        xpath: &str,
        context: &str,
        equal: Option<&str>,
    ) -> PyResult<()> {
        let keys = self.likenesses(py, xpath, context, equal)?;
        self.waiting.wait(handle, keys.into_iter().map(|each| each.key));
        Ok(())
    }

    fn withdraw(&mut self, handle: Handle) {
        self.waiting.withdraw(handle);
    }

    /// Those that wait under a key, in the order in which they came.
    fn under(&self, key: MergeKey) -> Vec<Handle> {
        self.waiting.under(key)
    }

    fn patience(&self, key: MergeKey) -> u32 {
        self.waiting.patience(key)
    }

    #[pyo3(signature = (key, number=None))]
    fn set_patience(&mut self, key: MergeKey, number: Option<u32>) {
        self.waiting.set_patience(key, number);
    }

    fn __contains__(&self, handle: Handle) -> bool {
        self.waiting.contains(handle)
    }

    fn __len__(&self) -> usize {
        self.waiting.len()
    }

    /// Heap bytes held.
    fn memory_bytes(&self) -> usize {
        self.waiting.memory_bytes()
    }
}
