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
    pub validate: bool,
    /// Whether an expression that no valid document satisfies is refused; otherwise it is only told.
    pub refuse_impossible: bool,
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

    /// Holds a condition against the schema: what is left of it, and why it can never hold if that is so.
    ///
    /// # Errors
    /// It can never hold, and such conditions are refused.
    pub(super) fn apply(
        &mut self,
        condition: Condition,
        names: &mut Names,
    ) -> Result<(Condition, Option<String>), XPathError> {
        if let Verdict::Impossible { reason } = check(&self.options.graph, names, &condition) {
            let message = format!("can never match under this schema: {reason}");
            if self.options.refuse_impossible {
                return Err(XPathError { kind: XPathErrorKind::Impossible, message, column: 1 });
            }
            // It stays as it is, for documents that break the schema.
            return Ok((condition, Some(message)));
        }
        let Some(pruner) = &mut self.pruner else { return Ok((condition, None)) };
        let pruned = match as_linear(&condition) {
            Some(path) => or(pruner.prune(&path, names).iter().map(|path| path.to_condition())),
            None => pruner.prune_condition(&condition, names),
        };
        Ok((pruned, None))
    }
}
