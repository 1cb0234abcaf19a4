//! Schemas and expressions made to hurt: bounded time, and no stack beyond that of a small thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pathcast_core::names::{Names, NamespaceId};
use pathcast_core::pattern::{Condition, LinearPath, LinearStep, NameTest, Tail, encode_condition};
use pathcast_core::schema::{Builder, Content, ElementId, Graph, PruneLimits, Pruner, check};

use crate::random::Random;
use crate::setting::{condition, graph, linear, show};

/// Runs on a stack of 2 MiB and fails if it takes longer than anything here should, unoptimised.
fn small(work: impl FnOnce() + Send + 'static) {
    let started = Instant::now();
    std::thread::Builder::new().stack_size(2 << 20).spawn(work).unwrap().join().unwrap();
    assert!(started.elapsed() < Duration::from_secs(30), "took {:?}", started.elapsed());
}

fn numbered(count: usize, content: Content, edges: impl Fn(usize) -> Vec<usize>) -> Graph {
    let mut builder = Builder::default();
    let ids: Vec<ElementId> = (0..count).map(|at| builder.element("", &format!("e{at}"))).collect();
    builder.root(ids[0]);
    for at in 0..count {
        builder.declare(ids[at], content);
        edges(at).into_iter().for_each(|to| builder.child(ids[at], ids[to]));
    }
    builder.build()
}

/// Everything there is to ask, over many expressions.
fn ask(graph: Graph, expressions: &[&str]) -> Vec<(usize, bool)> {
    let graph = Arc::new(graph);
    let _ = (graph.depth(), graph.path_count(), graph.recursive().len());
    let mut bytes = Vec::new();
    graph.encode(&mut bytes);
    assert_eq!(Graph::decode(&mut &bytes[..]).unwrap().edges(), graph.edges());
    let mut names = Names::default();
    let all = PruneLimits { expand_leading: false, ..PruneLimits::default() };
    let mut pruners = [PruneLimits::default(), all].map(|limits| Pruner::new(graph.clone(), limits));
    let mut out = Vec::new();
    for xpath in expressions {
        let original = condition(xpath, &mut names);
        let possible = check(&graph, &names, &original).is_possible();
        let mut size = 0;
        for pruner in &mut pruners {
            let pruned = pruner.prune_condition(&original, &mut names);
            assert_eq!(possible, pruned != Condition::False, "{xpath}");
            let mut bytes = Vec::new();
            encode_condition(&pruned, &mut bytes);
            size = size.max(bytes.len());
        }
        out.push((size, possible));
    }
    out
}

#[test]
fn a_hundred_thousand_alternatives() {
    small(|| {
        let graph =
            numbered(100_000, Content::Mixed, |at| if at == 0 { (1..100_000).collect() } else { vec![] });
        let results =
            ask(graph, &["/e0/*", "//e99999", "/*/*", "//*[e7]", "/e0/*/*", "//@x", "/e0/*[. = 'x']"]);
        let possible: Vec<bool> = results.iter().map(|each| each.1).collect();
        assert_eq!(possible, [true, true, true, true, false, false, true]);
        assert!(results.iter().all(|each| each.0 < 10_000));
    });
}

#[test]
fn ten_thousand_elements_of_any_content() {
    small(|| {
        let graph = numbered(10_000, Content::Any, |_| vec![]);
        assert_eq!(graph.recursive().len(), 10_000);
        assert_eq!(graph.component(0), graph.component(9_999));
        let wild = "/*".repeat(200);
        let results =
            ask(graph, &["//e5//e6", "//*/*/*//e1", &wild, "/e1", "//e3/*[e4/*]//e5[@x]", "/e0/*/e2"]);
        let possible: Vec<bool> = results.iter().map(|each| each.1).collect();
        assert_eq!(possible, [true, true, true, false, false, true]);
    });
}

#[test]
fn one_component_of_ten_thousand() {
    small(|| {
        let mut random = Random(3);
        let chords: Vec<usize> = (0..10_000).map(|_| random.below(10_000)).collect();
        let graph = numbered(10_000, Content::Elements, |at| {
            let mut to = vec![(at + 1) % 10_000];
            to.extend((at % 3 == 0).then(|| chords[at]));
            to
        });
        assert_eq!(graph.recursive().len(), 10_000);
        let long = format!("/e0{}//e77", "/*".repeat(200));
        let results = ask(graph, &["//e5000//e4999", &long, "//e1/*/*/e4", "//e9//*/*/*//e8[.//e7/*/*]"]);
        assert!(results.iter().all(|each| each.1 && each.0 < 100_000));
    });
}

#[test]
fn a_chain_of_five_thousand() {
    small(|| {
        let edges = |at: usize| if at < 4_999 { vec![at + 1] } else { vec![] };
        let graph = numbered(5_000, Content::Elements, edges);
        assert_eq!(graph.depth(), Some(5_000));
        assert_eq!(graph.path_count(), Some(1));
        let graph = Arc::new(graph);
        let mut names = Names::default();
        let deep = PruneLimits { max_length: 10_000, ..PruneLimits::default() };
        let mut pruner = Pruner::new(graph.clone(), deep);
        let path = linear("//e4999", &mut names);
        let results = pruner.prune(&path, &mut names);
        assert_eq!(results.len(), 1);
        assert_eq!(results[0].steps.len(), 5_000);
        let mut short = Pruner::new(graph.clone(), PruneLimits::default());
        let path = linear("/e0//e4999", &mut names);
        assert_eq!(short.prune(&path, &mut names), [path]);
        let path = linear("/e0//e30//e2000//e2003", &mut names);
        let shown: Vec<String> =
            short.prune(&path, &mut names).iter().map(|path| show(path, &names)).collect();
        assert!(shown[0].ends_with("/e30//e2000/e2001/e2002/e2003"), "{shown:?}");
    });
}

#[test]
fn thousands_of_steps() {
    small(|| {
        let graph = Arc::new(graph("a>a b, b>b"));
        let mut names = Names::default();
        let a = names.intern(NamespaceId::NONE, "a");
        let step = |min, exact| LinearStep { min, exact, name: NameTest::Name(a) };
        let steps: Vec<LinearStep> = (0..20_000).map(|at| step(1 + at % 3, at % 2 == 0)).collect();
        let path = LinearPath { steps, tail: Tail::Wild(3) };
        let mut pruner = Pruner::new(graph.clone(), PruneLimits::default());
        assert!(!pruner.prune(&path, &mut names).is_empty());
        // Gaps that only a damaged file has.
        let path = LinearPath { steps: vec![step(1 << 20, true), step(1 << 20, false)], tail: Tail::End };
        assert_eq!(pruner.prune(&path, &mut names), std::slice::from_ref(&path));
        assert!(check(&graph, &names, &path.to_condition()).is_possible());
    });
}

#[test]
fn predicates_to_the_limit() {
    small(|| {
        let nested = format!("/a{}{}", "[.//*[a]/*//b or */b".repeat(30), "]".repeat(30));
        let chain = format!("/a{}", "//*[b]/a[*/b]".repeat(60));
        let many = format!("//a{}", "[b//b][.//b]".repeat(60));
        let results = ask(graph("a>a b, b>b"), &[&nested, &chain, &many]);
        assert!(results.iter().all(|each| each.1), "{results:?}");
        assert!(results.iter().all(|each| each.0 < 1 << 20), "{results:?}");
    });
}
