//! Held against the evaluator on a tree: random documents, expressions and changes.

use super::{Run, TreeAutomaton, gate};
use crate::limits::Limits;
use crate::names::{Names, NamespaceId, Resolved};
use crate::pattern::{Condition, Scope, normalise};
use crate::reader::{Reader, Sink, StartTag, UriId};
use crate::twig::{Arena, Budget, Evaluator, Memory, Tree};
use crate::xpath;

/// Feeds the automaton and a tree alike.
struct Both<'a> {
    names: &'a Names,
    automaton: &'a TreeAutomaton,
    run: &'a mut Run,
    tree: &'a mut Tree,
}

impl Sink for Both<'_> {
    fn wants_text(&self) -> bool {
        true
    }
    fn namespace(&mut self, _: UriId, _: &str) {}
    fn start(&mut self, tag: &StartTag<'_>) {
        let name = self.names.resolve(NamespaceId::NONE, tag.local);
        let found: Vec<_> = tag.attributes().collect();
        let resolved: Vec<Resolved> =
            found.iter().map(|each| self.names.resolve(NamespaceId::NONE, each.local)).collect();
        self.run.start(self.automaton, name, &resolved, |at| found[at].value);
        self.tree.start(tag, name, &[NamespaceId::NONE, NamespaceId::NONE], self.names);
    }
    fn end(&mut self) {
        self.run.end(self.automaton);
        self.tree.end();
    }
    fn text(&mut self, text: &str) {
        self.run.text(text);
        self.tree.text(text);
    }
    fn comment(&mut self, text: &str) {
        self.run.aside(self.automaton);
        self.tree.comment(text);
    }
    fn instruction(&mut self, target: &str, data: &str) {
        self.run.aside(self.automaton);
        self.tree.instruction(target, data);
    }
}

/// Draws documents and expressions; the same seed draws the same.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn document(&mut self, depth: usize) -> String {
        let name = self.pick(&["a", "b", "c", "d"]);
        let mut text = format!("<{name}");
        for attribute in ["x", "y"] {
            if self.below(3) == 0 {
                text += &format!(" {attribute}='{}'", self.pick(&["1", "2", "5", "u", "uv", ""]));
            }
        }
        text.push('>');
        for _ in 0..self.below(4) {
            match self.below(6) {
                0 => text += self.pick(&["1", "2", "u", "uv", "w", " u  1\n"]),
                1 => text += "<!-- -->",
                _ if depth > 0 => text += &self.document(depth - 1),
                _ => {}
            }
        }
        text + &format!("</{name}>")
    }

    fn test(&mut self) -> String {
        let subject = self.pick(&["@x", ".", "text()", "b", "c/@y", "b/c", ".//d", "@*", "//a", "*/text()"]);
        let constant = self.pick(&["'1'", "'u'", "2", "'uv'", "''", "'w'"]);
        match self.below(12) {
            10.. => self.computed(),
            0..3 => format!("{subject} = {constant}"),
            3..5 => format!("{subject} != {constant}"),
            5..7 => {
                format!("{subject} {} {}", self.pick(&["<", "<=", ">", ">="]), self.pick(&["1", "2", "5"]))
            }
            7 => format!("contains({subject}, {constant})"),
            8 => format!("starts-with({subject}, {constant})"),
            _ => format!("contains({constant}, {subject})"),
        }
    }

    fn computed(&mut self) -> String {
        let path = self.pick(&["@x", ".", "b", "c/@y", "b/c", "text()", "*", "*/text()"]);
        let comparison = self.pick(&["=", "!=", "<", "<=", ">", ">="]);
        match self.below(4) {
            0 => format!("count({path}) {comparison} {}", self.pick(&["0", "1", "2", "3", "1.5"])),
            1 => format!("string-length({path}) {comparison} {}", self.pick(&["0", "1", "2"])),
            _ => {
                let function = self.pick(&["normalize-space", "lower-case", "upper-case", "string"]);
                let constant = self.pick(&["'1'", "'u'", "2", "'UV'", "''", "'w'", "'u 1'"]);
                match self.below(4) {
                    0 => format!("starts-with({function}({path}), {constant})"),
                    1 => format!("{function}(normalize-space({path})) {comparison} {constant}"),
                    _ => format!("{constant} {comparison} {function}({path})"),
                }
            }
        }
    }

    fn predicate(&mut self, depth: usize) -> String {
        match self.below(if depth > 0 { 12 } else { 5 }) {
            0..4 => self.test(),
            4 => self.pick(&["@x", "b", ".//c", "text()", "*", "self::a", "node()"]).into(),
            5 => format!("not({})", self.predicate(depth - 1)),
            6 => format!("{} or {}", self.predicate(depth - 1), self.predicate(depth - 1)),
            7 => format!("{} and not({})", self.predicate(depth - 1), self.predicate(depth - 1)),
            8 => format!("following-sibling::{}", self.path(depth - 1)),
            9 => format!(".//{}", self.path(depth - 1)),
            _ => self.path(depth - 1),
        }
    }

    fn path(&mut self, depth: usize) -> String {
        let mut text = String::new();
        for step in 0..1 + self.below(3) {
            if step > 0 {
                text += self.pick(&["/", "/", "//", "/descendant-or-self::"]);
            }
            text += self.pick(&["a", "b", "c", "d", "*"]);
            for _ in 0..self.pick(&[0, 0, 1, 1, 2]) {
                text += &format!("[{}]", self.predicate(depth));
            }
        }
        text
    }

    fn expression(&mut self) -> String {
        let start = self.pick(&["/", "//", "//", ""]);
        let path = format!("{start}{}", self.path(2));
        match self.below(12) {
            0 => format!("not({path})"),
            1 => format!("{path} | //{}", self.path(1)),
            2 => format!("{path} and not(//{})", self.path(1)),
            _ => path,
        }
    }
}

struct Pool {
    names: Names,
    arena: Arena,
    drawn: Vec<(String, Condition)>,
}

impl Pool {
    fn drawn(draw: &mut Draw, count: usize) -> Self {
        let mut names = Names::default();
        let mut drawn = Vec::new();
        while drawn.len() < count {
            let text = draw.expression();
            let Ok(parsed) = xpath::parse(&text, &Limits::default()) else { continue };
            let mut scope = Scope { names: &mut names, namespaces: &[], ignore_namespaces: false };
            let Ok(condition) = normalise(&parsed, draw.below(12) == 0, &mut scope) else { continue };
            drawn.push((text, condition));
        }
        Self { names, arena: Arena::default(), drawn }
    }

    /// Holds every expression that is there against the evaluator; how many were decided, and how many hold.
    fn check(
        &mut self,
        automaton: &TreeAutomaton,
        run: &mut Run,
        there: &[bool],
        document: &str,
    ) -> (usize, usize) {
        let mut tree = Tree::default();
        tree.begin(self.names.len(), false);
        run.begin(automaton);
        let mut sink = Both { names: &self.names, automaton, run, tree: &mut tree };
        Reader::new(Limits::default()).read_str(document, &mut sink).expect(document);
        tree.end();
        let found = run.finish(automaton).to_vec();
        let (mut exact, mut true_ones) = (0, 0);
        let ids: Vec<_> = self.drawn.iter().map(|(_, condition)| self.arena.intern(condition)).collect();
        let mut memory = Memory::default();
        let mut evaluator = Evaluator::new(&self.arena, &tree, &mut memory, Budget::new(&Limits::default()));
        for (at, (text, condition)) in self.drawn.iter().enumerate() {
            let reported = found.contains(&(at as u32));
            assert!(there[at] || !reported, "{text} left, and was found in {document}");
            if !there[at] {
                continue;
            }
            let holds = evaluator.holds(ids[at]);
            let gate = gate(condition);
            assert!(reported || !holds, "{text} missed in {document}: {:?}", gate.necessary);
            assert!(!gate.exact || reported == holds, "{text} wrong in {document}: {:?}", gate.necessary);
            exact += usize::from(gate.exact);
            true_ones += usize::from(holds);
        }
        (exact, true_ones)
    }
}

#[test]
#[cfg_attr(miri, ignore = "too slow there")]
fn decides_what_the_evaluator_decides_whoever_comes_and_goes() {
    let (mut pairs, mut exact, mut held) = (0, 0, 0);
    for seed in 0..60 {
        let mut draw = Draw(seed * 7_919 + 1);
        let mut pool = Pool::drawn(&mut draw, 60);
        let mut automaton = TreeAutomaton::default();
        let mut run = Run::default();
        let mut there = vec![false; pool.drawn.len()];
        for _ in 0..8 {
            for _ in 0..40 {
                let at = draw.below(there.len());
                if there[at] {
                    automaton.remove(at as u32);
                } else {
                    automaton.insert(&gate(&pool.drawn[at].1).necessary, at as u32);
                }
                there[at] = !there[at];
            }
            for _ in 0..4 {
                let document = draw.document(4);
                let (decided, holding) = pool.check(&automaton, &mut run, &there, &document);
                pairs += there.iter().filter(|&&each| each).count();
                exact += decided;
                held += holding;
            }
            run.tell(&automaton);
            if draw.below(4) == 0 {
                automaton.choose_keys();
            }
        }
        for (at, _) in there.iter().enumerate().filter(|(_, each)| **each) {
            automaton.remove(at as u32);
        }
        assert!(automaton.is_empty() && automaton.shared() == 0 && automaton.ways.is_empty());
        assert_eq!((automaton.subjects.look_at_text(), automaton.constants.find("u")), (false, None));
    }
    assert!(exact * 2 > pairs && held * 20 > pairs, "{exact} exact and {held} true of {pairs}");
}

#[test]
#[cfg_attr(miri, ignore = "too slow there")]
fn waits_for_the_rarest_test_however_it_is_written() {
    for written in ["//item[@lang = 'en'][@id = 'i{}']", "//item[@id = 'i{}'][@lang = 'en']"] {
        let mut names = Names::default();
        let mut automaton = TreeAutomaton::default();
        for number in 0..1_000 {
            let text = written.replace("{}", &number.to_string());
            let parsed = xpath::parse(&text, &Limits::default()).expect("an expression");
            let mut scope = Scope { names: &mut names, namespaces: &[], ignore_namespaces: false };
            let condition = normalise(&parsed, false, &mut scope).expect("a condition");
            automaton.insert(&gate(&condition).necessary, number);
        }
        let busiest =
            (0..automaton.atoms.bound() as u32).map(|atom| automaton.keys().lists.of(atom).len()).max();
        assert!(busiest < Some(4), "{written}: {busiest:?} wait for one test");
    }
}
