//! Names to dense numbers.
//!
//! Only names that some subscription uses get a number; every other name of a document is [`NameId::OTHER`], so that
//! an engine never stores or looks up a name nobody asked for. A name is a namespace and a local part. What agrees in one
//! part only has a number too: `n:*` is kept as the local part `*`, which no XML name can be, and `*:a` in a namespace
//! that none is, [`NamespaceId::ANY`].

use std::io;

use hashbrown::HashTable;

use crate::hashing::hash;
use crate::image::{ImageError, Reader, Writer, flat};

/// Prefixes to namespace URIs.
pub type Namespaces = Vec<(Box<str>, Box<str>)>;

/// The number of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

impl NameId {
    /// A name no subscription uses.
    pub const OTHER: Self = Self(0);
}

/// The number of a namespace URI that some subscription uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamespaceId(pub u32);

impl NamespaceId {
    /// No namespace.
    pub const NONE: Self = Self(0);
    /// A namespace no subscription uses.
    pub const OTHER: Self = Self(u32::MAX);
    /// Whatever namespace.
    pub const ANY: Self = Self(u32::MAX - 1);
}

flat!(NameId { 0: u32 });
flat!(NamespaceId { 0: u32 });

/// What a document's name means to the subscriptions: itself, the `n:*` of its namespace and the `*:a` of its local part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The name, or `OTHER`.
    pub name: NameId,
    /// The `n:*` of its namespace, or `OTHER`.
    pub namespace: NameId,
    /// The `*:a` of its local part, or `OTHER`.
    pub local: NameId,
}

impl Resolved {
    /// A name that only `*` can meet.
    pub const OTHER: Self = Self { name: NameId::OTHER, namespace: NameId::OTHER, local: NameId::OTHER };

    /// All numbers by which it is known.
    #[inline]
    pub fn known(self) -> impl Iterator<Item = NameId> {
        [self.name, self.namespace, self.local].into_iter().filter(|&id| id != NameId::OTHER)
    }

    /// The numbers of what agrees with it in one part.
    #[inline]
    pub fn partials(self) -> impl Iterator<Item = NameId> {
        [self.namespace, self.local].into_iter().filter(|&id| id != NameId::OTHER)
    }
}

/// The names of all subscriptions.
#[derive(Clone, Debug)]
pub struct Names {
    uris: Vec<Box<str>>,
    uri_index: HashTable<u32>,
    entries: Vec<(NamespaceId, Box<str>)>,
    index: HashTable<u32>,
    /// By namespace: its `n:*`, so that documents without such subscriptions pay no look-up.
    wildcards: Vec<NameId>,
    /// How many `*:a` there are; without one, documents pay no look-up.
    locals: usize,
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Self {
            uris: Vec::new(),
            uri_index: HashTable::new(),
            entries: vec![(NamespaceId::OTHER, "".into())],
            index: HashTable::new(),
            wildcards: Vec::new(),
            locals: 0,
        };
        names.intern_namespace("");
        names
    }
}

impl Names {
    /// The number of a namespace, given now if it is new; the empty string is no namespace.
    pub fn intern_namespace(&mut self, uri: &str) -> NamespaceId {
        if uri.is_empty() && !self.uris.is_empty() {
            return NamespaceId::NONE;
        }
        let uris = &mut self.uris;
        let entry = self.uri_index.entry(
            hash(uri),
            |&id| *uris[id as usize] == *uri,
            |&id| hash(&*uris[id as usize]),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => NamespaceId(*found.get()),
            hashbrown::hash_table::Entry::Vacant(free) => {
                let id = uris.len() as u32;
                free.insert(id);
                uris.push(uri.into());
                self.wildcards.push(NameId::OTHER);
                NamespaceId(id)
            }
        }
    }

    /// The number of a namespace if a subscription uses it.
    pub fn namespace(&self, uri: &str) -> NamespaceId {
        if uri.is_empty() {
            return NamespaceId::NONE;
        }
        self.uri_index
            .find(hash(uri), |&id| *self.uris[id as usize] == *uri)
            .map_or(NamespaceId::OTHER, |&id| NamespaceId(id))
    }

    /// The number of a name, given now if it is new; `*` is every name of the namespace.
    pub fn intern(&mut self, namespace: NamespaceId, local: &str) -> NameId {
        let entries = &mut self.entries;
        let entry = self.index.entry(
            hash(&(namespace, local)),
            |&id| entries[id as usize].0 == namespace && *entries[id as usize].1 == *local,
            |&id| hash(&(entries[id as usize].0, &*entries[id as usize].1)),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => NameId(*found.get()),
            hashbrown::hash_table::Entry::Vacant(free) => {
                let id = NameId(entries.len() as u32);
                free.insert(id.0);
                entries.push((namespace, local.into()));
                if namespace == NamespaceId::ANY {
                    self.locals += 1;
                } else if local == "*" {
                    self.wildcards[namespace.0 as usize] = id;
                }
                id
            }
        }
    }

    /// What a document's name means to the subscriptions.
    #[inline]
    pub fn resolve(&self, namespace: NamespaceId, local: &str) -> Resolved {
        let part = if self.locals == 0 { NameId::OTHER } else { self.number(NamespaceId::ANY, local) };
        if namespace == NamespaceId::OTHER {
            return Resolved { local: part, ..Resolved::OTHER };
        }
        let name = self.number(namespace, local);
        Resolved { name, namespace: self.wildcards[namespace.0 as usize], local: part }
    }

    #[inline]
    fn number(&self, namespace: NamespaceId, local: &str) -> NameId {
        self.index
            .find(hash(&(namespace, local)), |&id| {
                let entry = &self.entries[id as usize];
                entry.0 == namespace && *entry.1 == *local
            })
            .map_or(NameId::OTHER, |&id| NameId(id))
    }

    /// The `n:*` and the `*:a` that a name is one of.
    pub fn partials(&self, name: NameId) -> impl Iterator<Item = NameId> {
        let (namespace, local) = &self.entries[name.0 as usize];
        let all = self.wildcards.get(namespace.0 as usize).copied().unwrap_or(NameId::OTHER);
        let part = if self.locals == 0 { NameId::OTHER } else { self.number(NamespaceId::ANY, local) };
        [all, part].into_iter().filter(|&id| id != NameId::OTHER)
    }

    /// Whether a number is that of a `*:a`.
    pub fn is_local(&self, name: NameId) -> bool {
        self.entries[name.0 as usize].0 == NamespaceId::ANY
    }

    /// Whether a name is one of those of an `n:*` or a `*:a`.
    pub fn is_one_of(&self, name: NameId, partial: NameId) -> bool {
        let ((own, local), (all, part)) = (&self.entries[name.0 as usize], &self.entries[partial.0 as usize]);
        if *all == NamespaceId::ANY { local == part } else { own == all }
    }

    /// The namespace URI and local part of a name; the namespace of a `*:a` is empty.
    pub fn parts(&self, name: NameId) -> (&str, &str) {
        let (namespace, local) = &self.entries[name.0 as usize];
        (self.uris.get(namespace.0 as usize).map_or("", |uri| uri), local)
    }

    /// Forgets the names from a number on, which must be unused; namespaces stay.
    pub fn truncate(&mut self, len: usize) {
        while self.entries.len() > len {
            let last = self.entries.len() as u32 - 1;
            if let Some((namespace, local)) = self.entries.pop() {
                if let Ok(entry) = self.index.find_entry(hash(&(namespace, &*local)), |&id| id == last) {
                    entry.remove();
                }
                if namespace == NamespaceId::ANY {
                    self.locals -= 1;
                } else if &*local == "*" {
                    self.wildcards[namespace.0 as usize] = NameId::OTHER;
                }
            }
        }
    }

    /// How many numbers have been given, `OTHER` included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no subscription uses any name.
    pub fn is_empty(&self) -> bool {
        self.entries.len() == 1
    }

    pub(crate) fn store(&self, image: &mut Writer<'_>) -> io::Result<()> {
        image.lists(self.uris.iter().map(|uri| uri.as_bytes()))?;
        image.number(self.entries.len())?;
        image.each(self.entries.iter().map(|entry| entry.0))?;
        image.lists(self.entries.iter().map(|entry| entry.1.as_bytes()))
    }

    /// Given their numbers again: there are few.
    pub(crate) fn opened(image: &mut Reader<'_>) -> Result<Self, ImageError> {
        let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).map_err(|_| ImageError::Damaged);
        let mut names = Self::default();
        for (number, uri) in (0..).zip(&image.lists::<u8, Vec<u8>>()?) {
            if names.intern_namespace(&text(uri)?) != NamespaceId(number) {
                return Err(ImageError::Damaged);
            }
        }
        let namespaces: Vec<NamespaceId> = image.items()?;
        let locals: Vec<Vec<u8>> = image.lists()?;
        for (number, (&namespace, local)) in (0..).zip(namespaces.iter().zip(&locals)).skip(1) {
            let known = namespace == NamespaceId::ANY || (namespace.0 as usize) < names.uris.len();
            if !known || names.intern(namespace, &text(local)?) != NameId(number) {
                return Err(ImageError::Damaged);
            }
        }
        Ok(names)
    }

    /// Heap bytes held.
    pub fn memory_bytes(&self) -> usize {
        let text: usize = self.entries.iter().map(|entry| entry.1.len()).sum();
        let uris: usize = self.uris.iter().map(|uri| uri.len()).sum();
        text + uris
            + self.entries.capacity() * size_of::<(NamespaceId, Box<str>)>()
            + self.uris.capacity() * size_of::<Box<str>>()
            + self.index.allocation_size()
            + self.uri_index.allocation_size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_nobody_uses_are_one_number() {
        let mut names = Names::default();
        let urn = names.intern_namespace("urn:x");
        let a = names.intern(NamespaceId::NONE, "a");
        let xa = names.intern(urn, "a");
        assert_ne!(a, xa);
        assert_eq!(names.intern(urn, "a"), xa);
        assert_eq!(names.resolve(NamespaceId::NONE, "a"), Resolved { name: a, ..Resolved::OTHER });
        assert_eq!(names.resolve(NamespaceId::NONE, "b"), Resolved::OTHER);
        assert_eq!(names.resolve(names.namespace("urn:y"), "a"), Resolved::OTHER);
        let any = names.intern(urn, "*");
        assert_eq!(names.resolve(urn, "b"), Resolved { namespace: any, ..Resolved::OTHER });
        assert_eq!(names.parts(xa), ("urn:x", "a"));
        let local = names.intern(NamespaceId::ANY, "a");
        assert_eq!(names.resolve(names.namespace("urn:y"), "a"), Resolved { local, ..Resolved::OTHER });
        assert_eq!(names.resolve(urn, "a"), Resolved { name: xa, namespace: any, local });
        assert_eq!(names.partials(xa).collect::<Vec<_>>(), [any, local]);
        assert!(names.is_one_of(a, local) && !names.is_one_of(a, any) && names.is_one_of(xa, any));
        names.truncate(local.0 as usize);
        assert_eq!(names.resolve(names.namespace("urn:y"), "a"), Resolved::OTHER);
        assert_eq!(names.partials(a).count(), 0);
    }
}
