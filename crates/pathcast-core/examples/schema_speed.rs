//! How long checking and pruning take: `cargo run --release --example schema_speed -- FILE.dtd ROOT`.
//!
//! The DTD is read crudely, its parameter entities replaced as text. The paths are random walks from the root, with
//! wildcards and descendant operators in place of a fifth of the steps each, as in the experiments of
//! "Schema-Conscious Filtering of XML Documents".

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use pathcast_core::limits::Limits;
use pathcast_core::names::Names;
use pathcast_core::pattern::{LinearPath, Scope, as_linear, normalise};
use pathcast_core::schema::{Builder, Content, ElementId, Graph, PruneLimits, Pruner, Values, check};
use pathcast_core::xpath::parse;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(root)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: schema_speed FILE.dtd ROOT");
        return;
    };
    let text = match std::fs::read(&file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => return eprintln!("{file}: {error}"),
    };
    let graph = Arc::new(read(&text, &root));
    println!(
        "{} elements, {} edges, {} recursive, depth {:?}, {:?} paths",
        graph.len(),
        graph.edges(),
        graph.recursive().len(),
        graph.depth(),
        graph.path_count()
    );
    let mut names = Names::default();
    let paths = workload(&graph, 100_000, &mut names);
    let conditions: Vec<_> = paths.iter().map(LinearPath::to_condition).collect();
    let started = Instant::now();
    let possible = conditions.iter().filter(|each| check(&graph, &names, each).is_possible()).count();
    println!("check: {possible} of {} possible, {:?}", paths.len(), started.elapsed());
    for (label, limits) in [
        ("singleton", PruneLimits { singleton: true, ..PruneLimits::default() }),
        ("leading kept", PruneLimits { expand_leading: false, ..PruneLimits::default() }),
        ("default", PruneLimits::default()),
        (
            "wide",
            PruneLimits {
                max_substitutes: 1_000,
                max_length: 10_000,
                max_results: 1_000,
                ..PruneLimits::default()
            },
        ),
    ] {
        let mut pruner = Pruner::new(graph.clone(), limits);
        let started = Instant::now();
        let mut results = Vec::new();
        paths.iter().for_each(|path| results.extend(pruner.prune(path, &mut names)));
        let took = started.elapsed();
        println!(
            "prune ({label}): {} paths, descendants {} to {}, wildcards {} to {}, {took:?}",
            results.len(),
            paths.iter().map(descendants).sum::<usize>(),
            results.iter().map(descendants).sum::<usize>(),
            paths.iter().filter(|path| wildcards(path)).count(),
            results.iter().filter(|path| wildcards(path)).count(),
        );
    }
}

fn descendants(path: &LinearPath) -> usize {
    path.steps.iter().filter(|step| !step.exact).count()
}

fn wildcards(path: &LinearPath) -> bool {
    path.steps.iter().any(|step| step.min > 1) || path.tail != pathcast_core::pattern::Tail::End
}

/// Random walks as expressions, a tenth of them with a step that need not be possible.
fn workload(graph: &Graph, count: usize, names: &mut Names) -> Vec<LinearPath> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut below = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound as u64) as usize
    };
    let mut paths = Vec::with_capacity(count);
    while paths.len() < count {
        let (mut xpath, mut at, mut skipped) = (String::new(), graph.document(), false);
        for _ in 0..2 + below(7) {
            let children: Vec<ElementId> = graph.children(at).collect();
            if children.is_empty() {
                break;
            }
            at = children[below(children.len())];
            if below(5) == 0 {
                skipped = true;
                continue;
            }
            xpath.push_str(if skipped { "//" } else { "/" });
            skipped = false;
            let other = below(100) == 0;
            let name = graph.name(if other { below(graph.len()) as ElementId } else { at }).1;
            xpath.push_str(if below(5) == 0 { "*" } else { name });
        }
        let Ok(expression) = parse(&xpath, &Limits::default()) else { continue };
        let mut scope = Scope { names, namespaces: &[], ignore_namespaces: false };
        let condition = normalise(&expression, false, &mut scope).ok();
        paths.extend(condition.as_ref().and_then(as_linear));
    }
    paths
}

/// Elements and attributes of a DTD without conditional sections.
fn read(text: &str, root: &str) -> Graph {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        plain.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let mut entities: HashMap<String, String> = HashMap::new();
    let mut builder = Builder::default();
    for declaration in plain.split("<!").skip(1) {
        let declaration = declaration.rsplit_once('>').map_or(declaration, |(inside, _)| inside);
        if let Some(entity) = declaration.strip_prefix("ENTITY") {
            let entity = entity.trim().trim_start_matches('%').trim();
            let quote = if entity.contains('"') && !entity.contains('\'') { '"' } else { '\'' };
            let mut parts = entity.splitn(3, quote);
            if let (Some(name), Some(value)) = (parts.next(), parts.next()) {
                entities.entry(name.trim().into()).or_insert_with(|| value.into());
            }
            continue;
        }
        let mut declaration = declaration.to_owned();
        for _ in 0..8 {
            for (name, value) in &entities {
                declaration = declaration.replace(&format!("%{name};"), value);
            }
        }
        let mut words = declaration.split_whitespace();
        match (words.next(), words.next()) {
            (Some("ELEMENT"), Some(name)) => {
                let element = builder.element("", name);
                let model: String = words.collect::<Vec<_>>().join(" ");
                let content = match model.as_str() {
                    "EMPTY" => Content::Empty,
                    "ANY" => Content::Any,
                    _ if model.contains("#PCDATA") => Content::Mixed,
                    _ => Content::Elements,
                };
                builder.declare(element, content);
                if !matches!(content, Content::Empty | Content::Any) {
                    for child in model.split([' ', '(', ')', '|', ',', '?', '*', '+']) {
                        if !child.is_empty() && !child.starts_with('#') {
                            let child = builder.element("", child);
                            builder.child(element, child);
                        }
                    }
                }
            }
            (Some("ATTLIST"), Some(name)) => {
                let element = builder.element("", name);
                let words: Vec<&str> = words.collect();
                for pair in words.windows(2) {
                    if matches!(pair[1], "CDATA" | "ID" | "IDREF" | "NMTOKEN" | "NMTOKENS") {
                        builder.attribute(element, "", pair[0], false, Values::Free);
                    }
                }
            }
            _ => {}
        }
    }
    let root = builder.element("", root);
    builder.root(root);
    builder.build()
}
