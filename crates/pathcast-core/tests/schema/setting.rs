//! What the tests share: graphs in one line, expressions in text, documents decided on a tree.

use pathcast_core::limits::Limits;
use pathcast_core::names::{Names, NamespaceId};
use pathcast_core::pattern::{Condition, LinearPath, NameTest, Scope, Tail, as_linear, normalise};
use pathcast_core::reader::{Reader, Sink, StartTag, UriId};
use pathcast_core::schema::{Builder, Content, Graph};
use pathcast_core::twig::{Arena, Budget, Evaluator, Memory, Tree};
use pathcast_core::xpath::parse;

/// "a>b c, b>d": the first name is the root, elements without children hold text.
pub fn graph(edges: &str) -> Graph {
    let mut builder = Builder::default();
    for (at, line) in edges.split(',').enumerate() {
        let (parent, children) = line.trim().split_once('>').unwrap();
        let parent = builder.element("", parent.trim());
        builder.declare(parent, Content::Elements);
        if at == 0 {
            builder.root(parent);
        }
        for child in children.split_whitespace() {
            let child = builder.element("", child);
            builder.child(parent, child);
        }
    }
    builder.build()
}

pub fn condition(xpath: &str, names: &mut Names) -> Condition {
    read(xpath, false, &[("n".into(), "urn:n".into())], names)
}

pub fn read(xpath: &str, ordered: bool, prefixes: &[(Box<str>, Box<str>)], names: &mut Names) -> Condition {
    let expression = parse(xpath, &Limits { steps: 100_000, ..Limits::default() }).unwrap();
    let mut scope = Scope { names, namespaces: &[prefixes], ignore_namespaces: false };
    normalise(&expression, ordered, &mut scope).unwrap()
}

pub fn linear(xpath: &str, names: &mut Names) -> LinearPath {
    as_linear(&condition(xpath, names)).unwrap_or_else(|| panic!("{xpath} is not linear"))
}

/// A linear path as XPath.
pub fn show(path: &LinearPath, names: &Names) -> String {
    let mut out = String::new();
    let gap = |min: u32, exact: bool, out: &mut String| {
        (1..min).for_each(|_| out.push_str("/*"));
        out.push_str(if exact { "/" } else { "//" });
    };
    let label = |name: NameTest| match name {
        NameTest::Any => "*".to_owned(),
        NameTest::Name(id) => names.parts(id).1.to_owned(),
        NameTest::Partial(id) => format!("{{{}}}*", names.parts(id).0),
    };
    for step in &path.steps {
        gap(step.min, step.exact, &mut out);
        out.push_str(&label(step.name));
    }
    match path.tail {
        Tail::End => {}
        Tail::Wild(levels) => (0..levels).for_each(|_| out.push_str("/*")),
        Tail::Attribute { min, exact, name } => {
            gap(min + 1, exact, &mut out);
            out.push('@');
            out.push_str(&label(name));
        }
    }
    out
}

/// Decides conditions on documents.
pub struct Judge {
    reader: Reader,
    memory: Memory,
    pub tree: Tree,
}

struct Planter<'a> {
    tree: &'a mut Tree,
    names: &'a Names,
    uris: Vec<NamespaceId>,
}

impl Sink for Planter<'_> {
    fn wants_text(&self) -> bool {
        true
    }
    fn namespace(&mut self, _: UriId, uri: &str) {
        self.uris.push(self.names.namespace(uri));
    }
    fn start(&mut self, tag: &StartTag<'_>) {
        let element = self.names.resolve(self.uris[tag.uri.0 as usize], tag.local);
        self.tree.start(tag, element, &self.uris, self.names);
    }
    fn end(&mut self) {
        self.tree.end();
    }
    fn text(&mut self, text: &str) {
        self.tree.text(text);
    }
    fn comment(&mut self, text: &str) {
        self.tree.comment(text);
    }
    fn instruction(&mut self, target: &str, data: &str) {
        self.tree.instruction(target, data);
    }
}

impl Judge {
    pub fn new() -> Self {
        let limits = Limits { depth: 100_000, ..Limits::default() };
        Self { reader: Reader::new(limits), memory: Memory::default(), tree: Tree::default() }
    }

    pub fn read(&mut self, document: &str, names: &Names) {
        self.tree.begin(names.len(), false);
        let uris = vec![NamespaceId::NONE, NamespaceId::OTHER];
        let mut planter = Planter { tree: &mut self.tree, names, uris };
        self.reader.read_str(document, &mut planter).unwrap();
        self.tree.end();
    }

    pub fn evaluator<'a>(&'a mut self, arena: &'a Arena) -> Evaluator<'a> {
        // What is remembered goes with an arena.
        self.memory = Memory::default();
        Evaluator::new(arena, &self.tree, &mut self.memory, Budget::new(&Limits::default()))
    }

    pub fn holds(&mut self, document: &str, condition: &Condition, names: &Names) -> bool {
        self.read(document, names);
        let mut arena = Arena::default();
        let id = arena.intern(condition);
        self.evaluator(&arena).holds(id)
    }
}
