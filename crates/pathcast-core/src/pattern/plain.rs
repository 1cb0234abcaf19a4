//! Paths of nothing but `/`, `//`, `*` and names, read from left to right: most subscriptions are such paths, and to read
//! one like this takes a fraction of the time that its tree takes.

use super::linear::{LinearPath, LinearStep, Tail};
use super::node::NameTest;
use super::scope::Scope;
use super::written::Written;
use crate::limits::Limits;

/// The path that an expression is, if it is plain and no limit has to be looked at; else it is to be parsed. It is what
/// parsing gives.
pub fn plain_path(written: &Written, scope: &mut Scope<'_>, limits: &Limits) -> Option<LinearPath> {
    let Written { xpath, ordered: false, variables, .. } = written else { return None };
    let within = xpath.len() <= limits.expression_bytes && limits.expansion > 0;
    // Looked at before any name gets a number: a name that is only in refused expressions has none.
    if !within || !variables.is_empty() || !is_plain(xpath, limits.steps) {
        return None;
    }
    let mut steps = Vec::with_capacity(STEPS);
    let (mut min, mut exact) = (1, true);
    for part in parts(&xpath[1..]) {
        match part {
            "" => exact = false,
            "*" => min += 1,
            name => {
                steps.push(LinearStep { min, exact, name: NameTest::Name(scope.element(name)) });
                (min, exact) = (1, true);
            }
        }
    }
    // That there are elements further down says no more than that there are elements down to there.
    let tail = if min == 1 { Tail::End } else { Tail::Wild(min - 1) };
    Some(LinearPath { steps, tail })
}

/// Most paths have no more names.
const STEPS: usize = 8;

/// What lies between slashes. Names are short: to look at each byte is quicker than to search.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    let mut from = 0;
    path.as_bytes().split(|&byte| byte == b'/').map(move |part| {
        let at = from;
        from += part.len() + 1;
        &path[at..at + part.len()]
    })
}

/// Whether a text is a path of at most so many steps, each `/` counted as one.
fn is_plain(text: &str, steps: usize) -> bool {
    let Some(path) = text.as_bytes().strip_prefix(b"/") else { return false };
    let mut descends = false;
    for (at, part) in path.split(|&byte| byte == b'/').enumerate() {
        let fits = part == b"*" || if part.is_empty() { !descends } else { is_name(part) };
        if !fits || at >= steps {
            return false;
        }
        descends = part.is_empty();
    }
    !descends
}

/// Whether it is a name, of those that are easily told.
fn is_name(name: &[u8]) -> bool {
    let starts = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.first().is_some_and(|&first| starts(first))
        && name.iter().all(|&byte| starts(byte) || byte.is_ascii_digit() || matches!(byte, b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Names;
    use crate::pattern::as_linear;

    /// What the two ways of reading make of a text.
    fn both(text: &str, namespaces: &[(Box<str>, Box<str>)]) -> (Option<LinearPath>, Option<LinearPath>) {
        let limits = Limits::default();
        let mut names = Names::default();
        let written = Written { xpath: text.into(), ..Written::default() };
        let mut scope = Scope { names: &mut names, namespaces: &[namespaces], ignore_namespaces: false };
        let plain = plain_path(&written, &mut scope, &limits);
        let parsed = written.condition(&mut scope, &limits).ok();
        (plain, parsed.and_then(|condition| as_linear(&condition)))
    }

    #[test]
    #[cfg_attr(miri, ignore = "too slow there")]
    fn a_plain_path_is_what_parsing_gives() {
        let parts = ["/a", "//a", "/*", "//*", "/b-1.c", "/_", "/div", "//or"];
        let mut texts = vec![String::new()];
        for _ in 0..4 {
            let longer = texts.iter().flat_map(|text| parts.iter().map(move |part| format!("{text}{part}")));
            texts = longer.collect();
            for text in &texts {
                for namespaces in [vec![], vec![("".into(), "urn:x".into())]] {
                    let (plain, parsed) = both(text, &namespaces);
                    assert_eq!(plain, parsed, "{text}");
                    assert!(plain.is_some(), "{text}");
                }
            }
        }
    }

    #[test]
    fn anything_else_is_parsed() {
        let others = [
            "",
            "/",
            "//",
            "a",
            "/a/",
            "/a//",
            "///a",
            "/a///b",
            "/a/**",
            "/a*",
            "/*a",
            "/1",
            "/-a",
            "/a b",
            "/a:b",
            "/a/@b",
            "/a[b]",
            "/a/..",
            "/.",
            "/a/text()",
            "/\u{e9}",
            " /a",
            "/a/child::b",
            "/a|/b",
        ];
        for text in others {
            assert_eq!(both(text, &[]).0, None, "{text}");
        }
    }

    #[test]
    fn limits_are_left_to_parsing() {
        let mut names = Names::default();
        let mut scope = Scope { names: &mut names, namespaces: &[], ignore_namespaces: false };
        let written = Written { xpath: "/a//b/c".into(), ..Written::default() };
        for (steps, expression_bytes, fits) in [(4, 7, true), (3, 7, false), (4, 6, false)] {
            let limits = Limits { steps, expression_bytes, ..Limits::default() };
            assert_eq!(plain_path(&written, &mut scope, &limits).is_some(), fits);
        }
        for other in [
            Written { ordered: true, ..written.clone() },
            Written { variables: vec![("x".into(), crate::xpath::Binding::Boolean(true))], ..written },
        ] {
            assert_eq!(plain_path(&other, &mut scope, &Limits::default()), None);
        }
    }
}
