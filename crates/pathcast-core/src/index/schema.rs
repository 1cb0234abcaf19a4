//! A schema beside the subscriptions: what can never match is told, wildcards are pruned, documents are held to it.

use std::sync::Arc;

use super::{Index, Namespaces, Settings};
use crate::pattern::{Condition, Printer, as_linear, or};
use crate::reader::{DocumentError, DocumentErrorKind};
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
    fn new(mut options: SchemaOptions, ignore_namespaces: bool) -> Self {
        if ignore_namespaces {
            options.graph = Arc::new(options.graph.ignoring_namespaces());
        }
        let pruner = options.prune.clone().map(|limits| Pruner::new(options.graph.clone(), limits));
        Self { options, pruner }
    }
}

impl Index {
    /// An empty set whose documents follow a schema.
    pub fn with_schema(settings: Settings, options: SchemaOptions) -> Self {
        let schema = SchemaUse::new(options, settings.ignore_namespaces);
        Self { schema: Some(schema), ..Self::new(settings) }
    }

    /// The schema, if there is one.
    pub fn schema(&self) -> Option<&SchemaOptions> {
        self.schema.as_ref().map(|schema| &schema.options)
    }

    /// Holds a condition against the schema: what is left of it, and why it can never hold if that is so.
    ///
    /// # Errors
    /// It can never hold, and such conditions are refused.
    pub(super) fn under_schema(
        &mut self,
        condition: Condition,
    ) -> Result<(Condition, Option<String>), XPathError> {
        let Some(schema) = &mut self.schema else { return Ok((condition, None)) };
        if let Verdict::Impossible { reason } = check(&schema.options.graph, &self.names, &condition) {
            let message = format!("can never match under this DTD: {reason}");
            if schema.options.refuse_impossible {
                return Err(XPathError { kind: XPathErrorKind::Impossible, message, column: 1 });
            }
            // It stays as it is, for documents that break the schema.
            return Ok((condition, Some(message)));
        }
        let Some(pruner) = &mut schema.pruner else { return Ok((condition, None)) };
        let pruned = match as_linear(&condition) {
            Some(path) => or(pruner.prune(&path, &mut self.names).iter().map(|path| path.to_condition())),
            None => pruner.prune_condition(&condition, &mut self.names),
        };
        Ok((pruned, None))
    }
}

impl Index {
    /// What an expression is under the schema, as expressions of which a valid document satisfies one exactly when it
    /// satisfies the original; none when it can never match.
    ///
    /// # Errors
    /// The expression is refused.
    pub fn pruned(
        &mut self,
        xpath: &str,
        ordered: bool,
        namespaces: &Namespaces,
    ) -> Result<Vec<String>, XPathError> {
        let names = self.names.len();
        let pruned = self.condition(xpath, ordered, namespaces).map(|(condition, impossible)| {
            let printer = Printer {
                names: &self.names,
                namespaces: if namespaces.is_empty() { &self.settings.namespaces } else { namespaces },
            };
            if impossible.is_some() { Vec::new() } else { printer.alternatives(&condition) }
        });
        self.forget_names(names);
        pruned
    }
}

/// The answer for a document that breaks the schema somewhere after its last start tag.
pub(super) fn invalid(reason: String) -> DocumentError {
    DocumentError { kind: DocumentErrorKind::Invalid, reason, line: 0, column: 0 }
}
