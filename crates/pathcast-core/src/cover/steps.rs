//! A path as its steps, for whoever makes one path of two.

use crate::limits::Limits;
use crate::xpath::ast::{Axis, Expr, NodeTest, Origin, Step};
use crate::xpath::{XPathError, parse};

/// One step: whether it may lie any number of levels below the last, and the name as written, or `*`.
pub type PlainStep = (bool, String);

/// The steps of a path of names and wildcards; nothing for any other expression. A relative path may start anywhere.
///
/// # Errors
/// It is outside the language.
pub fn plain_steps(xpath: &str, limits: &Limits) -> Result<Option<Vec<PlainStep>>, XPathError> {
    Ok(match parse(xpath, limits)? {
        Expr::Path(path) if !matches!(path.origin, Origin::Filter(..)) => {
            steps(&path.steps, !path.absolute())
        }
        _ => None,
    })
}

fn steps(path: &[Step<'_>], relative: bool) -> Option<Vec<PlainStep>> {
    let mut found = Vec::with_capacity(path.len());
    let mut below = relative;
    for step in path {
        if !step.predicates.is_empty() {
            return None;
        }
        match (step.axis, step.test) {
            (Axis::DescendantOrSelf, NodeTest::Node) => {
                below = true;
                continue;
            }
            (Axis::Child, _) => {}
            (Axis::Descendant, _) => below = true,
            _ => return None,
        }
        let name = match step.test {
            NodeTest::Any => "*".to_owned(),
            NodeTest::Name(Some(prefix), local) => format!("{prefix}:{local}"),
            NodeTest::Name(None, local) => local.to_owned(),
            _ => return None,
        };
        found.push((below, name));
        below = false;
    }
    (!below && !found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(xpath: &str) -> Option<String> {
        let found = plain_steps(xpath, &Limits::default()).unwrap()?;
        Some(found.iter().map(|(below, name)| format!("{}{name}", if *below { "//" } else { "/" })).collect())
    }

    #[test]
    fn paths_of_names_and_wildcards() {
        for (xpath, steps) in [
            ("/a//body.head/*", "/a//body.head/*"),
            ("a/b", "//a/b"),
            ("/child::a/descendant::n:b", "/a//n:b"),
            ("/a/descendant-or-self::node()/b", "/a//b"),
            (" //a ", "//a"),
        ] {
            assert_eq!(shown(xpath).as_deref(), Some(steps), "{xpath}");
        }
    }

    #[test]
    fn everything_else() {
        for xpath in ["/", "/a[b]", "/a/@b", "a | b", "not(a)", "/a/text()", "/n:*", "//.", "/a/."] {
            assert_eq!(shown(xpath), None, "{xpath}");
        }
        assert!(plain_steps("/a[", &Limits::default()).is_err());
    }
}
