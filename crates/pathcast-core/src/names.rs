//! Names to dense numbers.
//!
//! Only names that some subscription uses get a number; every other name of a document is [`NameId::OTHER`], so that
//! an engine never stores or looks up a name nobody asked for. A name is a namespace and a local part; `n:*` is kept
//! as the local part `*`, which no XML name can be.

use hashbrown::HashTable;

use crate::hashing::hash;

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
}

/// What a document's name means to the subscriptions: itself, and the `n:*` of its namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The name, or `OTHER`.
    pub name: NameId,
    /// The `n:*` of its namespace, or `OTHER`.
    pub namespace: NameId,
}

impl Resolved {
    /// A name that only `*` can meet.
    pub const OTHER: Self = Self { name: NameId::OTHER, namespace: NameId::OTHER };
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
}

impl Default for Names {
    fn default() -> Self {
        let mut names = Self {
            uris: Vec::new(),
            uri_index: HashTable::new(),
            entries: vec![(NamespaceId::OTHER, "".into())],
            index: HashTable::new(),
            wildcards: Vec::new(),
        };
        names.intern_namespace("");
        names
    }
}

impl Names {
    /// The number of a namespace, given now if it is new; the empty string is no namespace.
    pub fn intern_namespace(&mut self, uri: &str) -> NamespaceId {
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
                if local == "*" {
                    self.wildcards[namespace.0 as usize] = id;
                }
                id
            }
        }
    }

    /// What a document's name means to the subscriptions.
    #[inline]
    pub fn resolve(&self, namespace: NamespaceId, local: &str) -> Resolved {
        if namespace == NamespaceId::OTHER {
            return Resolved::OTHER;
        }
        let name = self
            .index
            .find(hash(&(namespace, local)), |&id| {
                let entry = &self.entries[id as usize];
                entry.0 == namespace && *entry.1 == *local
            })
            .map_or(NameId::OTHER, |&id| NameId(id));
        Resolved { name, namespace: self.wildcards[namespace.0 as usize] }
    }

    /// The `n:*` of a name's namespace, or `OTHER`.
    pub fn wildcard(&self, name: NameId) -> NameId {
        let (namespace, _) = &self.entries[name.0 as usize];
        self.wildcards.get(namespace.0 as usize).copied().unwrap_or(NameId::OTHER)
    }

    /// The namespace URI and local part of a name.
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
                if &*local == "*" {
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
        assert_eq!(names.resolve(NamespaceId::NONE, "a"), Resolved { name: a, namespace: NameId::OTHER });
        assert_eq!(names.resolve(NamespaceId::NONE, "b"), Resolved::OTHER);
        assert_eq!(names.resolve(names.namespace("urn:y"), "a"), Resolved::OTHER);
        let any = names.intern(urn, "*");
        assert_eq!(names.resolve(urn, "b"), Resolved { name: NameId::OTHER, namespace: any });
        assert_eq!((names.wildcard(xa), names.wildcard(a)), (any, NameId::OTHER));
        assert_eq!(names.parts(xa), ("urn:x", "a"));
    }
}
