//! Which namespace a prefix stands for, here.
//!
//! Every prefix of the document has a number, and one array holds what each stands for now. A declaration overwrites its
//! entry and remembers the old one; the end of the element puts it back. So a look-up is one hash however many prefixes
//! are in scope or however deep they nest, an element that declares nothing costs nothing, and the default namespace is
//! a plain field.
//!
//! Memory: the distinct prefixes and URIs of the document, and the declarations in scope.

use hashbrown::HashMap;

use super::error::Fault;
use super::sink::{Sink, UriId};
use crate::chars::quoted;

const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS_URI: &str = "http://www.w3.org/2000/xmlns/";

/// Maps grown beyond this are not kept for the next document: clearing costs the capacity.
const KEPT: usize = 1024;

/// The bindings in scope.
pub(super) struct Namespaces {
    /// The default namespace.
    pub(super) default: UriId,
    prefixes: HashMap<Box<str>, u32>,
    /// What each prefix stands for now.
    current: Vec<Option<UriId>>,
    uris: HashMap<Box<str>, UriId>,
    /// What was overwritten, oldest first.
    undo: Vec<Undo>,
    /// The depth of each element that declares something, and how long `undo` was before it.
    scopes: Vec<(usize, usize)>,
}

enum Undo {
    Default(UriId),
    Prefix(u32, Option<UriId>),
}

impl Namespaces {
    pub(super) fn new() -> Self {
        Self {
            default: UriId::NONE,
            prefixes: HashMap::new(),
            current: Vec::new(),
            uris: HashMap::new(),
            undo: Vec::new(),
            scopes: Vec::new(),
        }
    }

    /// Forgets everything: each document numbers its URIs anew.
    pub(super) fn restart(&mut self) {
        self.default = UriId::NONE;
        if self.prefixes.capacity() > KEPT {
            self.prefixes = HashMap::new();
            self.current = Vec::new();
        }
        if self.uris.capacity() > KEPT {
            self.uris = HashMap::new();
        }
        self.prefixes.clear();
        self.current.clear();
        self.uris.clear();
        self.undo.clear();
        self.scopes.clear();
    }

    /// Opens the scope of an element at `depth` that declares something.
    pub(super) fn open(&mut self, depth: usize) {
        self.scopes.push((depth, self.undo.len()));
    }

    /// Closes the scope of the element at `depth`, if it has one.
    #[inline]
    pub(super) fn close(&mut self, depth: usize) {
        if let Some(&(opened, length)) = self.scopes.last()
            && opened == depth
        {
            self.scopes.pop();
            self.undo_to(length);
        }
    }

    fn undo_to(&mut self, length: usize) {
        while self.undo.len() > length {
            match self.undo.pop() {
                Some(Undo::Default(uri)) => self.default = uri,
                Some(Undo::Prefix(prefix, uri)) => self.current[prefix as usize] = uri,
                None => break,
            }
        }
    }

    /// Binds a prefix, or the default namespace, in the scope opened last. `at` is where the declaration is.
    pub(super) fn declare<S: Sink>(
        &mut self,
        prefix: Option<&str>,
        uri: &str,
        at: usize,
        sink: &mut S,
    ) -> Result<(), Fault> {
        if uri == XMLNS_URI {
            return Err(Fault::malformed(at, format!("nothing may be bound to {XMLNS_URI}")));
        }
        match prefix {
            Some("xmlns") => return Err(Fault::malformed(at, "the prefix xmlns may not be declared")),
            Some("xml") if uri == XML_URI => return Ok(()),
            Some("xml") => {
                return Err(Fault::malformed(at, format!("the prefix xml stands for {XML_URI} only")));
            }
            _ if uri == XML_URI => {
                return Err(Fault::malformed(at, format!("only the prefix xml may be bound to {XML_URI}")));
            }
            Some(prefix) if uri.is_empty() => {
                let reason =
                    format!("the prefix \"{}\" may not be bound to the empty string", quoted(prefix));
                return Err(Fault::malformed(at, reason));
            }
            Some(prefix) => {
                let uri = self.intern(uri, at, sink)?;
                let number = self.number(prefix, at)?;
                let before = self.current[number as usize].replace(uri);
                self.undo.push(Undo::Prefix(number, before));
            }
            None => {
                let uri = if uri.is_empty() { UriId::NONE } else { self.intern(uri, at, sink)? };
                self.undo.push(Undo::Default(self.default));
                self.default = uri;
            }
        }
        Ok(())
    }

    fn intern<S: Sink>(&mut self, uri: &str, at: usize, sink: &mut S) -> Result<UriId, Fault> {
        if let Some(&id) = self.uris.get(uri) {
            return Ok(id);
        }
        // 0 and 1 are taken
        let number = u32::try_from(self.uris.len() + 2).map_err(|_| crowded(at))?;
        self.uris.insert(uri.into(), UriId(number));
        sink.namespace(UriId(number), uri);
        Ok(UriId(number))
    }

    fn number(&mut self, prefix: &str, at: usize) -> Result<u32, Fault> {
        if let Some(&number) = self.prefixes.get(prefix) {
            return Ok(number);
        }
        let number = u32::try_from(self.current.len()).map_err(|_| crowded(at))?;
        self.prefixes.insert(prefix.into(), number);
        self.current.push(None);
        Ok(number)
    }

    /// What a prefix stands for here.
    #[inline]
    pub(super) fn resolve(&self, prefix: &str, at: usize) -> Result<UriId, Fault> {
        let bound = self.prefixes.get(prefix).and_then(|&number| self.current[number as usize]);
        match bound {
            Some(uri) => Ok(uri),
            None if prefix == "xml" => Ok(UriId::XML),
            None => Err(unbound(prefix, at)),
        }
    }
}

#[cold]
fn unbound(prefix: &str, at: usize) -> Fault {
    if prefix == "xmlns" {
        return Fault::malformed(at, "the prefix xmlns may not be used for elements");
    }
    Fault::malformed(at, format!("the prefix \"{}\" is not bound to a namespace", quoted(prefix)))
}

#[cold]
fn crowded(at: usize) -> Fault {
    Fault::limit(at, "a document may not hold more than 4,294,967,294 namespaces")
}
