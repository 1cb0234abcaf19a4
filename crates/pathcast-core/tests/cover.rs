//! Containment from outside: the corrected cases of the papers, forests that come and go, and hostile sizes.

use std::sync::Arc;

use pathcast_core::cover::{Expression, Forest, Inserted, Registry, leaf_paths};
use pathcast_core::hashing::Seed;
use pathcast_core::limits::Limits;
use pathcast_core::pattern::Written;

fn expression(registry: &mut Registry, xpath: &str) -> Arc<Expression> {
    registry.expression(&Written::new(xpath, false, &Vec::new())).expect("an expression")
}

fn covers(general: &str, specific: &str) -> bool {
    let mut registry = Registry::new(Limits::default(), Seed::new(7));
    let (general, specific) = (expression(&mut registry, general), expression(&mut registry, specific));
    registry.covers(&general, &specific)
}

fn overlaps(advertisement: &str, subscription: &str) -> bool {
    let mut registry = Registry::new(Limits::default(), Seed::new(7));
    let advertisement = registry.advertisement(&[advertisement.to_owned()], &[]).expect("an advertisement");
    let subscription = expression(&mut registry, subscription);
    registry.overlaps(&advertisement, &subscription, false)
}

#[test]
fn what_the_published_algorithms_get_wrong() {
    assert!(overlaps("/a/*/b/a", "a/b/a"));
    assert!(!overlaps("/a/b/a/b", "a/*/b"));
    assert!(overlaps("/a(/b)+(/c)+/d", "/a/b/b/b/c/d"));
    assert!(overlaps("/a(/b(/c)+/d)+/e", "/a/b/c/c/d/b/c/d/e"));
    assert!(covers("/*", "//a"));
    assert!(!covers("//b/*//b//*", "/a/b//b/b"));
    assert!(!covers("/a/*//a//a", "/a//a/*/a/b"));
}

#[test]
fn the_longest_paths_are_compared() {
    let long = "/a".repeat(256);
    assert!(covers("//a", &long) && covers(&long, &long) && !covers(&long, &long[2..]));
    assert!(covers(&"//a".repeat(128), &long));
    assert!(!covers(&"//a".repeat(256), &"//a".repeat(255)));
    assert!(!covers(&format!("{}//b", "//a".repeat(200)), &long));
}

/// A proof that would take for ever ends, and ends with no.
#[test]
fn proofs_are_bounded() {
    let branches = |name: &str| (0..60).map(|n| format!("[.//a{n}//{name}]")).collect::<String>();
    let general = format!("//x{}", branches("p"));
    let specific = format!("//x{}", "[.//a1[.//a2[.//a3][.//a4]][.//a5]]".repeat(25));
    assert!(!covers(&general, &specific));
    let choices = (0..11).map(|n| format!("[b{n} or c{n}]")).collect::<String>();
    let mut registry = Registry::new(Limits::default(), Seed::new(7));
    if let Ok(choices) = registry.expression(&Written::new(&format!("/a{choices}"), false, &Vec::new())) {
        let other = expression(&mut registry, "/a[z]");
        assert!(!registry.covers(&other, &choices));
    }
}

#[test]
fn a_forest_keeps_what_nothing_covers_at_its_roots() {
    let mut registry = Registry::new(Limits::default(), Seed::new(7));
    let mut forest = Forest::default();
    let texts = ["/a/b/c", "/a/b", "/a//c", "//c", "/x", "/a/*"];
    let all: Vec<_> = texts.iter().map(|text| expression(&mut registry, text)).collect();
    let mut insert = |at: usize| forest.insert(at as u32, all[at].clone(), &registry);
    assert_eq!(insert(0), Inserted::Root(vec![]));
    assert_eq!(insert(1), Inserted::Root(vec![0]));
    assert_eq!(insert(2), Inserted::Root(vec![]));
    assert_eq!(insert(3), Inserted::Root(vec![2]));
    assert_eq!(insert(4), Inserted::Root(vec![]));
    assert_eq!(insert(5), Inserted::Root(vec![1]));
    assert_eq!((forest.len(), forest.root_count()), (6, 3));
    let removed = forest.remove(5, &registry).unwrap();
    assert_eq!((removed.was_root, removed.surfaced), (true, vec![1]));
    let removed = forest.remove(1, &registry).unwrap();
    // /a/b/c is covered by //c as well.
    assert_eq!((removed.was_root, removed.surfaced), (true, vec![]));
    let removed = forest.remove(3, &registry).unwrap();
    assert!(removed.was_root);
    assert_eq!(removed.surfaced, vec![2]);
    for handle in [0, 2, 4] {
        forest.remove(handle, &registry).unwrap();
    }
    assert!(forest.is_empty() && forest.remove(0, &registry).is_none());
}

/// Many expressions without a linear path, or with one and the same: compared with few, and never lost.
#[test]
fn hostile_sets_stay_cheap() {
    let mut registry = Registry::new(Limits::default(), Seed::new(7));
    let mut forest = Forest::default();
    for number in 0..900_u32 {
        let text = match number % 3 {
            0 => format!("not(//a{number})"),
            1 => format!("/a/b[. = {number}]"),
            _ => format!("/a[c = 'x{number}']/b"),
        };
        let made = expression(&mut registry, &text);
        assert_eq!(forest.insert(number, made, &registry), Inserted::Root(vec![]), "{text}");
    }
    assert_eq!(forest.root_count(), 900);
    for number in 0..900 {
        assert!(forest.remove(number, &registry).unwrap().surfaced.is_empty());
    }
    assert!(forest.is_empty());
}

/// A number generator that is the same everywhere.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }

    fn path(&mut self, steps: u64) -> String {
        (0..1 + self.below(steps))
            .map(|_| format!("{}{}", self.pick(&["/", "/", "/", "//"]), self.pick(&["a", "b", "c", "*"])))
            .collect()
    }

    fn predicate(&mut self) -> String {
        let name = self.pick(&["a", "b", ".//c", "*", "@x", "@y", "b/@x"]);
        match self.below(9) {
            0 | 1 => format!("[{name}]"),
            2 => format!("[{name} = {}]", self.below(3)),
            3 => format!("[{name} = '{}']", self.below(3)),
            4 => format!("[{name} > {}]", self.below(3)),
            5 => format!("[{name} >= 1][{name} <= {}]", 1 + self.below(2)),
            6 => format!("[{name} = 1 or {name} = {}]", self.below(3)),
            7 => format!("[not({name})]"),
            _ => format!("[a{}]", self.predicate()),
        }
    }

    /// A plain path, or one with predicates here and there.
    fn expression(&mut self) -> String {
        let mut text = self.path(3);
        for _ in 0..self.below(4) {
            text.push_str(&self.predicate());
            if self.below(2) == 0 {
                text.push_str(&self.path(2));
            }
        }
        text
    }
}

/// Whatever comes and goes: no root covers another, and what is said to have changed has.
#[test]
fn a_forest_of_tree_patterns_misses_nothing() {
    for seed in 0..40 {
        let mut draw = Draw(seed);
        let mut registry = Registry::new(Limits::default(), Seed::new(7));
        let mut forest = Forest::default();
        let mut members: Vec<Option<(String, Arc<Expression>)>> = Vec::new();
        let mut roots = std::collections::BTreeSet::new();
        for step in 0..240_u32 {
            let gone = draw.below(4) == 0 && !members.is_empty();
            if gone {
                let at = draw.below(members.len() as u64) as usize;
                if members[at].take().is_some() {
                    let removed = forest.remove(at as u32, &registry).unwrap();
                    assert_eq!(removed.was_root, roots.remove(&(at as u32)));
                    roots.extend(removed.surfaced);
                    removed.hidden.iter().for_each(|root| assert!(roots.remove(root)));
                }
            } else {
                let text = draw.expression();
                let made = expression(&mut registry, &text);
                let handle = members.len() as u32;
                members.push(Some((text, made.clone())));
                if let Inserted::Root(hidden) = forest.insert(handle, made, &registry) {
                    roots.insert(handle);
                    hidden.iter().for_each(|root| assert!(roots.remove(root)));
                }
            }
            if step % 24 != 0 {
                continue;
            }
            for (at, member) in members.iter().enumerate() {
                let Some((text, specific)) = member else { continue };
                assert_eq!(forest.is_root(at as u32), roots.contains(&(at as u32)), "seed {seed}: {text}");
                if !roots.contains(&(at as u32)) {
                    continue;
                }
                let by = roots.iter().find(|&&root| {
                    let general = &members[root as usize].as_ref().unwrap().1;
                    root as usize != at && registry.covers(general, specific)
                });
                let by = by.map(|&root| members[root as usize].as_ref().unwrap().0.as_str());
                assert_eq!(by, None, "seed {seed}: {text}");
            }
        }
        for (at, member) in members.iter().enumerate() {
            assert!(member.is_none() || forest.remove(at as u32, &registry).is_some());
        }
        assert!(forest.is_empty());
    }
}

#[test]
fn paths_of_a_document() {
    let found =
        leaf_paths(b"<a xmlns:p='urn:p'><b p:x='&quot;&#10;'>t<c/></b><p:d/><p:d/></a>", &Limits::default())
            .unwrap();
    let texts: Vec<_> = found.iter().map(|path| path.xml.as_str()).collect();
    assert_eq!(
        texts,
        ["<a><b xmlns:a0=\"urn:p\" a0:x=\"&quot;&#10;\"><c/></b></a>", "<a><n:d xmlns:n=\"urn:p\"/></a>"]
    );
    assert_eq!(found[1].names, [("".into(), "a".into()), ("urn:p".into(), "d".into())]);
    assert!(leaf_paths(b"<a><b></a>", &Limits::default()).is_err());
}

/// Many leaves below a long way take more than a document may.
#[test]
fn paths_of_a_deep_document_are_bounded() {
    let mut text = String::new();
    (0..1_000).for_each(|_| text.push_str("<a>"));
    (0..60_000).for_each(|n| text.push_str(&format!("<b x='{n}'/>")));
    (0..1_000).for_each(|_| text.push_str("</a>"));
    let error = leaf_paths(text.as_bytes(), &Limits::default()).unwrap_err();
    assert!(error.reason.contains("64 MiB"), "{error}");
}
