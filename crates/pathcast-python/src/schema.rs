//! The class `Graph`: a schema as the core sees it.

use std::sync::Arc;

use pathcast_core::schema::{Builder, Content, Graph as Core, PruneLimits, Values};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An attribute as `(uri, local, required, fixed, tokens)`.
type Attribute = (String, String, bool, Option<String>, Option<Vec<String>>);
/// An element as `(uri, local, content, children, attributes, tokens)`; content is empty, elements, mixed or any, and the
/// tokens are what its text may be.
type Element = (String, String, String, Vec<usize>, Vec<Attribute>, Option<Vec<String>>);

/// Which element can be inside which.
#[pyclass(module = "pathcast._core", frozen)]
pub(crate) struct Graph {
    pub(crate) core: Arc<Core>,
}

#[pymethods]
impl Graph {
    #[new]
    fn new(elements: Vec<Element>, root: usize) -> PyResult<Self> {
        let mut builder = Builder::default();
        let numbers: Vec<_> = elements.iter().map(|(uri, local, ..)| builder.element(uri, local)).collect();
        let number = |at: usize| {
            numbers.get(at).copied().ok_or_else(|| PyValueError::new_err(format!("there is no element {at}")))
        };
        for ((_, _, content, children, attributes, texts), &element) in elements.iter().zip(&numbers) {
            let content = match content.as_str() {
                "empty" => Content::Empty,
                "elements" => Content::Elements,
                "mixed" => Content::Mixed,
                "any" => Content::Any,
                other => return Err(PyValueError::new_err(format!("there is no content '{other}'"))),
            };
            match texts {
                Some(texts) => builder.declare_text(element, tokens_of(texts)),
                None => builder.declare(element, content),
            }
            for &child in children {
                builder.child(element, number(child)?);
            }
            for (uri, local, required, fixed, tokens) in attributes {
                let values = match (fixed, tokens) {
                    (_, Some(tokens)) => tokens_of(tokens),
                    (Some(fixed), None) => Values::Fixed(fixed.as_str().into()),
                    (None, None) => Values::Free,
                };
                builder.attribute(element, uri, local, *required, values);
            }
        }
        builder.root(number(root)?);
        Ok(Self { core: Arc::new(builder.build()) })
    }

    fn __len__(&self) -> usize {
        self.core.len()
    }
}

fn tokens_of(texts: &[String]) -> Values {
    Values::Tokens(texts.iter().map(|each| each.as_str().into()).collect())
}

/// How far pruning goes: `(max_substitutes, max_length, max_results, singleton, expand_leading, single_parent)`.
pub(crate) type Pruning = (usize, usize, usize, bool, bool, bool);

pub(crate) fn prune_limits(pruning: Pruning) -> PruneLimits {
    let (max_substitutes, max_length, max_results, singleton, expand_leading, single_parent) = pruning;
    PruneLimits { max_substitutes, max_length, max_results, singleton, expand_leading, single_parent }
}
