//! The root-to-leaf paths of a document, each as a small document of its own.
//!
//! A path is the elements from the root to an element that holds no other, with their attributes and without text.
//! Paths that are alike are given once: for a linear expression they say the same. What they take together is bounded,
//! because a deep document has many long paths.

use std::fmt::Write as _;

use hashbrown::HashSet;

use crate::limits::Limits;
use crate::reader::{Attribute, DocumentError, DocumentErrorKind, Reader, Sink, StartTag, UriId};

/// Bytes of all paths of one document.
const BYTES: usize = 64 << 20;

/// A path: namespace and local name of each element, and the path as XML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafPath {
    /// The elements from the root to the leaf.
    pub names: Vec<(String, String)>,
    /// The path as a document.
    pub xml: String,
}

/// The distinct root-to-leaf paths of a document, in the order of their leaves.
///
/// # Errors
/// The document is refused, or its paths are too long together.
pub fn leaf_paths(document: &[u8], limits: &Limits) -> Result<Vec<LeafPath>, DocumentError> {
    let mut leaves = Leaves::default();
    Reader::new(limits.clone()).read_bytes(document, &mut leaves)?;
    if leaves.bytes > BYTES {
        let reason = "the paths of the document take more than 64 MiB".to_owned();
        return Err(DocumentError { kind: DocumentErrorKind::Limit, reason, line: 0, column: 0 });
    }
    Ok(leaves.found)
}

struct Open {
    name: (String, String),
    tag: String,
    prefixed: bool,
    is_leaf: bool,
}

struct Leaves {
    uris: Vec<String>,
    open: Vec<Open>,
    known: HashSet<String>,
    found: Vec<LeafPath>,
    bytes: usize,
}

impl Default for Leaves {
    fn default() -> Self {
        let xml = "http://www.w3.org/XML/1998/namespace".to_owned();
        let uris = vec![String::new(), xml];
        Self { uris, open: Vec::new(), known: HashSet::new(), found: Vec::new(), bytes: 0 }
    }
}

impl Leaves {
    fn tag(&self, tag: &StartTag<'_>) -> String {
        let uri = &self.uris[tag.uri.0 as usize];
        let mut text = String::new();
        if uri.is_empty() {
            let _ = write!(text, "{}", tag.local);
        } else {
            let _ = write!(text, "n:{} xmlns:n=\"{}\"", tag.local, Escaped(uri));
        }
        for (at, Attribute { uri, local, value, .. }) in tag.attributes().enumerate() {
            let _ = match uri {
                UriId::NONE => write!(text, " {local}=\"{}\"", Escaped(value)),
                UriId::XML => write!(text, " xml:{local}=\"{}\"", Escaped(value)),
                UriId(id) => {
                    let uri = Escaped(&self.uris[id as usize]);
                    write!(text, " xmlns:a{at}=\"{uri}\" a{at}:{local}=\"{}\"", Escaped(value))
                }
            };
        }
        text
    }

    fn path(&self) -> String {
        let length = self.open.iter().map(|open| open.tag.len() * 2 + 5).sum();
        let mut xml = String::with_capacity(length);
        let (last, above) =
            self.open.split_last().map_or((None, &[][..]), |(last, above)| (Some(last), above));
        for open in above {
            let _ = write!(xml, "<{}>", open.tag);
        }
        if let Some(last) = last {
            let _ = write!(xml, "<{}/>", last.tag);
        }
        for open in above.iter().rev() {
            let prefix = if open.prefixed { "n:" } else { "" };
            let _ = write!(xml, "</{prefix}{}>", open.name.1);
        }
        xml
    }
}

impl Sink for Leaves {
    fn wants_text(&self) -> bool {
        false
    }

    fn namespace(&mut self, id: UriId, uri: &str) {
        let at = id.0 as usize;
        if self.uris.len() <= at {
            self.uris.resize(at + 1, String::new());
        }
        self.uris[at] = uri.to_owned();
    }

    fn start(&mut self, tag: &StartTag<'_>) {
        if let Some(above) = self.open.last_mut() {
            above.is_leaf = false;
        }
        if self.bytes > BYTES {
            return;
        }
        let uri = self.uris[tag.uri.0 as usize].clone();
        let prefixed = !uri.is_empty();
        let open = Open { name: (uri, tag.local.to_owned()), tag: self.tag(tag), prefixed, is_leaf: true };
        self.open.push(open);
    }

    fn end(&mut self) {
        if self.bytes > BYTES {
            return;
        }
        if self.open.last().is_some_and(|open| open.is_leaf) {
            let xml = self.path();
            if self.known.insert(xml.clone()) {
                self.bytes += 2 * xml.len();
                let names = self.open.iter().map(|open| open.name.clone()).collect();
                self.found.push(LeafPath { names, xml });
            }
        }
        self.open.pop();
    }

    fn text(&mut self, _: &str) {}

    fn comment(&mut self, _: &str) {}

    fn instruction(&mut self, _: &str, _: &str) {}
}

/// The value of an attribute as it is written.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '"' => f.write_str("&quot;")?,
                '\t' | '\n' | '\r' => write!(f, "&#{};", character as u32)?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}
