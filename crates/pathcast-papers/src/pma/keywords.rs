//! A path as keywords: the strings of names between its `//`.

use pathcast_core::names::NameId;
use pathcast_core::pattern::{LinearPath, NameTest, Tail};

/// What the automaton reads: the document node `#`, an element or an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Symbol(pub(super) u32);

impl Symbol {
    /// `#`; no name has the number 0.
    pub(super) const DOCUMENT: Self = Self(0);

    pub(super) fn element(name: NameId) -> Self {
        Self(name.0 << 1)
    }

    pub(super) fn attribute(name: NameId) -> Self {
        Self(name.0 << 1 | 1)
    }

    pub(super) fn is_attribute(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The keywords of a path, one or more; `None` when it holds a wildcard.
///
/// `/a/b//c/@x` is `#ab` and `c@x`. An attribute is a symbol that nothing follows, so `a//@x` is `a` and `@x`: the
/// attribute of `a` itself is one symbol after `a`.
pub(super) fn keywords(path: &LinearPath) -> Option<Vec<Vec<Symbol>>> {
    let mut keywords: Vec<Vec<Symbol>> = Vec::new();
    let mut push = |exact: bool, symbol: Symbol| match keywords.last_mut() {
        Some(last) if exact => last.push(symbol),
        None if exact => keywords.push(vec![Symbol::DOCUMENT, symbol]),
        _ => keywords.push(vec![symbol]),
    };
    for step in &path.steps {
        let NameTest::Name(name) = step.name else { return None };
        if step.min != 1 {
            return None;
        }
        push(step.exact, Symbol::element(name));
    }
    match path.tail {
        Tail::End => {}
        Tail::Attribute { min, exact, name: NameTest::Name(name) } => {
            // From the document node the nearest attribute is one level down.
            let nearest = if path.steps.is_empty() { !exact && min <= 1 } else { min == 0 };
            if !nearest {
                return None;
            }
            push(exact, Symbol::attribute(name));
        }
        Tail::Attribute { .. } | Tail::Wild(_) => return None,
    }
    Some(keywords)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathcast_core::pattern::LinearStep;

    const A: NameTest = NameTest::Name(NameId(1));
    const B: NameTest = NameTest::Name(NameId(2));

    fn split(steps: &[(u32, bool, NameTest)], tail: Tail) -> Option<Vec<Vec<u32>>> {
        let steps = steps.iter().map(|&(min, exact, name)| LinearStep { min, exact, name }).collect();
        let keywords = keywords(&LinearPath { steps, tail })?;
        Some(keywords.iter().map(|keyword| keyword.iter().map(|symbol| symbol.0).collect()).collect())
    }

    #[test]
    fn a_path_falls_apart_at_its_gaps() {
        let child = (1, true, A);
        let below = (1, false, B);
        assert_eq!(split(&[child, (1, true, B)], Tail::End), Some(vec![vec![0, 2, 4]]));
        assert_eq!(split(&[below], Tail::End), Some(vec![vec![4]]));
        assert_eq!(split(&[child, below], Tail::End), Some(vec![vec![0, 2], vec![4]]));
        let attribute = |min, exact| Tail::Attribute { min, exact, name: A };
        assert_eq!(split(&[below], attribute(0, true)), Some(vec![vec![4, 3]]));
        assert_eq!(split(&[below], attribute(0, false)), Some(vec![vec![4], vec![3]]));
        assert_eq!(split(&[], attribute(1, false)), Some(vec![vec![3]]));
    }

    #[test]
    fn a_wildcard_of_any_kind_is_none_of_it() {
        let namespace = NameTest::Partial(NameId(3));
        assert_eq!(split(&[(2, true, A)], Tail::End), None);
        assert_eq!(split(&[(1, true, namespace)], Tail::End), None);
        assert_eq!(split(&[(1, true, A)], Tail::Wild(1)), None);
        assert_eq!(
            split(&[(1, true, A)], Tail::Attribute { min: 0, exact: true, name: NameTest::Any }),
            None
        );
        assert_eq!(split(&[(1, true, A)], Tail::Attribute { min: 1, exact: false, name: B }), None);
    }
}
