//! Constructors that keep conditions in normal form.

use super::condition::{Axis, Branch, Condition, FirstStep, NameTest, NodePattern, NodeTest};

/// All of them.
pub fn and(conditions: impl IntoIterator<Item = Condition>) -> Condition {
    let mut flat = Vec::new();
    for condition in conditions {
        match condition {
            Condition::True => {}
            Condition::False => return Condition::False,
            Condition::And(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    several(flat, Condition::True, Condition::And)
}

/// Any of them.
pub fn or(conditions: impl IntoIterator<Item = Condition>) -> Condition {
    let mut flat = Vec::new();
    for condition in conditions {
        match condition {
            Condition::False => {}
            Condition::True => return Condition::True,
            Condition::Or(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    several(flat, Condition::False, Condition::Or)
}

fn several(
    mut flat: Vec<Condition>,
    none: Condition,
    join: impl FnOnce(Vec<Condition>) -> Condition,
) -> Condition {
    if flat.len() > 1 {
        flat.sort_unstable();
        flat.dedup();
    }
    match flat.len() {
        0 => none,
        1 => flat.swap_remove(0),
        _ => join(flat),
    }
}

/// The opposite.
pub fn not(condition: Condition) -> Condition {
    match condition {
        Condition::True => Condition::False,
        Condition::False => Condition::True,
        Condition::Not(inner) => *inner,
        other => Condition::Not(Box::new(other)),
    }
}

/// A constant.
pub fn constant(value: bool) -> Condition {
    if value { Condition::True } else { Condition::False }
}

/// A test on the node itself.
pub fn is(test: NodeTest) -> Condition {
    if test == NodeTest::Node { Condition::True } else { Condition::Is(test) }
}

/// The document node satisfies it, asked from anywhere.
pub fn root(condition: Condition) -> Condition {
    match condition {
        Condition::True | Condition::False | Condition::Root(_) => condition,
        other => Condition::Root(Box::new(other)),
    }
}

/// An attribute so named whose value satisfies a condition.
pub fn attribute(name: NameTest, condition: Condition) -> Condition {
    match condition {
        Condition::False => Condition::False,
        other => Condition::Attribute(name, Box::new(other)),
    }
}

/// Some node along the axis fits.
pub fn exists(axis: Axis, test: NodeTest, condition: Condition) -> Condition {
    let (test, condition) = narrow(test, condition);
    if condition == Condition::False {
        return Condition::False;
    }
    let Axis::Down { min, exact } = axis else {
        return Condition::Exists(axis, Box::new(NodePattern { test, condition }));
    };
    if min == 0 && exact {
        return and([is(test), condition]);
    }
    let wild = match test {
        NodeTest::Node => true,
        NodeTest::Element(NameTest::Any) => min > 0,
        _ => false,
    };
    if wild {
        match condition {
            // A wildcard that only leads on is a longer gap. The node it stood for is an ancestor of the one found,
            // hence an element; only "zero or more levels" may end on the node itself, which must be an element too.
            Condition::Exists(Axis::Down { min: further, exact: exactly }, next)
                if further > 0 || test == NodeTest::Node || matches!(next.test, NodeTest::Element(_)) =>
            {
                let axis = Axis::Down { min: min + further, exact: exact && exactly };
                return exists(axis, next.test, next.condition);
            }
            // There is a node `min` or more levels down exactly when there is one `min` levels down.
            Condition::True => {
                if min == 0 {
                    return Condition::True;
                }
                let pattern = NodePattern { test, condition: Condition::True };
                return Condition::Exists(Axis::Down { min, exact: true }, Box::new(pattern));
            }
            _ => {}
        }
    }
    Condition::Exists(axis, Box::new(NodePattern { test, condition }))
}

/// Moves what a condition says of the node's kind into its test: `*[self::a]` is `a`, only elements have attributes.
pub(super) fn narrow(test: NodeTest, condition: Condition) -> (NodeTest, Condition) {
    let condition = if matches!(test, NodeTest::Element(_)) { of_element(condition) } else { condition };
    if !matches!(test, NodeTest::Node | NodeTest::Element(NameTest::Any)) {
        return (test, condition);
    }
    let (mut narrower, mut rest) = (test.clone(), Vec::new());
    let conjuncts = match condition {
        Condition::And(conjuncts) => conjuncts,
        single => vec![single],
    };
    for conjunct in conjuncts {
        match conjunct {
            Condition::Is(element @ NodeTest::Element(_))
                if matches!(narrower, NodeTest::Node | NodeTest::Element(NameTest::Any)) =>
            {
                narrower = element;
            }
            other => rest.push(other),
        }
    }
    if narrower == NodeTest::Node && rest.iter().any(|conjunct| matches!(conjunct, Condition::Attribute(..)))
    {
        narrower = NodeTest::Element(NameTest::Any);
    }
    // That it is an element may say more of it.
    if narrower == test { (narrower, and(rest)) } else { narrow(narrower, and(rest)) }
}

/// What a condition says when it is asked of an element.
fn of_element(condition: Condition) -> Condition {
    match condition {
        Condition::Is(NodeTest::Element(NameTest::Any)) => Condition::True,
        Condition::Is(test) if !matches!(test, NodeTest::Element(_)) => Condition::False,
        Condition::And(all) => and(all.into_iter().map(of_element)),
        Condition::Or(any) => or(any.into_iter().map(of_element)),
        Condition::Not(inner) => not(of_element(*inner)),
        other => other,
    }
}

/// Branches under different children in this order; one alone is a plain existence.
pub fn ordered(mut branches: Vec<Branch>) -> Condition {
    if branches.iter().any(
        |branch| matches!(branch, Branch::Exists { pattern, .. } if pattern.condition == Condition::False),
    ) {
        return Condition::False;
    }
    match (branches.len(), branches.pop()) {
        (1, Some(Branch::Exists { min, exact, pattern })) => {
            exists(Axis::Down { min, exact }, pattern.test, pattern.condition)
        }
        (1, Some(Branch::First(path, test))) => first(path, test),
        (_, Some(last)) => {
            branches.push(last);
            Condition::Ordered(branches.into_iter().map(canonical_branch).collect())
        }
        (_, None) => Condition::True,
    }
}

/// Merges the gaps of a branch as [`exists`] does.
fn canonical_branch(branch: Branch) -> Branch {
    match branch {
        Branch::Exists { min, exact, pattern } => {
            match exists(Axis::Down { min, exact }, pattern.test.clone(), pattern.condition.clone()) {
                Condition::Exists(Axis::Down { min, exact }, pattern) => {
                    Branch::Exists { min, exact, pattern: *pattern }
                }
                _ => Branch::Exists { min, exact, pattern },
            }
        }
        first => first,
    }
}

/// The first node of a path passes a test; the path's existence is said as well, because engines can look for it.
pub fn first(path: Vec<FirstStep>, test: crate::values::ValueTest) -> Condition {
    let found = path.iter().rev().fold(Condition::True, |condition, step| match step {
        FirstStep::Node(axis, pattern) => {
            exists(*axis, pattern.test.clone(), and([pattern.condition.clone(), condition]))
        }
        FirstStep::Attribute(name, inner) => attribute(*name, inner.clone()),
    });
    and([found, Condition::First(path, test)])
}

/// What a condition says when it is asked of the document node: it is no element, has no siblings and no attributes.
pub fn at_document(condition: Condition) -> Condition {
    match condition {
        Condition::And(all) => and(all.into_iter().map(at_document)),
        Condition::Or(any) => or(any.into_iter().map(at_document)),
        Condition::Not(inner) => not(at_document(*inner)),
        Condition::Root(inner) => *inner,
        Condition::Is(_) | Condition::Attribute(..) => Condition::False,
        Condition::Exists(axis, pattern) => match axis {
            Axis::Down { min: 0, exact } if pattern.test != NodeTest::Node => {
                exists(Axis::Down { min: 1, exact }, pattern.test, pattern.condition)
            }
            Axis::Down { .. } => Condition::Exists(axis, pattern),
            _ => Condition::False,
        },
        other => other,
    }
}
