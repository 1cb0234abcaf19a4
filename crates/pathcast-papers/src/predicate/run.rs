//! A run over one document: its distinct paths, the predicates they satisfy, and the expressions that follow.
//!
//! Predicates are matched when an element starts, with what the elements above it gave; an end tag takes its share
//! back. So paths share what their common beginning satisfies. Expressions are decided at leaves. An element whose path
//! was seen before is only counted; the positions of the open elements are brought up to date when a new path
//! appears below them.

use super::attributes::KEPT_BYTES;
use super::constraint::PredicateId;
use super::labels::{Label, Labels};
use super::publication::{Known, Outcome, Publication};
use super::shared::Predicates;
use super::tags::{Key, TagId};
use pathcast_core::engine::Found;
use pathcast_core::names::{NameId, Resolved};
use pathcast_core::pattern::NameTest;

/// What changes while a document runs.
#[derive(Debug, Default)]
pub struct Run {
    open: Vec<Open>,
    labels: Labels,
    /// Variables with a filter of the open elements.
    filtered: Vec<TagId>,
    /// How the open elements whose positions are known changed the rest.
    levels: Vec<Level>,
    tags: Vec<TagId>,
    present: Vec<TagId>,
    ending: Vec<TagId>,
    trail: Vec<PredicateId>,
    /// By predicate: the leaf at which it last became true.
    stamps: Vec<u64>,
    /// Whether the last event was a start tag.
    at_leaf: bool,
    content: Vec<u8>,
    opened: Vec<(Key, NameTest)>,
    publication: Publication,
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    label: Label,
    element: Resolved,
    /// Where its variables with a filter start.
    filtered: u32,
}

/// Where the lists stood before an element.
#[derive(Clone, Copy, Debug)]
struct Level {
    tags: u32,
    present: u32,
    ending: u32,
    trail: u32,
    access: u32,
}

impl Run {
    pub(super) fn begin(&mut self, shared: &Predicates) {
        while !self.levels.is_empty() {
            self.raise(); // a document that broke off
        }
        self.open.clear();
        self.filtered.clear();
        self.labels.clear();
        self.at_leaf = false;
        let path = &mut self.publication;
        path.attributes.clear();
        self.content.clear();
        self.content.shrink_to(KEPT_BYTES);
        path.fresh.clear();
        path.leaf += 1;
        path.places.resize(shared.tags.bound());
        path.matched.resize(shared.index.bound(), false);
        self.stamps.resize(shared.index.bound(), 0);
        let outcome = &mut self.outcome;
        outcome.found.clear(shared.paths);
        outcome.covered.clear(shared.store.bound());
        outcome.known.resize(shared.store.bound(), Known::default());
    }

    pub(super) fn start(&mut self, shared: &Predicates, element: Resolved, attributes: &[Resolved]) {
        let filtered = self.filtered.len() as u32;
        let content = if shared.looks_at_attributes() {
            self.publication.attributes.start(attributes);
            self.content(shared, element)
        } else {
            Some(0)
        };
        let parent = self.open.last().map_or(0, |open| open.label);
        let (label, fresh) = self.labels.enter(parent, element, content);
        self.open.push(Open { label, element, filtered });
        self.at_leaf = true;
        if fresh {
            while self.levels.len() < self.open.len() {
                self.lower(shared);
            }
        }
    }

    /// The number of what the element that starts says with its attributes.
    fn content(&mut self, shared: &Predicates, element: Resolved) -> Option<u32> {
        let attributes = &self.publication.attributes;
        self.content.clear();
        let from = self.filtered.len();
        if shared.tags.any_filtered() {
            shared.tags.of_attributes(element, attributes, &mut self.opened, &mut self.filtered);
            self.content.extend(self.filtered[from..].iter().flat_map(|tag| tag.to_le_bytes()));
        }
        if !shared.postponed.is_empty() {
            let asked = |name: NameTest| shared.postponed.contains_key(&name);
            for (name, value) in attributes.last() {
                let known = name.name != NameId::OTHER && asked(NameTest::Name(name.name))
                    || name.partials().any(|id| asked(NameTest::Partial(id)))
                    || asked(NameTest::Any);
                if known {
                    for part in [name.name, name.namespace, name.local] {
                        self.content.extend(part.0.to_le_bytes());
                    }
                    self.content.extend(value.len().to_le_bytes());
                    self.content.extend(value.as_bytes());
                }
            }
        }
        self.labels.content(&self.content)
    }

    /// Brings the positions one open element further down, and matches predicates there.
    fn lower(&mut self, shared: &Predicates) {
        let at = self.levels.len();
        let path = &mut self.publication;
        self.levels.push(Level {
            tags: self.tags.len() as u32,
            present: self.present.len() as u32,
            ending: self.ending.len() as u32,
            trail: self.trail.len() as u32,
            access: path.access.len() as u32,
        });
        let Open { element, filtered, .. } = self.open[at];
        let until = self.open.get(at + 1).map_or(self.filtered.len(), |next| next.filtered as usize);
        let from = self.tags.len();
        shared.tags.of_name(element, &mut self.tags);
        self.tags.extend_from_slice(&self.filtered[filtered as usize..until]);
        path.places.lower();
        for &tag in &self.tags[from..] {
            if path.places.add(tag) {
                self.present.push(tag);
                if shared.index.has_end_of_path(tag) {
                    self.ending.push(tag);
                }
            }
        }
        // What an element above the new one satisfies has been dealt with when its path was new.
        let fresh = at + 1 == self.open.len();
        let Publication { places, matched, access, fresh: fresh_list, leaf, .. } = path;
        let (trail, stamps) = (&mut self.trail, &mut self.stamps);
        let mut hit = |id: PredicateId| {
            if !std::mem::replace(&mut matched[id as usize], true) {
                trail.push(id);
                if shared.store.is_access(id) {
                    access.push(id);
                }
            }
            if fresh && std::mem::replace(&mut stamps[id as usize], *leaf) != *leaf {
                fresh_list.push(id);
            }
        };
        shared.index.satisfied(places, &self.tags[from..], &self.present, &self.ending, &mut hit);
    }

    /// Takes back what the lowest element with known positions did.
    fn raise(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        let path = &mut self.publication;
        for tag in self.tags.drain(level.tags as usize..) {
            path.places.take(tag);
        }
        path.places.raise();
        self.present.truncate(level.present as usize);
        self.ending.truncate(level.ending as usize);
        for id in self.trail.drain(level.trail as usize..) {
            path.matched[id as usize] = false;
        }
        path.access.truncate(level.access as usize);
    }

    pub(super) fn end(&mut self, shared: &Predicates) {
        if std::mem::replace(&mut self.at_leaf, false) && !self.publication.fresh.is_empty() {
            if shared.decides {
                shared.store.evaluate(&shared.index, &mut self.publication, &mut self.outcome);
            }
            self.publication.fresh.clear();
            self.publication.leaf += 1;
        }
        if self.levels.len() == self.open.len() {
            self.raise();
        }
        if let Some(open) = self.open.pop() {
            self.filtered.truncate(open.filtered as usize);
        }
        if shared.looks_at_attributes() {
            self.publication.attributes.end();
        }
    }

    pub(super) fn announce<'v>(&mut self, values: impl Iterator<Item = &'v str>) {
        self.publication.attributes.announce(values);
    }

    /// The paths found so far.
    pub(super) fn found(&self) -> &Found {
        &self.outcome.found
    }

    pub(super) fn finish(&self, found: &mut Found) {
        for &path in self.outcome.found.paths() {
            found.add(path);
        }
    }
}
