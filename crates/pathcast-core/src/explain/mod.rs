//! Why a document satisfies an expression, or which step is the first that finds nothing.
//!
//! Paths are followed forwards, step by step, with the same tests and conditions that matching uses. Slow and plain: it
//! is for one person who asks about one document.

mod follow;
mod picture;
mod reading;

use crate::index::Settings;
use crate::names::Names;
use crate::pattern::{Scope, normalise};
use crate::reader::{Document, DocumentError};
use crate::twig::{Arena, Memory};
use crate::xpath::{self, XPathError};
use picture::Picture;

/// Why, or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The verdict.
    pub matched: bool,
    /// Each path of the expression that stands outside predicates.
    pub parts: Vec<Part>,
}

/// One path and what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The path, with its comparison or function if it has one.
    pub text: String,
    /// Whether it holds.
    pub matched: bool,
    /// Its steps up to the first that found nothing.
    pub steps: Vec<Step>,
}

/// One step and what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The step as written.
    pub text: String,
    /// How many nodes it selects.
    pub count: usize,
    /// Where the first of them are.
    pub nodes: Vec<String>,
}

/// Explains an expression on a document.
///
/// # Errors
/// The expression is refused; within, the document is.
pub fn explain(
    xpath: &str,
    document: Document<'_>,
    settings: &Settings,
    ordered: bool,
) -> Result<Result<Explanation, DocumentError>, XPathError> {
    let expression = xpath::parse(xpath, &settings.limits)?;
    let mut names = Names::default();
    let mut scope = Scope {
        names: &mut names,
        namespaces: &[&settings.namespaces],
        ignore_namespaces: settings.ignore_namespaces,
    };
    let mut arena = Arena::default();
    let verdict = arena.intern(&normalise(&expression, ordered, &mut scope)?);
    let readings = reading::Reader { ordered, scope: &mut scope, arena: &mut arena }.parts(&expression)?;
    Ok(Picture::draw(document, settings, &names).map(|picture| {
        let mut memory = Memory::default();
        let mut follower = follow::Follower::new(&picture, &arena, &mut memory);
        Explanation {
            matched: follower.holds(verdict),
            parts: readings.iter().map(|reading| follower.follow(reading)).collect(),
        }
    }))
}
