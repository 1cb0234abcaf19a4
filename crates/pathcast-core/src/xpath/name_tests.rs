//! Names asked for by function: `*[local-name() = 'a'][namespace-uri() = 'urn:x']` becomes a name test.
//!
//! A name test is looked up by number, a function makes a string of every node first. Only predicates before the first
//! position may move into the test, because positions count what the test and the predicates before them left.

use std::borrow::Cow;
use std::rc::Rc;

use super::ast::{Axis, Expr, Function, NodeTest, Origin, Path, Step};
use crate::chars::ncname;
use crate::limits::deeper;
use crate::values::Comparison;

/// The expression with name tests in place of functions on names.
pub(crate) fn with_name_tests<'e, 'a>(
    expression: &'e Expr<'a>,
    ignore_namespaces: bool,
) -> Cow<'e, Expr<'a>> {
    if !asks_names(expression) {
        return Cow::Borrowed(expression);
    }
    let mut own = expression.clone();
    fold(&mut own, ignore_namespaces);
    Cow::Owned(own)
}

/// The function and the text of `local-name() = 'a'`, asked of the context node.
pub(crate) fn asked_name<'a>(expression: &Expr<'a>) -> Option<(Comparison, Function, &'a str)> {
    let Expr::Compare(comparison @ (Comparison::Equal | Comparison::NotEqual), left, right, _) = expression
    else {
        return None;
    };
    let ((Expr::Call(function, arguments, _), Expr::Literal(text))
    | (Expr::Literal(text), Expr::Call(function, arguments, _))) = (&**left, &**right)
    else {
        return None;
    };
    let own = match arguments.as_slice() {
        [] => true,
        [Expr::Path(path)] => is_context(path),
        _ => false,
    };
    let names = matches!(function, Function::LocalName | Function::NamespaceUri | Function::Name);
    (own && names).then_some((*comparison, *function, text))
}

/// Whether a text is a name without a colon.
pub(crate) fn is_local(text: &str) -> bool {
    ncname(text, 0).is_ok_and(|end| end == text.len())
}

fn is_context(path: &Path<'_>) -> bool {
    let stays = |step: &Step<'_>| {
        step.axis == Axis::SelfNode && step.test == NodeTest::Node && step.predicates.is_empty()
    };
    path.origin == Origin::Context && path.steps.iter().all(stays)
}

fn asks_names(expression: &Expr<'_>) -> bool {
    let mut found = false;
    deeper(|| {
        found = matches!(expression, Expr::Call(Function::LocalName | Function::NamespaceUri, ..));
        parts(expression, &mut |part| found = found || asks_names(part));
    });
    found
}

/// Calls for each expression directly within one.
fn parts<'e, 'a>(expression: &'e Expr<'a>, each: &mut impl FnMut(&'e Expr<'a>)) {
    let path = |path: &'e Path<'a>, each: &mut dyn FnMut(&'e Expr<'a>)| {
        if let Origin::Filter(start, predicates) = &path.origin {
            each(start);
            predicates.iter().for_each(&mut *each);
        }
        path.steps.iter().flat_map(|step| &step.predicates).for_each(&mut *each);
    };
    match expression {
        Expr::Or(terms) | Expr::And(terms) | Expr::Call(_, terms, _) => terms.iter().for_each(each),
        Expr::Not(inner, _) | Expr::Negate(inner, _) => each(inner),
        Expr::Variable(_, bound, _) => each(bound),
        Expr::Compare(_, left, right, _) => [left, right].into_iter().for_each(|side| each(side)),
        Expr::Arithmetic(first, rest, _) => {
            each(first);
            rest.iter().for_each(|(_, operand)| each(operand));
        }
        Expr::Union(paths) => paths.iter().for_each(|one| path(one, each)),
        Expr::Path(one) => path(one, each),
        Expr::Literal(_) | Expr::Number(_) => {}
    }
}

fn fold(expression: &mut Expr<'_>, ignore_namespaces: bool) {
    let all = |terms: &mut [Expr<'_>]| terms.iter_mut().for_each(|term| fold(term, ignore_namespaces));
    deeper(|| match expression {
        Expr::Or(terms) | Expr::And(terms) | Expr::Call(_, terms, _) => all(terms),
        Expr::Not(inner, _) | Expr::Negate(inner, _) => fold(inner, ignore_namespaces),
        Expr::Variable(_, bound, _) => fold(Rc::make_mut(bound), ignore_namespaces),
        Expr::Compare(_, left, right, _) => {
            fold(left, ignore_namespaces);
            fold(right, ignore_namespaces);
        }
        Expr::Arithmetic(first, rest, _) => {
            fold(first, ignore_namespaces);
            rest.iter_mut().for_each(|(_, operand)| fold(operand, ignore_namespaces));
        }
        Expr::Union(paths) => paths.iter_mut().for_each(|path| fold_path(path, ignore_namespaces)),
        Expr::Path(path) => fold_path(path, ignore_namespaces),
        Expr::Literal(_) | Expr::Number(_) => {}
    });
}

fn fold_path(path: &mut Path<'_>, ignore_namespaces: bool) {
    if let Origin::Filter(start, predicates) = &mut path.origin {
        fold(start, ignore_namespaces);
        predicates.iter_mut().for_each(|predicate| fold(predicate, ignore_namespaces));
    }
    for step in &mut path.steps {
        step.predicates.iter_mut().for_each(|predicate| fold(predicate, ignore_namespaces));
        fold_step(step, ignore_namespaces);
    }
}

fn fold_step(step: &mut Step<'_>, ignore_namespaces: bool) {
    let mut predicates = std::mem::take(&mut step.predicates).into_iter();
    for predicate in predicates.by_ref() {
        if predicate.is_positional() {
            step.predicates.push(predicate);
            break;
        }
        let mut terms = match predicate {
            Expr::And(terms) => terms,
            single => vec![single],
        };
        terms.retain(|term| match narrowed(step.test, term, ignore_namespaces) {
            Some(test) => {
                step.test = test;
                false
            }
            None => true,
        });
        step.predicates.extend(Expr::all(terms));
    }
    step.predicates.extend(predicates);
}

/// The name test that says what a test and a predicate say together.
fn narrowed<'a>(test: NodeTest<'a>, predicate: &Expr<'a>, ignore_namespaces: bool) -> Option<NodeTest<'a>> {
    let (Comparison::Equal, function, text) = asked_name(predicate)? else { return None };
    match (function, test) {
        (Function::LocalName, _) if !is_local(text) => None,
        (Function::LocalName, NodeTest::Any) => Some(NodeTest::Local(text)),
        (Function::LocalName, NodeTest::Namespace(prefix)) => Some(NodeTest::Name(Some(prefix), text)),
        (Function::LocalName, NodeTest::Uri(uri)) => Some(NodeTest::Expanded(uri, text)),
        (Function::NamespaceUri, _) if ignore_namespaces => None,
        (Function::NamespaceUri, NodeTest::Any) => Some(NodeTest::Uri(text)),
        (Function::NamespaceUri, NodeTest::Local(local)) => Some(NodeTest::Expanded(text, local)),
        _ => None,
    }
}
