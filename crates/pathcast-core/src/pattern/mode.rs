//! The two ways to read an expression: unordered, as XPath does, and ordered.

use super::build::at_document;
use super::condition::Condition;
use super::ordered::ordered_expression;
use super::place::Place;
use super::scope::Scope;
use crate::xpath::ast::Expr;
use crate::xpath::{XPathError, with_name_tests};

/// The condition on the document node that an expression is.
///
/// # Errors
/// A prefix without a namespace, or a construct that the ordered mode excludes.
pub fn normalise(
    expression: &Expr<'_>,
    ordered: bool,
    scope: &mut Scope<'_>,
) -> Result<Condition, XPathError> {
    let expression = &*with_name_tests(expression, scope.ignore_namespaces);
    if ordered {
        ordered_expression(expression, scope)
    } else {
        // At the top a relative path may start anywhere in the document.
        Ok(at_document(scope.convert(expression, Place::Top)?))
    }
}
