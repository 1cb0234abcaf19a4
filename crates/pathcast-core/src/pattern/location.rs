//! Paths: the condition that a chain of steps puts on the node it starts from.
//!
//! From the last step to the first. A step that conditions can say is a gap to a node with its predicates. Some that look
//! back or count are rewritten to it: `b/..` from a node is that node with a `b`, `//b/ancestor::a` is an `a` with a `b`
//! below, `a[1]` is an `a` without an `a` before it. From any other step on, the rest of the path is a typed expression,
//! beside what it implies.

use super::build::{and, at_document, attribute, exists, is, narrow, not, or, root};
use super::condition::{Axis, Condition, NodeTest};
use super::place::{Leaf, Place};
use super::scope::{Scope, attribute_name, node_test};
use super::steps::{Position, direction, leads, position, returns, sayable};
use super::typed::{typed, typed_steps};
use super::upward::{lifted, under_ancestor};
use super::weaken::weaken;
use crate::xpath::XPathError;
use crate::xpath::ast::{self, Expr, Origin, Path, Step};

impl Scope<'_> {
    /// Any of some paths.
    pub(super) fn union(
        &mut self,
        paths: &[Path<'_>],
        leaf: &Leaf<'_, '_>,
        place: Place,
    ) -> Result<Condition, XPathError> {
        let terms: Result<Vec<_>, _> = paths.iter().map(|path| self.anchored(path, leaf, place)).collect();
        Ok(or(terms?))
    }

    /// A path that ends in a node which satisfies `leaf`, asked where the expression stands.
    pub(super) fn anchored(
        &mut self,
        path: &Path<'_>,
        leaf: &Leaf<'_, '_>,
        place: Place,
    ) -> Result<Condition, XPathError> {
        if let Origin::Filter(start, predicates) = &path.origin {
            return self.filtered(path, start, predicates, leaf, place);
        }
        let from_root = path.absolute() || place != Place::Predicate;
        let anywhere = !path.absolute() && place == Place::Top;
        if from_root && let Some(steps) = under_ancestor(&path.steps, anywhere) {
            return self.anchored(&Path { steps, ..path.clone() }, leaf, place);
        }
        let found = match self.at_ancestors(&path.steps, anywhere, leaf)? {
            Some(found) if from_root => return Ok(asked(found, place)),
            _ => self.steps(&path.steps, leaf)?,
        };
        Ok(match (place, path.absolute()) {
            (Place::Top, false) => exists(Axis::DESCENDANT_OR_SELF, NodeTest::Node, found),
            (Place::Predicate, false) => found,
            _ => asked(found, place),
        })
    }

    /// `(x)[p]/y`: without positions the predicates may as well stand behind a last step `self::node()` of x.
    fn filtered(
        &mut self,
        path: &Path<'_>,
        start: &Expr<'_>,
        predicates: &[Expr<'_>],
        leaf: &Leaf<'_, '_>,
        place: Place,
    ) -> Result<Condition, XPathError> {
        let free: Vec<_> = predicates.iter().filter(|each| !each.is_positional()).cloned().collect();
        let paths = match start {
            Expr::Path(one) => std::slice::from_ref(one),
            Expr::Union(paths) => paths,
            _ => &[],
        };
        let mut found = Vec::new();
        for start in paths {
            let mut steps = start.steps.clone();
            if !free.is_empty() {
                let (axis, test) = (ast::Axis::SelfNode, ast::NodeTest::Node);
                steps.push(Step { axis, test, predicates: free.clone(), column: path.column });
            }
            steps.extend(path.steps.iter().cloned());
            let whole = Path { origin: start.origin.clone(), steps, column: path.column };
            found.push(self.anchored(&whole, leaf, place)?);
        }
        let found = if paths.is_empty() { Condition::True } else { or(found) };
        // Of some nodes there is a first and a last.
        let any_will_do = path.steps.is_empty()
            && leaf.comparison.is_none()
            && matches!(predicates, [only] if matches!(position(only), Some(Position::First | Position::Last)));
        if !paths.is_empty() && (free.len() == predicates.len() || any_will_do) {
            return Ok(found);
        }
        let whole = Expr::Path(path.clone());
        let exact = match leaf.comparison {
            Some((comparison, constant)) => {
                let (nodes, constant) = (Box::new(whole), Box::new(constant.clone()));
                self.typed_condition(&Expr::Compare(comparison, nodes, constant, path.column), place)?
            }
            None => Condition::Typed(typed(&whole, place, self)?),
        };
        Ok(and([weaken(&found), exact]))
    }

    /// `//t/ancestor::u` from the document node: some u has a t below, or is one.
    fn at_ancestors(
        &mut self,
        chain: &[Step<'_>],
        anywhere: bool,
        leaf: &Leaf<'_, '_>,
    ) -> Result<Option<Condition>, XPathError> {
        let chain = match chain.split_first() {
            Some((first, rest)) if !anywhere && leads(first) => rest,
            _ if anywhere => chain,
            _ => return Ok(None),
        };
        let [low, high, rest @ ..] = chain else { return Ok(None) };
        let below = match high.axis {
            ast::Axis::Ancestor => Axis::DESCENDANT,
            ast::Axis::AncestorOrSelf => Axis::DESCENDANT_OR_SELF,
            _ => return Ok(None),
        };
        let suits = low.axis == ast::Axis::Child;
        if !suits || [low, high].iter().any(|step| step.predicates.iter().any(Expr::is_positional)) {
            return Ok(None);
        }
        let below = exists(below, node_test(low, self)?, self.predicates(low)?);
        let own = and([self.predicates(high)?, below, self.steps(rest, leaf)?]);
        Ok(Some(exists(Axis::DESCENDANT_OR_SELF, node_test(high, self)?, own)))
    }

    /// The condition that a chain of steps puts on the node it starts from.
    pub(crate) fn steps(&mut self, chain: &[Step<'_>], leaf: &Leaf<'_, '_>) -> Result<Condition, XPathError> {
        let chain = &*lifted(chain);
        // By step: what holds for the node that it starts from; the two behind the current one are enough.
        let (mut next, mut after) = (leaf.condition.clone(), Condition::True);
        let mut at = chain.len();
        while at > 0 {
            at -= 1;
            let step = &chain[at];
            let found = if at > 0 && returns(&chain[at - 1], step) {
                Condition::True // said with the step before
            } else if let Some(up) = chain.get(at + 1).filter(|up| returns(step, up)) {
                self.returned(step, up, after)?
            } else if sayable(step, &chain[at + 1..]) {
                self.one(step, next.clone())?
            } else {
                let exact = Condition::Typed(typed_steps(&chain[at..], leaf.comparison, self)?);
                and([self.outline(step, &next)?, exact])
            };
            after = std::mem::replace(&mut next, found);
        }
        Ok(next)
    }

    /// A step that can be said.
    fn one(&mut self, step: &Step<'_>, next: Condition) -> Result<Condition, XPathError> {
        let test = node_test(step, self)?;
        if step.axis == ast::Axis::Attribute {
            let condition = and([self.predicates(step)?, next]);
            return Ok(
                attribute_name(step, self)?.map_or(Condition::False, |name| attribute(name, condition))
            );
        }
        let condition = and([self.counted(step, &test)?, next]);
        Ok(match step.axis {
            ast::Axis::SelfNode => {
                let (test, condition) = narrow(test, condition);
                and([is(test), condition])
            }
            axis => direction(axis).map_or(Condition::True, |axis| exists(axis, test, condition)),
        })
    }

    /// What a step that cannot be said implies: the same without positions, and nothing about what is behind it exactly.
    fn outline(&mut self, step: &Step<'_>, next: &Condition) -> Result<Condition, XPathError> {
        if step.axis == ast::Axis::Attribute {
            return Ok(
                attribute_name(step, self)?.map_or(Condition::False, |name| attribute(name, Condition::True))
            );
        }
        let Some(axis) = direction(step.axis) else { return Ok(Condition::True) };
        let mut parts = vec![next.clone()];
        for predicate in step.predicates.iter().filter(|each| !each.is_positional()) {
            parts.push(self.convert(predicate, Place::Predicate)?);
        }
        Ok(weaken(&exists(axis, node_test(step, self)?, and(parts))))
    }

    /// `b[p]/parent::a[q]` from a node: it is such an a and has such a b.
    fn returned(&mut self, down: &Step<'_>, up: &Step<'_>, next: Condition) -> Result<Condition, XPathError> {
        let has = match down.axis {
            ast::Axis::Attribute => {
                let condition = self.predicates(down)?;
                attribute_name(down, self)?.map_or(Condition::False, |name| attribute(name, condition))
            }
            _ => exists(Axis::CHILD, node_test(down, self)?, self.predicates(down)?),
        };
        let condition = and([has, self.predicates(up)?, next]);
        let test = node_test(up, self)?;
        Ok(match down.axis {
            ast::Axis::Descendant => exists(Axis::DESCENDANT_OR_SELF, test, condition),
            _ => and([is(test), condition]),
        })
    }

    /// All predicates of a step that has no positions among them.
    pub(crate) fn predicates(&mut self, step: &Step<'_>) -> Result<Condition, XPathError> {
        let all: Result<Vec<_>, _> =
            step.predicates.iter().map(|each| self.convert(each, Place::Predicate)).collect();
        Ok(and(all?))
    }

    /// The predicates of a step, positions among children said by their siblings.
    fn counted(&mut self, step: &Step<'_>, test: &NodeTest) -> Result<Condition, XPathError> {
        let mut so_far = Condition::True;
        for predicate in &step.predicates {
            let sibling = |axis: Axis| exists(axis, test.clone(), so_far.clone());
            let condition = match position(predicate).filter(|_| predicate.is_positional()) {
                None => self.convert(predicate, Place::Predicate)?,
                Some(Position::Never) => Condition::False,
                Some(Position::First) => not(sibling(Axis::PrecedingSibling)),
                Some(Position::Last) => not(sibling(Axis::FollowingSibling)),
                Some(Position::Later) => sibling(Axis::PrecedingSibling),
                Some(Position::Sooner) => sibling(Axis::FollowingSibling),
            };
            so_far = and([so_far, condition]);
        }
        Ok(so_far)
    }
}

/// A condition on the document node, asked where an expression stands.
fn asked(found: Condition, place: Place) -> Condition {
    if place == Place::Predicate { root(at_document(found)) } else { found }
}
