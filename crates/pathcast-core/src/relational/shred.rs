//! Documents to rows: paths, nodes, who is whose ancestor, and the values that somebody tests.
//!
//! A *path* is the sequence of names from the root to a node. It has a number made from its content, so the same path has
//! the same number in every document, and what depends on paths alone is decided once for all documents. A node is the
//! number of its document and its own in document order, in one integer.
//!
//! Ancestors are rows, so that joins are on equality and not on ranges. Their number is the sum of all depths, which for
//! most documents is small; it is bounded. What lies below a node is written once for each path, because to whoever asks
//! only whether there is such a node, one is as good as a hundred.
//!
//! Only values that some test looks at become rows, and text is read only if one looks at text. A number is read from the
//! text here, by the rules of XPath. A text longer than any constant is left out, because it equals none.
//!
//! Nothing of a document is handed over before its end: a bad document leaves no rows.

use hashbrown::{HashMap, HashSet};

use super::numbers::{Key, Kind, numbered};
use super::{ANY, DOCUMENT, STRING_VALUE, TEXT, spell};
use crate::limits::Limits;
use crate::reader::{Document, DocumentError, DocumentErrorKind, Reader, Sink, StartTag, UriId};
use crate::values::number::from_xpath_number;

/// Bits of a node's number that are its place in the document; the others are the document's number.
pub const NODE_BITS: u32 = 25;

/// Receives the rows of one document after the other.
pub trait Tables {
    /// A path that was not seen before; `namespace` is the name test `{uri}*` that it passes.
    fn path(&mut self, path: i64, depth: i32, name: &str, namespace: Option<&str>);
    /// That path and the path of one of its ancestors.
    fn path_ancestor(&mut self, low: i64, difference: i32, high: i64);
    /// A node.
    fn node(&mut self, node: i64, path: i64);
    /// Below the node `high`, so many levels down, is a node with this path.
    fn below(&mut self, high: i64, path: i64, difference: i32);
    /// A node and one of its ancestors.
    fn ancestor(&mut self, low: i64, difference: i32, high: i64);
    /// A value of a node; text is missing when it is too long, number when it is none.
    fn value(&mut self, node: i64, subject: i64, text: Option<&str>, number: Option<f64>);
}

/// A value that some test looks at: its number, the name of the node, and its own.
pub type Asked = (i64, String, String);

/// Bytes of all names of one document, as tables spell them: with the namespace at every name.
const NAME_BYTES: usize = 256 << 20;

/// A range of the names, or of the texts.
type Range = (usize, usize);

struct Node {
    name: Range,
    namespace: Option<Range>,
    depth: i32,
    parent: usize,
    path: i64,
    /// The string-value.
    text: Range,
}

struct Kept {
    node: usize,
    subject: i64,
    text: Range,
    /// Whether the text is an attribute's, apart from the text of the document.
    aside: bool,
}

/// Reads documents and writes their rows.
pub struct Shredder {
    reader: Reader,
    gathered: Gathered,
}

impl Shredder {
    /// A shredder for the database that `key` belongs to. It refuses what is beyond the limits or would have more than
    /// `rows` rows, and keeps texts of up to `text_bytes`.
    pub fn new(
        limits: Limits,
        ignore_namespaces: bool,
        text_bytes: usize,
        rows: u64,
        key: Key,
        asked: Vec<Asked>,
    ) -> Self {
        let wants_text = asked.iter().any(|(.., name)| name == STRING_VALUE || name == TEXT);
        let mut subjects: HashMap<Box<str>, Vec<(Box<str>, i64)>> = HashMap::default();
        for (subject, node, name) in asked {
            subjects.entry(node.into()).or_default().push((name.into(), subject));
        }
        let gathered = Gathered {
            ignore_namespaces,
            text_bytes,
            most_rows: rows,
            key,
            subjects,
            wants_text,
            ..Gathered::default()
        };
        Self { reader: Reader::new(limits), gathered }
    }

    /// Writes the rows of a document under this number.
    ///
    /// # Errors
    /// The document is refused; no row was written.
    pub fn shred(
        &mut self,
        number: i64,
        document: Document<'_>,
        tables: &mut impl Tables,
    ) -> Result<(), DocumentError> {
        self.gathered.begin();
        document.read(&mut self.reader, &mut self.gathered)?;
        self.gathered.finish()?;
        self.gathered.write(number, tables);
        Ok(())
    }
}

#[derive(Default)]
struct Gathered {
    ignore_namespaces: bool,
    text_bytes: usize,
    most_rows: u64,
    key: Key,
    /// The values that tests look at, by the name of their node.
    subjects: HashMap<Box<str>, Vec<(Box<str>, i64)>>,
    wants_text: bool,
    /// The paths that were handed over.
    paths: HashSet<i64>,
    uris: Vec<Box<str>>,
    names: String,
    nodes: Vec<Node>,
    values: Vec<Kept>,
    /// All text of the document in order, so that a string-value is one piece of it.
    text: String,
    /// The values of attributes.
    aside: String,
    open: Vec<usize>,
    rows: u64,
    /// Where the text node that is being read starts.
    text_node: Option<usize>,
    /// A place for rows that must not be written twice.
    seen: HashSet<(usize, i64)>,
}

impl Gathered {
    fn begin(&mut self) {
        self.uris.clear();
        self.uris.extend(["".into(), "http://www.w3.org/XML/1998/namespace".into()]);
        self.names.clear();
        self.nodes.clear();
        self.values.clear();
        self.text.clear();
        self.aside.clear();
        self.open.clear();
        self.seen.clear();
        (self.rows, self.text_node) = (0, None);
        self.names.push_str(DOCUMENT);
        self.open_node((0, DOCUMENT.len()), None);
    }

    /// A name as tables spell it, and its namespace's test.
    fn spelled(&mut self, uri: UriId, local: &str) -> (Range, Option<Range>) {
        let from = self.names.len();
        if self.ignore_namespaces {
            self.names.push_str(local);
            return ((from, self.names.len()), None);
        }
        let uri = &*self.uris[uri.0 as usize];
        spell(uri, local, &mut self.names);
        let name = (from, self.names.len());
        if uri.is_empty() {
            self.names.push_str("{}*");
        } else {
            spell(uri, "*", &mut self.names);
        }
        (name, Some((name.1, self.names.len())))
    }

    fn open_node(&mut self, name: Range, namespace: Option<Range>) {
        let depth = self.open.len();
        self.rows += 2 * depth as u64 + 3;
        let at = self.text.len();
        let parent = self.open.last().copied().unwrap_or(0);
        self.open.push(self.nodes.len());
        let above = self.nodes.get(parent).map_or(0, |node| node.path);
        let content = [&above.to_le_bytes()[..], &self.names.as_bytes()[name.0..name.1]].concat();
        let (path, _) = numbered(self.key, Kind::Other, b'x', &content);
        self.nodes.push(Node { name, namespace, depth: depth as i32, parent, path, text: (at, at) });
    }

    fn close_node(&mut self) {
        if let Some(node) = self.open.pop() {
            self.nodes[node].text.1 = self.text.len();
        }
    }

    /// Keeps what tests look at of the values that `is` names, of one node.
    fn keep(&mut self, node: usize, text: Range, aside: bool, is: impl Fn(&str) -> bool) {
        let Node { name, namespace, .. } = self.nodes[node];
        let labels = [Some(name), namespace].map(|range| range.map(|range| &self.names[range.0..range.1]));
        for label in labels.into_iter().flatten().chain((node > 0).then_some(ANY)) {
            for (name, subject) in self.subjects.get(label).into_iter().flatten() {
                if is(name) {
                    self.rows += 1;
                    self.values.push(Kept { node, subject: *subject, text, aside });
                }
            }
        }
    }

    fn close_text(&mut self) {
        let (Some(from), Some(&node)) = (self.text_node.take(), self.open.last()) else { return };
        if !self.is_full() {
            self.keep(node, (from, self.text.len()), false, |name| name == TEXT);
        }
    }

    /// Whether nothing more is gathered, because the document will be refused.
    fn is_full(&self) -> bool {
        self.rows > self.most_rows || self.names.len() > NAME_BYTES || self.nodes.len() >> NODE_BITS > 0
    }

    fn finish(&mut self) -> Result<(), DocumentError> {
        self.close_node();
        for node in 0..self.nodes.len() {
            if self.is_full() {
                break;
            }
            self.keep(node, self.nodes[node].text, false, |name| name == STRING_VALUE);
        }
        // Each text may be read for a number, and be copied when it is short.
        let scanned: u64 = self.values.iter().map(|kept| (kept.text.1 - kept.text.0) as u64).sum();
        let most = (1_u64 << 30).max(64 * self.text.len() as u64);
        let reason = if self.rows > self.most_rows || self.nodes.len() >> NODE_BITS > 0 {
            format!(
                "more than {} rows of elements, values and ancestors, the limit for tables",
                self.most_rows
            )
        } else if self.names.len() > NAME_BYTES {
            format!("names and namespaces of more than {NAME_BYTES} bytes, the limit for tables")
        } else if scanned > most {
            format!("elements nested so that their texts add up to {scanned} bytes; the limit is {most}")
        } else {
            return Ok(());
        };
        Err(DocumentError { kind: DocumentErrorKind::Limit, reason, line: 0, column: 0 })
    }

    fn write(&mut self, document: i64, tables: &mut impl Tables) {
        let first = document << NODE_BITS;
        for (at, node) in self.nodes.iter().enumerate() {
            let is_new = self.paths.insert(node.path);
            if is_new {
                let name = |range: Range| &self.names[range.0..range.1];
                tables.path(node.path, node.depth, name(node.name), node.namespace.map(name));
            }
            let number = first + at as i64;
            tables.node(number, node.path);
            // Each node is its own ancestor at difference 0, for steps that may stay where they are.
            let (mut ancestor, mut difference) = (at, 0);
            loop {
                let high = &self.nodes[ancestor];
                tables.ancestor(number, difference, first + ancestor as i64);
                if is_new {
                    tables.path_ancestor(node.path, difference, high.path);
                }
                if self.seen.insert((ancestor, node.path)) {
                    tables.below(first + ancestor as i64, node.path, difference);
                }
                if high.depth == 0 {
                    break;
                }
                ancestor = high.parent;
                difference += 1;
            }
        }
        for kept in &self.values {
            let buffer = if kept.aside { &self.aside } else { &self.text };
            let text = &buffer[kept.text.0..kept.text.1];
            // Zero has one sign, because databases do not agree on the other.
            let number = from_xpath_number(text) + 0.0;
            tables.value(
                first + kept.node as i64,
                kept.subject,
                (text.len() <= self.text_bytes).then_some(text),
                (!number.is_nan()).then_some(number),
            );
        }
    }
}

impl Sink for Gathered {
    fn wants_text(&self) -> bool {
        self.wants_text
    }

    fn namespace(&mut self, id: UriId, uri: &str) {
        debug_assert_eq!(id.0 as usize, self.uris.len());
        self.uris.push(uri.into());
    }

    fn start(&mut self, tag: &StartTag<'_>) {
        self.close_text();
        if self.is_full() {
            self.open.push(0);
            return;
        }
        let (name, namespace) = self.spelled(tag.uri, tag.local);
        self.open_node(name, namespace);
        let node = self.nodes.len() - 1;
        if self.subjects.is_empty() {
            return;
        }
        for attribute in tag.attributes() {
            self.rows += 1;
            if self.is_full() {
                return;
            }
            let kept = self.names.len();
            let (name, namespace) = self.spelled(attribute.uri, attribute.local);
            let spelled = |range: Range| self.names[range.0..range.1].to_owned();
            let (name, namespace) = (spelled(name), namespace.map(spelled));
            self.names.truncate(kept);
            let from = self.aside.len();
            self.aside.push_str(attribute.value);
            let text = (from, self.aside.len());
            self.keep(node, text, true, |asked| {
                asked.strip_prefix('@').is_some_and(|asked| {
                    asked == name || asked == ANY || namespace.as_deref().is_some_and(|test| test == asked)
                })
            });
        }
    }

    fn end(&mut self) {
        self.close_text();
        self.close_node();
    }

    fn text(&mut self, text: &str) {
        if self.open.len() > 1 {
            self.text_node.get_or_insert(self.text.len());
            self.text.push_str(text);
        }
    }

    fn comment(&mut self, _text: &str) {
        self.close_text();
    }

    fn instruction(&mut self, _target: &str, _data: &str) {
        self.close_text();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Lines {
        names: HashMap<i64, String>,
        lines: Vec<String>,
    }

    impl Tables for Lines {
        fn path(&mut self, path: i64, depth: i32, name: &str, namespace: Option<&str>) {
            self.names.insert(path, format!("{name}@{depth}"));
            self.lines.push(format!("path {}: {}", self.names[&path], namespace.unwrap_or("-")));
        }
        fn path_ancestor(&mut self, low: i64, difference: i32, high: i64) {
            self.lines.push(format!("{} in {} by {difference}", self.names[&low], self.names[&high]));
        }
        fn node(&mut self, node: i64, path: i64) {
            self.lines.push(format!("{} is {}", node - (7 << NODE_BITS), self.names[&path]));
        }
        fn below(&mut self, high: i64, path: i64, difference: i32) {
            let high = high - (7 << NODE_BITS);
            self.lines.push(format!("{high} has {} by {difference}", self.names[&path]));
        }
        fn ancestor(&mut self, low: i64, difference: i32, high: i64) {
            let (low, high) = (low - (7 << NODE_BITS), high - (7 << NODE_BITS));
            self.lines.push(format!("{low} in {high} by {difference}"));
        }
        fn value(&mut self, node: i64, subject: i64, text: Option<&str>, number: Option<f64>) {
            self.lines.push(format!("{} subject {subject} {text:?} {number:?}", node - (7 << NODE_BITS)));
        }
    }

    fn shred(document: &str, asked: &[(i64, &str, &str)], rows: u64) -> Result<Vec<String>, DocumentError> {
        let mut lines = Lines::default();
        let asked = asked.iter().map(|(id, node, name)| (*id, (*node).into(), (*name).into())).collect();
        let mut shredder = Shredder::new(Limits::default(), false, 3, rows, (1, 2), asked);
        shredder.shred(7, Document::Text(document), &mut lines)?;
        lines.lines.sort();
        Ok(lines.lines)
    }

    #[test]
    fn a_document_is_paths_nodes_and_ancestors() {
        let lines = shred("<a><b/><b/></a>", &[], 100).unwrap();
        let expected = [
            "#document@0 in #document@0 by 0",
            "0 has #document@0 by 0",
            "0 has a@1 by 1",
            "0 has b@2 by 2",
            "0 in 0 by 0",
            "0 is #document@0",
            "1 has a@1 by 0",
            "1 has b@2 by 1",
            "1 in 0 by 1",
            "1 in 1 by 0",
            "1 is a@1",
            "2 has b@2 by 0",
            "2 in 0 by 2",
            "2 in 1 by 1",
            "2 in 2 by 0",
            "2 is b@2",
            "3 has b@2 by 0",
            "3 in 0 by 2",
            "3 in 1 by 1",
            "3 in 3 by 0",
            "3 is b@2",
            "a@1 in #document@0 by 1",
            "a@1 in a@1 by 0",
            "b@2 in #document@0 by 2",
            "b@2 in a@1 by 1",
            "b@2 in b@2 by 0",
            "path #document@0: -",
            "path a@1: {}*",
            "path b@2: {}*",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn values_are_those_that_tests_look_at() {
        let document = "<a x='1' y='2'>2<!-- -->.5<n:b n:x='0' xmlns:n='u'>long text</n:b></a>";
        let asked =
            [(10, "a", "@x"), (11, "*", "@*"), (12, "{u}*", "@{u}*"), (13, "a", "#text"), (14, "{u}b", ".")];
        let mut lines = shred(document, &asked, 100).unwrap();
        lines.retain(|line| line.contains("subject"));
        let expected = [
            "1 subject 10 Some(\"1\") Some(1.0)",
            "1 subject 11 Some(\"1\") Some(1.0)",
            "1 subject 11 Some(\"2\") Some(2.0)",
            "1 subject 13 Some(\".5\") Some(0.5)",
            "1 subject 13 Some(\"2\") Some(2.0)",
            "2 subject 11 Some(\"0\") Some(0.0)",
            "2 subject 12 Some(\"0\") Some(0.0)",
            "2 subject 14 None None",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_bad_document_leaves_no_rows_and_the_next_is_read() {
        let mut lines = Lines::default();
        let mut shredder = Shredder::new(Limits::default(), false, 3, 8, (1, 2), Vec::new());
        assert!(shredder.shred(7, Document::Text("<a><b></a>"), &mut lines).is_err());
        let error = shredder.shred(7, Document::Text("<a><b/></a>"), &mut lines).unwrap_err();
        assert_eq!(error.kind, DocumentErrorKind::Limit);
        assert!(lines.lines.is_empty());
        shredder.shred(7, Document::Text("<a/>"), &mut lines).unwrap();
        assert!(!lines.lines.is_empty());
    }
}
