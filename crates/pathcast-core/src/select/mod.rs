//! Which nodes of a document a subscription selects, and where they are.
//!
//! A document is matched first, as always; those that match are then evaluated as node-sets on a tree that knows the place of
//! every node. So a subscription that matches nothing costs what it did, and places cost only those who ask for them.

mod picture;

pub use picture::{Given, Picture};

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::cancel::Pulse;
use crate::index::{Id, Index};
use crate::names::Names;
use crate::pattern::{Place, Scope, Written, typed};
use crate::reader::{Document, DocumentError};
use crate::twig::{Arena, Budget, Context, Evaluator, Memory, Ref, TermId};
use crate::xpath::ast::Type;
use crate::xpath::{Environment, XPathError, parse_with};

/// What a document's subscriptions select.
pub struct Selection {
    /// The document.
    pub picture: Arc<Picture>,
    /// Each subscription that matched, in order of registration, with its nodes in document order.
    pub found: Vec<(Id, Arc<[Ref]>)>,
    /// Subscriptions that cost too much to decide or to select.
    pub undecided: Vec<Id>,
}

/// Matches a document, and finds the nodes that those who matched select; none for one whose value is no node-set. An ordered
/// subscription selects what its path selects without regard to the order.
///
/// # Errors
/// The document is refused.
pub fn select(index: &Index, document: &Given<'_>) -> Result<Selection, DocumentError> {
    let matches = index.matches(document.as_document())?;
    let settings = index.settings();
    let mut names = Names::default();
    let mut arena = Arena::default();
    // Strangers write the expressions: a seeded hash.
    let mut terms: HashMap<Box<[u8]>, Option<TermId>> = HashMap::default();
    let mut asked = Vec::new();
    let mut pulse = Pulse::default();
    for id in matches.ids() {
        if pulse.requested() {
            return Err(DocumentError::cancelled());
        }
        let Some(written) = index.written(&id) else { continue };
        let term = *terms.entry(written.to_bytes()).or_insert_with(|| {
            let mut scope = Scope {
                names: &mut names,
                namespaces: &[&written.namespaces, &settings.namespaces],
                ignore_namespaces: settings.ignore_namespaces,
            };
            nodes_of(&written, &mut scope, &mut arena, index).ok().flatten()
        });
        asked.push((id, term));
    }
    let picture = Picture::draw(document, settings, &names)?;
    let mut undecided: Vec<Id> = matches.undecided().into_iter().map(|slot| matches.id(slot)).collect();
    let mut memory = Memory::default();
    let budget = Budget::new(&settings.limits);
    let mut evaluator = Evaluator::new(&arena, &picture.tree, &mut memory, budget);
    let mut known: FxHashMap<TermId, Arc<[Ref]>> = FxHashMap::default();
    let mut found = Vec::with_capacity(asked.len());
    for (id, term) in asked {
        if pulse.requested() {
            return Err(DocumentError::cancelled());
        }
        let Some(term) = term else {
            found.push((id, Arc::default()));
            continue;
        };
        let nodes = match known.get(&term) {
            Some(nodes) => Ok(Arc::clone(nodes)),
            None => evaluator.select(term, Context::at(Ref::ROOT)),
        };
        match nodes {
            Ok(nodes) => {
                known.insert(term, Arc::clone(&nodes));
                found.push((id, nodes));
            }
            Err(_) => undecided.push(id),
        }
    }
    Ok(Selection { picture: Arc::new(picture), found, undecided })
}

/// The term that an expression is, if it selects nodes.
fn nodes_of(
    written: &Written,
    scope: &mut Scope<'_>,
    arena: &mut Arena,
    index: &Index,
) -> Result<Option<TermId>, XPathError> {
    let limits = &index.settings().limits;
    let environment = Environment::new(&written.variables, limits)?;
    let expression = parse_with(&written.xpath, &environment, limits)?;
    if expression.kind() != Type::Nodes {
        return Ok(None);
    }
    Ok(Some(arena.intern_typed(&typed(&expression, Place::Top, scope)?)))
}

impl Given<'_> {
    /// The same as a document to be matched.
    pub fn as_document(&self) -> Document<'_> {
        match self {
            Self::Bytes(bytes) => Document::Bytes(bytes),
            Self::Text(text) => Document::Text(text),
        }
    }
}
