//! What the names in an expression mean: prefixes, a default namespace, or local names only.

use super::condition::{NameTest, NodeTest};
use crate::names::{NameId, Names, NamespaceId};
use crate::xpath::ast::{self, Step};
use crate::xpath::{XPathError, XPathErrorKind};

const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// What the names in an expression mean.
pub struct Scope<'a> {
    /// Gives names their numbers.
    pub names: &'a mut Names,
    /// Prefixes to namespace URIs, looked up from first to last; the empty prefix is the namespace of element names
    /// without one.
    pub namespaces: &'a [&'a [(Box<str>, Box<str>)]],
    /// Whether only local names count.
    pub ignore_namespaces: bool,
}

pub(crate) fn node_test(step: &Step<'_>, scope: &mut Scope<'_>) -> Result<NodeTest, XPathError> {
    Ok(match step.test {
        ast::NodeTest::Any => NodeTest::Element(NameTest::Any),
        ast::NodeTest::Name(prefix, local) => {
            NodeTest::Element(NameTest::Name(scope.name(prefix, local, true, step.column)?))
        }
        ast::NodeTest::Namespace(prefix) => NodeTest::Element(scope.namespace_test(prefix, step.column)?),
        ast::NodeTest::Local(local) => NodeTest::Element(scope.local_test(local)),
        ast::NodeTest::Uri(uri) => NodeTest::Element(scope.uri_test(uri)),
        ast::NodeTest::Expanded(uri, local) => NodeTest::Element(scope.expanded_test(uri, local)),
        ast::NodeTest::Node => NodeTest::Node,
        ast::NodeTest::Text => NodeTest::Text,
        ast::NodeTest::Comment => NodeTest::Comment,
        ast::NodeTest::Instruction(target) => NodeTest::Instruction(target.map(Into::into)),
    })
}

/// The name on the attribute axis; `None` if no attribute passes.
pub(crate) fn attribute_name(step: &Step<'_>, scope: &mut Scope<'_>) -> Result<Option<NameTest>, XPathError> {
    match step.test {
        ast::NodeTest::Any | ast::NodeTest::Node => Ok(Some(NameTest::Any)),
        ast::NodeTest::Name(prefix, local) => {
            Ok(Some(NameTest::Name(scope.name(prefix, local, false, step.column)?)))
        }
        ast::NodeTest::Namespace(prefix) => scope.namespace_test(prefix, step.column).map(Some),
        ast::NodeTest::Local(local) => Ok(Some(scope.local_test(local))),
        ast::NodeTest::Uri(uri) => Ok(Some(scope.uri_test(uri))),
        ast::NodeTest::Expanded(uri, local) => Ok(Some(scope.expanded_test(uri, local))),
        // An attribute is no such node.
        ast::NodeTest::Text | ast::NodeTest::Comment | ast::NodeTest::Instruction(_) => Ok(None),
    }
}

impl<'a> Scope<'a> {
    fn name(
        &mut self,
        prefix: Option<&str>,
        local: &str,
        element: bool,
        column: ast::Column,
    ) -> Result<NameId, XPathError> {
        let namespace = match prefix {
            Some(prefix) => self.namespace(prefix, column)?,
            None if element => return Ok(self.element(local)),
            None => NamespaceId::NONE,
        };
        Ok(self.names.intern(namespace, local))
    }

    /// The name of an element without a prefix.
    pub(super) fn element(&mut self, local: &str) -> NameId {
        let uri = if self.ignore_namespaces { None } else { self.uri("") };
        let namespace = uri.map_or(NamespaceId::NONE, |uri| self.names.intern_namespace(uri));
        self.names.intern(namespace, local)
    }

    fn namespace_test(&mut self, prefix: &str, column: ast::Column) -> Result<NameTest, XPathError> {
        if self.ignore_namespaces {
            return Ok(NameTest::Any);
        }
        let namespace = self.namespace(prefix, column)?;
        Ok(NameTest::Partial(self.names.intern(namespace, "*")))
    }

    /// A local name in any namespace.
    pub(super) fn local_test(&mut self, local: &str) -> NameTest {
        if self.ignore_namespaces {
            return NameTest::Name(self.names.intern(NamespaceId::NONE, local));
        }
        NameTest::Partial(self.names.intern(NamespaceId::ANY, local))
    }

    /// Every name of a namespace. Not for an index that ignores them.
    pub(super) fn uri_test(&mut self, uri: &str) -> NameTest {
        let namespace = self.names.intern_namespace(uri);
        NameTest::Partial(self.names.intern(namespace, "*"))
    }

    fn expanded_test(&mut self, uri: &str, local: &str) -> NameTest {
        let namespace = self.names.intern_namespace(uri);
        NameTest::Name(self.names.intern(namespace, local))
    }

    fn namespace(&mut self, prefix: &str, column: ast::Column) -> Result<NamespaceId, XPathError> {
        if self.ignore_namespaces {
            return Ok(NamespaceId::NONE);
        }
        let message = match self.uri(prefix) {
            Some(uri) if prefix == "xml" && uri != XML => {
                format!("the prefix 'xml' stands for {XML} only, and is bound to '{uri}'")
            }
            Some(uri) => return Ok(self.names.intern_namespace(uri)),
            None => {
                format!(
                    "no namespace is bound to the prefix '{prefix}'; bind it with namespaces= or --namespace"
                )
            }
        };
        Err(XPathError { kind: XPathErrorKind::UnboundPrefix, message, column: column.0 as usize })
    }

    fn uri(&self, prefix: &str) -> Option<&'a str> {
        let bound = self.namespaces.iter().flat_map(|map| map.iter()).find(|(name, _)| **name == *prefix);
        match bound {
            Some((_, uri)) => Some(uri),
            None => (prefix == "xml").then_some(XML),
        }
    }
}

/// A refusal that names a construct.
pub(crate) fn unsupported(construct: &str, column: ast::Column) -> XPathError {
    XPathError {
        kind: XPathErrorKind::Unsupported,
        message: format!("not supported: {construct}"),
        column: column.0 as usize,
    }
}
