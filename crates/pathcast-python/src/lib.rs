//! The Python binding: one file a class, Arrow in and out, errors mapped, no algorithms.

#![forbid(unsafe_code)]

use pathcast_core::index::{EngineKind, LAYOUT};
use pathcast_papers::ENGINES;
use pyo3::prelude::*;

mod answers;
mod buffers;
mod calls;
mod cover;
mod documents;
mod errors;
mod explain;
mod forks;
mod ids;
mod index;
mod matches;
mod mergeable;
mod predicate;
mod relational;
mod schema;
mod select;
mod subscriptions;
mod variables;
mod xtrie;
mod yardstick;

/// The names of the engines; other ways to run one of them only if asked for.
#[pyfunction]
#[pyo3(signature = (variants=false))]
fn engines(variants: bool) -> Vec<&'static str> {
    ENGINES.iter().filter(|kind| variants || !kind.is_variant).map(|kind| kind.name).collect()
}

/// Whether an engine is meant for subscriptions that a schema has pruned.
#[pyfunction]
fn needs_schema(engine: &str) -> bool {
    EngineKind::find(engine, ENGINES).is_some_and(|kind| kind.needs_schema)
}

/// The compiled core of Pathcast.
#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("IMAGE_LAYOUT", LAYOUT)?;
    module.add_function(wrap_pyfunction!(engines, module)?)?;
    module.add_function(wrap_pyfunction!(needs_schema, module)?)?;
    module.add_function(wrap_pyfunction!(explain::explain, module)?)?;
    module.add_function(wrap_pyfunction!(cover::leaf_paths, module)?)?;
    module.add_function(wrap_pyfunction!(cover::path_steps, module)?)?;
    module.add_function(wrap_pyfunction!(yardstick::bare_elements, module)?)?;
    module.add_function(wrap_pyfunction!(yardstick::strict_elements, module)?)?;
    module.add_class::<answers::Answers>()?;
    module.add_function(wrap_pyfunction!(relational::compile, module)?)?;
    module.add_function(wrap_pyfunction!(relational::shred, module)?)?;
    module.add_function(wrap_pyfunction!(relational::encode_ids, module)?)?;
    module.add_class::<cover::Cover>()?;
    module.add_class::<mergeable::Mergeable>()?;
    module.add_function(wrap_pyfunction!(predicate::predicate_stage, module)?)?;
    module.add_function(wrap_pyfunction!(predicate::predicate_count, module)?)?;
    module.add_function(wrap_pyfunction!(xtrie::xtrie_index, module)?)?;
    module.add_function(wrap_pyfunction!(xtrie::xtrie_substrings, module)?)?;
    module.add_function(wrap_pyfunction!(xtrie::xtrie_view, module)?)?;
    module.add_class::<schema::Graph>()?;
    module.add_class::<calls::Cancellation>()?;
    forks::register(module)?;
    module.add_class::<index::Index>()?;
    module.add_class::<matches::Matches>()?;
    module.add_class::<select::Node>()?;
    module.add_class::<matches::Batch>()
}
