//! Expressions and advertisements under one set of names, so that they can be compared.

use std::sync::Arc;

use super::advertisement::{Advertisement, AdvertisementError};
use super::implies::{Prover, speaks_of_document};
use super::keys::{had, needed};
use super::overlap;
use super::word::Word;
use crate::hashing::Seed;
use crate::limits::Limits;
use crate::names::Names;
use crate::pattern::{Condition, LinearPath, Scope, Written, as_linear};
use crate::xpath::XPathError;

/// The number of an expression, given by whoever registers it.
pub type Handle = u32;

/// Prefixes to namespace URIs.
type Namespaces = [(Box<str>, Box<str>)];

/// An expression, prepared to be compared.
#[derive(Clone, Debug)]
pub struct Expression {
    pub(super) condition: Condition,
    pub(super) linear: Option<LinearPath>,
    pub(super) needed: Vec<LinearPath>,
    pub(super) had: Vec<LinearPath>,
    /// Whether it says something of the document node from within.
    speaks_of_document: bool,
}

impl Expression {
    /// Whether it is a linear path, so that every answer about it is exact.
    pub fn is_linear(&self) -> bool {
        self.linear.is_some()
    }
}

/// Names, limits and everything that is compared under them.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    pub(super) names: Names,
    limits: Limits,
    pub(super) seed: Seed,
}

impl Registry {
    /// Without any name.
    pub fn new(limits: Limits, seed: Seed) -> Self {
        Self { names: Names::default(), limits, seed }
    }

    /// Reads an expression.
    ///
    /// # Errors
    /// It is outside the language.
    pub fn expression(&mut self, written: &Written) -> Result<Arc<Expression>, XPathError> {
        let known = self.names.len();
        let namespaces = &[&*written.namespaces];
        let mut scope = Scope { names: &mut self.names, namespaces, ignore_namespaces: false };
        let condition = match written.condition(&mut scope, &self.limits) {
            Ok(condition) => condition,
            Err(error) => {
                self.names.truncate(known);
                return Err(error);
            }
        };
        let mut made = Expression {
            linear: as_linear(&condition),
            speaks_of_document: speaks_of_document(&condition),
            condition,
            needed: Vec::new(),
            had: Vec::new(),
        };
        if made.linear.is_none() {
            made.needed = needed(&made.condition);
            made.had = had(&made.condition);
        }
        Ok(Arc::new(made))
    }

    /// Reads the advertisements of one publisher.
    ///
    /// # Errors
    /// A text is none, or it is too long.
    pub fn advertisement(
        &mut self,
        texts: &[String],
        namespaces: &Namespaces,
    ) -> Result<Advertisement, AdvertisementError> {
        Advertisement::parse(texts, namespaces, &mut self.names)
    }

    /// Decides which expressions cover one that is no linear path.
    pub(super) fn prover<'a>(&'a self, specific: &'a Expression) -> Prover<'a> {
        Prover::new(&specific.condition, specific.speaks_of_document, &self.names)
    }

    /// Whether one expression covers another.
    pub fn covers(&self, general: &Expression, specific: &Expression) -> bool {
        match (&general.linear, &specific.linear) {
            (Some(general), Some(specific)) => {
                general == specific || Word::new(specific, &self.names).is_covered_by(general, &self.names)
            }
            _ => self.prover(specific).proves(&general.condition),
        }
    }

    /// Whether a document of the advertised paths can satisfy an expression. `single` says that the advertisement is
    /// one of several of its publisher, so that other paths of an expression may be in others.
    pub fn overlaps(&self, advertisement: &Advertisement, expression: &Expression, single: bool) -> bool {
        overlap::overlaps(advertisement, &expression.condition, &self.names, single)
    }

    /// How much of what a merger selects none of its members selects; nothing when they are not all linear.
    pub fn imperfect_degree(
        &self,
        advertisement: &Advertisement,
        merger: &Expression,
        members: &[&Expression],
        depth: usize,
    ) -> Option<f64> {
        let merger = merger.linear.as_ref()?;
        let members: Option<Vec<_>> = members.iter().map(|member| member.linear.as_ref()).collect();
        super::imperfect_degree(advertisement, merger, &members?, &self.names, depth)
    }

    /// Whether a root-to-leaf path is advertised; names are `(uri, local)`.
    pub fn accepts<'a>(
        &self,
        advertisement: &Advertisement,
        path: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> bool {
        advertisement.accepts(path, &self.names)
    }

    /// How many names are known.
    pub fn names(&self) -> usize {
        self.names.len()
    }
}
