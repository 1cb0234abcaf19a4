//! Documents to rows: nodes with their place, values of nodes, and who is whose ancestor.
//!
//! Every element gets a start point and an end point from one counter that grows at each tag, and a depth; the document
//! node is 0. The values of a node are its attributes, the text nodes among its children, and its own string-value. A
//! number is read from the text here, by the rules of XPath; a text longer than any constant can be is not kept, because
//! it equals none.
//!
//! Ancestors are kept as pairs, each node being its own at difference 0, so that joins are on equality and not on
//! ranges. Their number is the sum of all depths, which for most documents is small; it is bounded.
//!
//! Nothing of a document is handed over before its end: a bad document leaves no rows.

use super::{DOCUMENT, STRING_VALUE, TEXT, spell};
use crate::limits::Limits;
use crate::reader::{Document, DocumentError, DocumentErrorKind, Reader, Sink, StartTag, UriId};
use crate::values::number::from_xpath_number;

/// Receives the rows of one document after the other.
pub trait Tables {
    /// A node; `namespace` is the name test `{uri}*` that it passes.
    fn node(&mut self, document: i64, name: &str, namespace: Option<&str>, place: Place);
    /// A value of the node that starts at `start`; text is missing when it is too long, number when it is none.
    fn value(&mut self, document: i64, start: i64, value: &Value<'_>);
    /// A node and one of its ancestors.
    fn ancestor(&mut self, document: i64, low: i64, high: i64, difference: i32);
}

/// Where a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Place {
    pub start: i64,
    pub end: i64,
    pub depth: i32,
}

/// One value of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Value<'a> {
    pub name: &'a str,
    pub namespace: Option<&'a str>,
    pub text: Option<&'a str>,
    pub number: Option<f64>,
}

/// Bytes of all names of one document, as tables spell them: with the namespace at every name.
const NAME_BYTES: usize = 256 << 20;

/// A range of the names, or of the texts.
type Range = (usize, usize);

struct Node {
    name: Range,
    namespace: Option<Range>,
    place: Place,
    parent: usize,
    /// The string-value.
    text: Range,
}

struct Kept {
    node: usize,
    name: Range,
    namespace: Option<Range>,
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
    /// A shredder that refuses what is beyond the limits, or would have more than `rows` rows; it keeps texts of up to
    /// `text_bytes`.
    pub fn new(limits: Limits, ignore_namespaces: bool, text_bytes: usize, rows: u64) -> Self {
        let gathered = Gathered { ignore_namespaces, text_bytes, most_rows: rows, ..Gathered::default() };
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
    uris: Vec<Box<str>>,
    names: String,
    nodes: Vec<Node>,
    values: Vec<Kept>,
    /// All text of the document in order, so that a string-value is one piece of it.
    text: String,
    /// The values of attributes.
    aside: String,
    open: Vec<usize>,
    counter: i64,
    rows: u64,
    /// Where the text node that is being read starts.
    text_node: Option<usize>,
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
        (self.counter, self.rows, self.text_node) = (0, 0, None);
        let name = self.name_of(DOCUMENT);
        self.open_node(name, None);
    }

    fn name_of(&mut self, text: &str) -> Range {
        let from = self.names.len();
        self.names.push_str(text);
        (from, self.names.len())
    }

    /// A name as tables spell it, and its namespace's test.
    fn spelled(&mut self, prefix: &str, uri: UriId, local: &str) -> (Range, Option<Range>) {
        let from = self.names.len();
        self.names.push_str(prefix);
        if self.ignore_namespaces {
            self.names.push_str(local);
            return ((from, self.names.len()), None);
        }
        let uri = &*self.uris[uri.0 as usize];
        spell(uri, local, &mut self.names);
        let name = (from, self.names.len());
        self.names.push_str(prefix);
        if uri.is_empty() {
            self.names.push_str("{}*");
        } else {
            spell(uri, "*", &mut self.names);
        }
        (name, Some((name.1, self.names.len())))
    }

    fn open_node(&mut self, name: Range, namespace: Option<Range>) {
        let depth = self.open.len();
        let place = Place { start: self.counter, end: 0, depth: depth as i32 };
        self.counter += 1;
        self.rows += depth as u64 + 3;
        let at = self.text.len();
        let parent = self.open.last().copied().unwrap_or(0);
        self.open.push(self.nodes.len());
        self.nodes.push(Node { name, namespace, place, parent, text: (at, at) });
    }

    fn close_node(&mut self) {
        if let Some(node) = self.open.pop() {
            let node = &mut self.nodes[node];
            node.place.end = self.counter;
            node.text.1 = self.text.len();
            self.counter += 1;
        }
    }

    fn close_text(&mut self) {
        let (Some(from), Some(&node)) = (self.text_node.take(), self.open.last()) else { return };
        if self.is_full() {
            return;
        }
        self.rows += 1;
        let name = self.name_of(TEXT);
        let text = (from, self.text.len());
        self.values.push(Kept { node, name, namespace: None, text, aside: false });
    }

    /// Whether nothing more is gathered, because the document will be refused.
    fn is_full(&self) -> bool {
        self.rows > self.most_rows || self.names.len() > NAME_BYTES
    }

    fn finish(&mut self) -> Result<(), DocumentError> {
        self.close_node();
        // Each element's text may be read for a number, and be copied when it is short.
        let scanned: u64 = self.nodes.iter().map(|node| (node.text.1 - node.text.0) as u64).sum();
        let most = (1_u64 << 30).max(64 * self.text.len() as u64);
        let reason = if self.rows > self.most_rows {
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

    fn write(&self, document: i64, tables: &mut impl Tables) {
        let name = |range: Range| &self.names[range.0..range.1];
        for node in &self.nodes {
            tables.node(document, name(node.name), node.namespace.map(name), node.place);
            let own = self.value(STRING_VALUE, None, &self.text[node.text.0..node.text.1]);
            tables.value(document, node.place.start, &own);
            let (mut ancestor, mut difference) = (node, 0);
            loop {
                tables.ancestor(document, node.place.start, ancestor.place.start, difference);
                if ancestor.place.depth == 0 {
                    break;
                }
                ancestor = &self.nodes[ancestor.parent];
                difference += 1;
            }
        }
        for kept in &self.values {
            let buffer = if kept.aside { &self.aside } else { &self.text };
            let text = &buffer[kept.text.0..kept.text.1];
            let value = self.value(name(kept.name), kept.namespace.map(name), text);
            tables.value(document, self.nodes[kept.node].place.start, &value);
        }
    }

    fn value<'a>(&self, name: &'a str, namespace: Option<&'a str>, text: &'a str) -> Value<'a> {
        // Zero has one sign, because databases do not agree on the other.
        let number = from_xpath_number(text) + 0.0;
        Value {
            name,
            namespace,
            text: (text.len() <= self.text_bytes).then_some(text),
            number: (!number.is_nan()).then_some(number),
        }
    }
}

impl Sink for Gathered {
    fn wants_text(&self) -> bool {
        true
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
        let (name, namespace) = self.spelled("", tag.uri, tag.local);
        self.open_node(name, namespace);
        let node = self.nodes.len() - 1;
        for attribute in tag.attributes() {
            self.rows += 1;
            if self.is_full() {
                return;
            }
            let (name, namespace) = self.spelled("@", attribute.uri, attribute.local);
            let from = self.aside.len();
            self.aside.push_str(attribute.value);
            let text = (from, self.aside.len());
            self.values.push(Kept { node, name, namespace, text, aside: true });
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
    struct Lines(Vec<String>);

    impl Tables for Lines {
        fn node(&mut self, document: i64, name: &str, namespace: Option<&str>, place: Place) {
            let Place { start, end, depth } = place;
            self.0.push(format!("{document} {name} {} {start} {end} {depth}", namespace.unwrap_or("-")));
        }
        fn value(&mut self, _: i64, start: i64, value: &Value<'_>) {
            self.0.push(format!("{start} {} {:?} {:?}", value.name, value.text, value.number));
        }
        fn ancestor(&mut self, _: i64, low: i64, high: i64, difference: i32) {
            self.0.push(format!("{low} in {high} by {difference}"));
        }
    }

    fn shred(document: &str, rows: u64) -> Result<Vec<String>, DocumentError> {
        let mut lines = Lines::default();
        let mut shredder = Shredder::new(Limits::default(), false, 3, rows);
        shredder.shred(7, Document::Text(document), &mut lines)?;
        lines.0.sort();
        Ok(lines.0)
    }

    #[test]
    fn a_document_is_nodes_values_and_ancestors() {
        let lines = shred("<a x='1'>2<!-- -->.5<n:b xmlns:n='u'>long text</n:b></a>", 100).unwrap();
        let expected = [
            "0 . None None",
            "0 in 0 by 0",
            "1 #text Some(\".5\") Some(0.5)",
            "1 #text Some(\"2\") Some(2.0)",
            "1 . None None",
            "1 @x Some(\"1\") Some(1.0)",
            "1 in 0 by 1",
            "1 in 1 by 0",
            "2 #text None None",
            "2 . None None",
            "2 in 0 by 2",
            "2 in 1 by 1",
            "2 in 2 by 0",
            "7 #document - 0 5 0",
            "7 a {}* 1 4 1",
            "7 {u}b {u}* 2 3 2",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_bad_document_leaves_no_rows_and_the_next_is_read() {
        let mut lines = Lines::default();
        let mut shredder = Shredder::new(Limits::default(), false, 3, 8);
        assert!(shredder.shred(0, Document::Text("<a><b></a>"), &mut lines).is_err());
        let error = shredder.shred(1, Document::Text("<a><b/></a>"), &mut lines).unwrap_err();
        assert_eq!(error.kind, DocumentErrorKind::Limit);
        assert!(lines.0.is_empty());
        shredder.shred(2, Document::Text("<a/>"), &mut lines).unwrap();
        assert!(!lines.0.is_empty());
    }
}
