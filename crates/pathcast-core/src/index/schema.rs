//! A schema beside the subscriptions: what can never match is told, wildcards are pruned, documents are held to it.

use std::sync::Arc;

use crate::names::Names;
use crate::pattern::{Condition, as_linear, or};
use crate::schema::{Graph, PruneLimits, Pruner, Verdict, check};
use crate::xpath::{XPathError, XPathErrorKind};

/// What to do with a schema.
#[derive(Clone, Debug)]
pub struct SchemaOptions {
    /// The schema.
    pub graph: Arc<Graph>,
    /// Whether expressions are pruned, and how far.
    pub prune: Option<PruneLimits>,
    /// Whether a document that breaks the schema is refused.
    pub validate: Validate,
    /// Whether an expression that no valid document satisfies is refused; otherwise it is only told.
    pub refuse_impossible: bool,
}

impl SchemaOptions {
    /// What pruning came to, if expressions are to be pruned.
    pub(super) fn pruning(&self) -> Option<&'static str> {
        self.prune.as_ref()?;
        Some(match self.validate {
            Validate::Yes => "expressions are pruned; every document is held to the schema",
            Validate::No => "expressions are pruned; documents are taken to be valid",
            Validate::WhenPruned { pruned: true } => {
                "some expressions are pruned; documents are held to the schema"
            }
            Validate::WhenPruned { pruned: false } => {
                "the schema leaves every expression as it is; documents need not be held to it"
            }
        })
    }
}

/// When a document that breaks the schema is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validate {
    /// Never.
    No,
    /// Always.
    Yes,
    /// As soon as an expression was pruned: without that any document is answered rightly.
    WhenPruned {
        /// Whether one was.
        pruned: bool,
    },
}

impl Validate {
    /// Whether one would be refused now.
    pub fn holds(self) -> bool {
        matches!(self, Self::Yes | Self::WhenPruned { pruned: true })
    }
}

/// A condition held against a schema.
pub(super) struct Applied {
    /// What is left of it.
    pub(super) condition: Condition,
    /// Why it can never hold, if that is so.
    pub(super) warning: Option<String>,
    /// Whether pruning changed it.
    pub(super) pruned: bool,
}

impl Applied {
    pub(super) fn as_is(condition: Condition) -> Self {
        Self { condition, warning: None, pruned: false }
    }
}

/// A schema at work.
pub(super) struct SchemaUse {
    pub(super) options: SchemaOptions,
    pruner: Option<Pruner>,
}

impl SchemaUse {
    pub(super) fn new(mut options: SchemaOptions, ignore_namespaces: bool) -> Self {
        if ignore_namespaces {
            options.graph = Arc::new(options.graph.ignoring_namespaces());
        }
        // What is not declared cannot be listed in the place of a wildcard.
        let prune = options.prune.clone().filter(|_| !options.graph.lets_in_undeclared());
        let pruner = prune.map(|limits| Pruner::new(options.graph.clone(), limits));
        Self { options, pruner }
    }

    /// Holds a condition against the schema.
    ///
    /// # Errors
    /// It can never hold, and such conditions are refused.
    pub(super) fn apply(&mut self, condition: Condition, names: &mut Names) -> Result<Applied, XPathError> {
        if let Verdict::Impossible { reason } = check(&self.options.graph, names, &condition) {
            let message = format!("can never match under this schema: {reason}");
            if self.options.refuse_impossible {
                return Err(XPathError { kind: XPathErrorKind::Impossible, message, column: 1 });
            }
            // It stays as it is, for documents that break the schema.
            return Ok(Applied { condition, warning: Some(message), pruned: false });
        }
        let Some(pruner) = &mut self.pruner else { return Ok(Applied::as_is(condition)) };
        let pruned = match as_linear(&condition) {
            Some(path) => or(pruner.prune(&path, names).iter().map(|path| path.to_condition())),
            None => pruner.prune_condition(&condition, names),
        };
        Ok(Applied { pruned: pruned != condition, condition: pruned, warning: None })
    }

    /// An expression is registered that was pruned.
    pub(super) fn note_pruned(&mut self) {
        if let Validate::WhenPruned { pruned } = &mut self.options.validate {
            *pruned = true;
        }
    }

    /// The options for an index that holds nothing.
    pub(super) fn fresh(options: &SchemaOptions) -> SchemaOptions {
        let validate = match options.validate {
            Validate::WhenPruned { .. } => Validate::WhenPruned { pruned: false },
            other => other,
        };
        SchemaOptions { validate, ..options.clone() }
    }
}
