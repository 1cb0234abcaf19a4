//! Expressions as users write them, read into normal form: names to numbers, and the schema held against them.
//!
//! **Invariants.** Names that only refused expressions used are forgotten.

use super::normal_form::NormalForm;
use super::schema::{Applied, SchemaOptions, SchemaUse};
use super::settings::Settings;
use crate::names::{Names, Namespaces};
use crate::pattern::{Printer, Scope, Written, plain_path};
use crate::xpath::XPathError;

/// What reading an expression needs and changes.
pub(super) struct Reading {
    pub(super) settings: Settings,
    pub(super) names: Names,
    schema: Option<SchemaUse>,
}

impl Reading {
    pub(super) fn new(settings: Settings, schema: Option<SchemaOptions>) -> Self {
        let schema = schema.map(|options| SchemaUse::new(options, settings.ignore_namespaces));
        Self { settings, names: Names::default(), schema }
    }

    pub(super) fn schema(&self) -> Option<&SchemaOptions> {
        self.schema.as_ref().map(|schema| &schema.options)
    }

    /// The normal form of an expression, and a warning if the schema says that it can never match.
    pub(super) fn normal_form(
        &mut self,
        written: &Written,
    ) -> Result<(NormalForm, Option<String>), XPathError> {
        if self.schema.is_none() {
            let Settings { namespaces, ignore_namespaces, limits, .. } = &self.settings;
            let namespaces: &[&[_]] = &[&written.namespaces, namespaces];
            let mut scope =
                Scope { names: &mut self.names, namespaces, ignore_namespaces: *ignore_namespaces };
            if let Some(path) = plain_path(written, &mut scope, limits) {
                return Ok((NormalForm::Linear(path.to_bytes()), None));
            }
        }
        let Applied { condition, warning, pruned } = self.condition(written)?;
        if let (true, Some(schema)) = (pruned, &mut self.schema) {
            schema.note_pruned();
        }
        Ok((NormalForm::new(condition), warning))
    }

    /// The normal form of an expression that would be accepted, as text, and the warning that there would be.
    pub(super) fn check(&mut self, written: &Written) -> Result<(String, Option<String>), XPathError> {
        let names = self.names.len();
        let checked = self.condition(written).map(|Applied { condition, warning, .. }| {
            (self.printer(&written.namespaces).alternatives(&condition).join(" or "), warning)
        });
        self.forget_names(names);
        checked
    }

    /// What an expression is under the schema, as expressions of which a valid document satisfies one exactly when it
    /// satisfies the original; none when it can never match.
    pub(super) fn pruned(&mut self, written: &Written) -> Result<Vec<String>, XPathError> {
        let names = self.names.len();
        let pruned = self.condition(written).map(|Applied { condition, warning, .. }| {
            let never = warning.is_some();
            if never { Vec::new() } else { self.printer(&written.namespaces).alternatives(&condition) }
        });
        self.forget_names(names);
        pruned
    }

    /// Writes conditions with the prefixes of one expression, and of all.
    pub(super) fn printer<'p>(&'p self, namespaces: &'p Namespaces) -> Printer<'p> {
        let Settings { namespaces: all, ignore_namespaces, .. } = &self.settings;
        Printer { names: &self.names, namespaces: [namespaces, all], ignore_namespaces: *ignore_namespaces }
    }

    /// Forgets names that only refused expressions used. A pruner remembers numbers of names, so with one they stay.
    pub(super) fn forget_names(&mut self, known: usize) {
        if self.schema().is_none_or(|schema| schema.prune.is_none()) {
            self.names.truncate(known);
        }
    }

    /// The condition that an expression is, under the schema if there is one.
    fn condition(&mut self, written: &Written) -> Result<Applied, XPathError> {
        let mut scope = Scope {
            names: &mut self.names,
            namespaces: &[&written.namespaces, &self.settings.namespaces],
            ignore_namespaces: self.settings.ignore_namespaces,
        };
        let known = scope.names.len();
        let normal = written.condition(&mut scope, &self.settings.limits);
        let normal = normal.and_then(|condition| match &mut self.schema {
            Some(schema) => schema.apply(condition, &mut self.names),
            None => Ok(Applied::as_is(condition)),
        });
        if normal.is_err() {
            self.forget_names(known);
        }
        normal
    }
}
