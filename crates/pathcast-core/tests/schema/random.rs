//! Random schemas, documents that respect them, and expressions: pruning changes no answer, and what is called
//! impossible never matches; for linear paths what is called possible does.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::sync::Arc;

use pathcast_core::names::Names;
use pathcast_core::pattern::{Condition, LinearPath, NameTest, Tail, as_linear};
use pathcast_core::schema::{Builder, Content, ElementId, Graph, PruneLimits, Pruner, Values, check};
use pathcast_core::twig::Arena;

use crate::setting::{Judge, condition, read, show};

/// Xorshift: enough chance for a test, the same on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

const LETTERS: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];
const WORDS: [&str; 4] = ["x", "1", "2", "xy"];

fn schema(random: &mut Random) -> Graph {
    let mut builder = Builder::default();
    let count = 2 + random.below(5);
    let elements: Vec<ElementId> = (0..count)
        .map(|at| builder.element(if random.chance(15) { "urn:n" } else { "" }, LETTERS[at]))
        .collect();
    let acyclic = random.chance(50);
    let percent = random.pick(&[20, 40, 60]);
    for (at, &element) in elements.iter().enumerate() {
        let content = match random.below(20) {
            0 if !acyclic => Content::Any,
            1..8 => Content::Mixed,
            8..11 => Content::Empty,
            _ => Content::Elements,
        };
        let listed = content == Content::Mixed && random.chance(40);
        if listed {
            builder.declare_text(element, Values::Tokens(vec!["x".into(), "2".into()]));
        } else {
            builder.declare(element, content);
        }
        for (to, &child) in elements.iter().enumerate() {
            let room = content != Content::Empty && !listed;
            if (to > at || !acyclic) && random.chance(percent) && room {
                builder.child(element, child);
            }
        }
        for name in ["x", "y"] {
            if random.chance(35) {
                let values = match random.below(4) {
                    0 => Values::Tokens(vec!["x".into(), "2".into()]),
                    1 => Values::Fixed("1".into()),
                    _ => Values::Free,
                };
                builder.attribute(element, "", name, false, values);
            }
        }
    }
    for _ in 0..1 + random.below(2) {
        builder.root(elements[random.below(if acyclic { 2 } else { count })]);
    }
    builder.build()
}

/// A document that respects the graph; the longest one it may have room for.
fn document(graph: &Graph, random: &mut Random) -> String {
    let roots: Vec<ElementId> = graph.children(graph.document()).collect();
    let mut out = String::new();
    if random.chance(10) {
        out.push_str("<!--x-->");
    }
    let mut room = 30;
    let depth = 2 + random.below(6);
    element(graph, random.pick(&roots), depth, &mut room, random, &mut out);
    out
}

fn start(graph: &Graph, id: ElementId, out: &mut String) {
    let (uri, local) = graph.name(id);
    write!(out, "<{local} xmlns='{uri}'").unwrap();
}

fn element(
    graph: &Graph,
    id: ElementId,
    depth: usize,
    room: &mut usize,
    random: &mut Random,
    out: &mut String,
) {
    start(graph, id, out);
    for (_, local, attribute) in graph.attributes(id) {
        if random.chance(60) {
            let value = match &attribute.values {
                Values::Free => random.pick(&WORDS).to_owned(),
                Values::Fixed(value) => value.to_string(),
                Values::Tokens(tokens) => {
                    let pad = random.pick(&["", "", " "]);
                    format!("{pad}{}{pad}", tokens[random.below(tokens.len())])
                }
            };
            write!(out, " {local}='{value}'").unwrap();
        }
    }
    out.push('>');
    if let Some(Values::Tokens(tokens)) = graph.texts(id) {
        let pad = random.pick(&["", "", "\n", " "]);
        let token = &tokens[random.below(tokens.len())];
        write!(out, "{pad}{token}<!--x-->{pad}</{}>", graph.name(id).1).unwrap();
        return;
    }
    let children: Vec<ElementId> = graph.children(id).collect();
    let text = |random: &mut Random, out: &mut String| match graph.content(id) {
        Content::Mixed | Content::Any if random.chance(50) => out.push_str(random.pick(&WORDS)),
        Content::Elements if random.chance(30) => out.push(' '),
        Content::Empty => {}
        _ if random.chance(5) => out.push_str("<?x y?>"),
        _ => {}
    };
    text(random, out);
    if depth > 0 && !children.is_empty() {
        for _ in 0..random.below(4) {
            if *room == 0 {
                break;
            }
            *room -= 1;
            element(graph, random.pick(&children), depth - 1, room, random, out);
            text(random, out);
        }
    }
    write!(out, "</{}>", graph.name(id).1).unwrap();
}

/// Writes expressions that mostly follow the graph, so that many of them can match.
struct Writer<'a> {
    graph: &'a Graph,
    random: &'a mut Random,
}

impl Writer<'_> {
    fn name(&mut self, element: ElementId) -> String {
        let (uri, local) = self.graph.name(element);
        let prefix = if uri.is_empty() { "" } else { "n:" };
        match self.random.below(20) {
            0..6 => "*".to_owned(),
            6 => LETTERS[self.random.below(7)].to_owned(),
            7 if !uri.is_empty() => "n:*".to_owned(),
            _ => format!("{prefix}{local}"),
        }
    }

    /// A step down, and where it may lead; lost where there is no way on.
    fn step(&mut self, from: ElementId) -> (String, ElementId) {
        let mut at = from;
        let hops = self.random.pick(&[1, 1, 1, 1, 2, 3]);
        for _ in 0..hops {
            let children: Vec<ElementId> = self.graph.children(at).collect();
            at = match children.len() {
                0 => self.random.below(self.graph.len()) as ElementId,
                _ => self.random.pick(&children),
            };
        }
        let gap = match hops {
            1 if self.random.chance(5) => "/descendant-or-self::",
            1 => self.random.pick(&["/", "/", "//"]),
            2 => self.random.pick(&["//", "/*/", "//*/"]),
            _ => self.random.pick(&["//", "/*/*/", "//*/", "/*//"]),
        };
        (format!("{gap}{}", self.name(at)), at)
    }

    fn attribute(&mut self) -> &'static str {
        self.random.pick(&["@x", "@x", "@y", "@z", "@*"])
    }

    fn path(&mut self) -> String {
        let (mut out, mut at) = (String::new(), self.graph.document());
        for _ in 0..1 + self.random.below(4) {
            let (step, to) = self.step(at);
            out.push_str(&step);
            at = to;
        }
        if self.random.chance(20) {
            out.push_str(self.random.pick(&["/", "/", "//"]));
            out.push_str(self.attribute());
        }
        out
    }

    fn predicate(&mut self, at: ElementId, size: usize) -> String {
        let word = self.random.pick(&WORDS);
        let any = self.random.below(self.graph.len()) as ElementId;
        match self.random.below(if size == 0 { 9 } else { 12 }) {
            0 => format!("{} = '{word}'", self.attribute()),
            1 => format!("{} >= 2", self.attribute()),
            2 => format!(". = '{word}'"),
            3 => format!("contains({}, '{word}')", self.relative(at, 0)),
            4 => self.attribute().to_owned(),
            5 => self
                .random
                .pick(&["text()", "comment()", "text() = ' '", "node()", ".//text() = 'x'"])
                .to_owned(),
            6..9 => self.relative(at, size.saturating_sub(1)),
            9 => format!("not({})", self.predicate(at, size - 1)),
            10 => format!("{} or {}", self.predicate(at, size - 1), self.predicate(at, size - 1)),
            _ => match self.random.below(4) {
                0 => self.path(),
                1 => format!("following-sibling::{}", self.name(any)),
                2 => format!("preceding::{}", self.name(any)),
                _ => format!("{} and {}", self.predicate(at, size - 1), self.predicate(at, size - 1)),
            },
        }
    }

    /// A path from an element.
    fn relative(&mut self, from: ElementId, size: usize) -> String {
        let absolute = self.tree(from, size);
        if absolute.starts_with("//") { format!(".{absolute}") } else { absolute[1..].to_owned() }
    }

    fn tree(&mut self, from: ElementId, size: usize) -> String {
        let (mut out, mut at) = (String::new(), from);
        for _ in 0..1 + self.random.below(3) {
            let (step, to) = self.step(at);
            out.push_str(&step);
            at = to;
            while size > 0 && self.random.chance(35) {
                write!(out, "[{}]", self.predicate(at, size - 1)).unwrap();
            }
        }
        out
    }

    fn twig(&mut self) -> String {
        let tree = self.tree(self.graph.document(), 3);
        match self.random.below(12) {
            0 => format!("not({tree})"),
            1 => format!("{tree} or {}", self.path()),
            _ => tree,
        }
    }

    fn ordered(&mut self) -> String {
        let (mut out, at) = self.step(self.graph.document());
        for _ in 0..1 + self.random.below(2) {
            write!(out, "[{}]", self.relative(at, 0)).unwrap();
        }
        // Ordered mode refuses the axis spelled out.
        (out + &self.step(at).0).replace("descendant-or-self::", "")
    }
}

fn limits(random: &mut Random) -> PruneLimits {
    PruneLimits {
        max_substitutes: random.pick(&[0, 1, 2, 4, 16, 1000]),
        max_length: random.pick(&[0, 3, 16, 64, 1000]),
        max_results: random.pick(&[0, 1, 3, 16, 64, 1000]),
        singleton: random.chance(15),
        single_parent: random.chance(50),
        expand_leading: random.chance(60),
    }
}

struct Case {
    xpath: String,
    original: Condition,
    pruned: Condition,
    possible: bool,
}

fn cases(
    graph: &Arc<Graph>,
    names: &mut Names,
    count: usize,
    random: &mut Random,
    ordered: bool,
    make: impl Fn(&mut Writer<'_>) -> String,
) -> Vec<Case> {
    let mut pruner = Pruner::new(graph.clone(), limits(random));
    let mut out = Vec::new();
    for at in 0..count {
        if at % 8 == 7 {
            pruner = Pruner::new(graph.clone(), limits(random));
        }
        let xpath = make(&mut Writer { graph, random });
        let original = read(&xpath, ordered, &[("n".into(), "urn:n".into())], names);
        let possible = check(graph, names, &original).is_possible();
        let pruned = pruner.prune_condition(&original, names);
        if !possible {
            assert_eq!(pruned, Condition::False, "{xpath}");
        }
        out.push(Case { xpath, original, pruned, possible });
    }
    out
}

fn compare(seed: u64, rounds: usize, ordered: bool, make: impl Fn(&mut Writer<'_>) -> String + Copy) {
    println!("seed {seed}");
    let mut random = Random(seed);
    let mut judge = Judge::new();
    let (mut pairs, mut held, mut never) = (0_usize, 0_usize, 0_usize);
    for _ in 0..rounds {
        let graph = Arc::new(schema(&mut random));
        let mut names = Names::default();
        names.intern_namespace("urn:n");
        let cases = cases(&graph, &mut names, 40, &mut random, ordered, make);
        let mut arena = Arena::default();
        let ids: Vec<_> =
            cases.iter().map(|case| (arena.intern(&case.original), arena.intern(&case.pruned))).collect();
        for _ in 0..20 {
            let document = document(&graph, &mut random);
            judge.read(&document, &names);
            let mut evaluator = judge.evaluator(&arena);
            for (case, &(original, pruned)) in cases.iter().zip(&ids) {
                let expected = evaluator.holds(original);
                assert_eq!(
                    evaluator.holds(pruned),
                    expected,
                    "{} on {document}\n{:?}\n{:?}",
                    case.xpath,
                    case.original,
                    case.pruned
                );
                assert!(case.possible || !expected, "{} is possible: {document}", case.xpath);
                pairs += 1;
                held += usize::from(expected);
                never += usize::from(!case.possible);
            }
        }
    }
    println!("{pairs} pairs, {held} held, {never} impossible");
    assert!(held > pairs / 50 && never > pairs / 50);
}

#[test]
fn pruned_linear_paths_answer_alike() {
    compare(7, 250, false, |writer| writer.path());
}

#[test]
fn pruned_twigs_answer_alike() {
    compare(11, 400, false, |writer| writer.twig());
}

#[test]
fn pruned_ordered_patterns_answer_alike() {
    compare(13, 100, true, |writer| writer.ordered());
}

/// A chain of elements that satisfies a path, found without the code under test: a search over (element, named steps
/// met, levels since).
fn witness(graph: &Graph, path: &LinearPath, names: &Names) -> Option<Vec<ElementId>> {
    let is = |element: ElementId, test: NameTest| {
        let (uri, local) = graph.name(element);
        match test {
            NameTest::Any => true,
            NameTest::Name(id) => names.parts(id) == (uri, local),
            NameTest::Partial(id) => names.parts(id).0 == uri,
        }
    };
    let has = |element: ElementId, test: NameTest| {
        graph.attributes(element).any(|(uri, local, _)| match test {
            NameTest::Any => true,
            NameTest::Name(id) => names.parts(id) == (uri, local),
            NameTest::Partial(id) => names.parts(id).0 == uri,
        })
    };
    type State = (ElementId, usize, u32);
    let start: State = (graph.document(), 0, 0);
    let mut from: HashMap<State, State> = HashMap::new();
    let mut todo = VecDeque::from([start]);
    while let Some(state @ (element, step, levels)) = todo.pop_front() {
        let done = step == path.steps.len()
            && match path.tail {
                Tail::End => true,
                Tail::Wild(min) => levels >= min,
                Tail::Attribute { min, exact, name } => {
                    element != graph.document()
                        && (if exact { levels == min } else { levels >= min })
                        && has(element, name)
                }
            };
        if done {
            let mut chain = Vec::new();
            let mut at = state;
            while at.0 != graph.document() {
                chain.push(at.0);
                at = from[&at];
            }
            chain.reverse();
            return Some(chain);
        }
        for child in (0..graph.document()).filter(|&child| graph.is_child(element, child)) {
            let levels = (levels + 1).min(20);
            let mut next = vec![(child, step, levels)];
            if let Some(wanted) = path.steps.get(step) {
                let far = if wanted.exact { levels == wanted.min } else { levels >= wanted.min };
                if far && is(child, wanted.name) {
                    next.push((child, step + 1, 0));
                }
            }
            for next in next {
                if let std::collections::hash_map::Entry::Vacant(free) = from.entry(next) {
                    free.insert(state);
                    todo.push_back(next);
                }
            }
        }
    }
    None
}

#[test]
fn linear_paths_are_possible_exactly_when_a_document_exists() {
    let seed = 17;
    println!("seed {seed}");
    let mut random = Random(seed);
    let mut judge = Judge::new();
    let (mut possible, mut impossible) = (0, 0);
    for _ in 0..1_000 {
        let graph = Arc::new(schema(&mut random));
        let mut names = Names::default();
        let mut pruner = Pruner::new(graph.clone(), limits(&mut random));
        for _ in 0..40 {
            let xpath = Writer { graph: &graph, random: &mut random }.path();
            let original = condition(&xpath, &mut names);
            let Some(linear) = as_linear(&original) else { continue };
            let verdict = check(&graph, &names, &original);
            let results = pruner.prune(&linear, &mut names);
            assert_eq!(verdict.is_possible(), !results.is_empty(), "{xpath}: {verdict:?}");
            match witness(&graph, &linear, &names) {
                Some(chain) => {
                    assert!(verdict.is_possible(), "{xpath}: {verdict:?} but {chain:?}");
                    let document = chain_document(&graph, &chain);
                    assert!(judge.holds(&document, &original, &names), "{xpath} on {document}");
                    possible += 1;
                }
                None => {
                    assert!(!verdict.is_possible(), "{xpath}");
                    impossible += 1;
                }
            }
            for result in &results {
                let shown = show(result, &names);
                assert!(
                    witness(&graph, result, &names).is_some(),
                    "{xpath} gave {shown}, which never matches"
                );
            }
        }
    }
    println!("{possible} possible, {impossible} impossible");
    assert!(possible > 10_000 && impossible > 5_000);
}

fn chain_document(graph: &Graph, chain: &[ElementId]) -> String {
    let mut out = String::new();
    for &element in chain {
        start(graph, element, &mut out);
        for (_, local, attribute) in graph.attributes(element) {
            let value = match &attribute.values {
                Values::Free => "1",
                Values::Fixed(value) => value,
                Values::Tokens(tokens) => &tokens[0],
            };
            write!(out, " {local}='{value}'").unwrap();
        }
        out.push('>');
    }
    chain.iter().rev().for_each(|&element| write!(out, "</{}>", graph.name(element).1).unwrap());
    out
}

/// With limits that nothing crosses and no recursion, neither wildcards nor descendants are left.
#[test]
fn without_recursion_all_gaps_go() {
    let mut random = Random(23);
    let limits = PruneLimits {
        max_substitutes: 10_000,
        max_length: 100_000,
        max_results: 100_000,
        singleton: false,
        single_parent: false,
        expand_leading: true,
    };
    for _ in 0..500 {
        let graph = Arc::new(schema(&mut random));
        let recursive = graph.depth().is_none();
        let mut names = Names::default();
        let mut pruner = Pruner::new(graph.clone(), limits.clone());
        for _ in 0..20 {
            let xpath = Writer { graph: &graph, random: &mut random }.path();
            let Some(linear) = as_linear(&condition(&xpath, &mut names)) else { continue };
            for result in pruner.prune(&linear, &mut names) {
                let shown = show(&result, &names);
                assert!(recursive || !shown.contains("//"), "{xpath} gave {shown}");
                assert!(!shown.contains("/*"), "{xpath} gave {shown}");
            }
        }
    }
}
