//! What is refused although some XPath has it: by name, and with the version that has it.
//!
//! A hint here must mean the same as what was written; where nothing does, there is none.

use super::ast::NodeTest;
use super::tokens::Kind;

/// Functions of XPath 2.0 and later that are not among those taken from it, between spaces.
const LATER_FUNCTIONS: &str = "\
    QName abs accumulator-after accumulator-before adjust-date-to-timezone adjust-dateTime-to-timezone \
    adjust-time-to-timezone analyze-string apply attribute available-environment-variables avg base-uri \
    codepoint-equal codepoints-to-string collation-key collection compare contains-token current-date \
    current-dateTime current-group current-grouping-key current-time data dateTime day-from-date \
    day-from-dateTime days-from-duration deep-equal default-collation default-language distinct-values doc \
    doc-available document-uri element element-with-id encode-for-uri environment-variable error \
    escape-html-uri exactly-one filter fold-left fold-right for-each for-each-pair format-date \
    format-dateTime format-integer format-number format-time function-arity function-lookup function-name \
    has-children head hours-from-dateTime hours-from-duration hours-from-time idref implicit-timezone \
    in-scope-prefixes index-of innermost insert-before iri-to-uri item json-doc json-to-xml \
    local-name-from-QName max min minutes-from-dateTime minutes-from-duration minutes-from-time \
    month-from-date month-from-dateTime months-from-duration namespace-uri-for-prefix \
    namespace-uri-from-QName nilled node-name normalize-unicode one-or-more outermost parse-ietf-date \
    parse-json parse-xml parse-xml-fragment path prefix-from-QName random-number-generator remove replace \
    resolve-QName resolve-uri reverse root round-half-to-even schema-attribute schema-element \
    seconds-from-dateTime seconds-from-duration seconds-from-time serialize sort static-base-uri string-join \
    string-to-codepoints subsequence tail timezone-from-date timezone-from-dateTime timezone-from-time \
    tokenize trace transform unordered unparsed-text unparsed-text-available unparsed-text-lines \
    uri-collection xml-to-json year-from-date year-from-dateTime years-from-duration zero-or-one ";

/// Why a function is refused; `None` if nobody has it.
pub(super) fn function(name: &str) -> Option<String> {
    match name {
        "current"
        | "document"
        | "element-available"
        | "function-available"
        | "generate-id"
        | "key"
        | "system-property"
        | "unparsed-entity-uri" => {
            Some(format!("the function {name}() is not supported: it is of XSLT, not of XPath 1.0"))
        }
        "if" | "switch" | "typeswitch" => Some(format!("{name} is of XPath 2.0, which is not supported")),
        _ if LATER_FUNCTIONS.split(' ').any(|each| each == name) => {
            Some(format!("the function {name}() is not supported: it is of XPath 2.0 or later"))
        }
        _ => None,
    }
}

/// What XPath has in the place of a sign that other languages have; `=` is the second one of `==`.
pub(super) fn sign(character: char) -> Option<&'static str> {
    match character {
        '=' => Some("XPath compares with one =, not with =="),
        '&' => Some("XPath has no &: `and` joins conditions"),
        '!' => Some("XPath 1.0 has ! only in !=: not() negates"),
        '‘' | '’' | '‚' | '“' | '”' | '„' | '`' | '´' => {
            Some("a literal stands between ' and ' or between \" and \"")
        }
        _ => None,
    }
}

/// Why a word where an operator is expected is refused; `None` if it is no operator anywhere.
pub(super) fn operator(word: &str) -> Option<String> {
    let known = matches!(
        word,
        "eq" | "ne"
            | "lt"
            | "le"
            | "gt"
            | "ge"
            | "is"
            | "to"
            | "idiv"
            | "union"
            | "intersect"
            | "except"
            | "instance"
            | "treat"
            | "castable"
            | "cast"
            | "return"
            | "in"
            | "satisfies"
            | "then"
            | "else"
    );
    known.then(|| format!("`{word}` is an operator of XPath 2.0, which is not supported"))
}

/// Why a name that a variable follows is refused; `None` if it binds none anywhere.
pub(super) fn binder(test: NodeTest<'_>) -> Option<String> {
    let NodeTest::Name(None, word @ ("for" | "some" | "every" | "let")) = test else { return None };
    Some(format!("`{word}` is of XPath 2.0 or later, which is not supported"))
}

/// Why two tokens in a row are refused; `None` if they are no operator anywhere.
pub(super) fn pair(first: Kind<'_>, second: Kind<'_>) -> Option<&'static str> {
    match (first, second) {
        (Kind::Less, Kind::Less) => Some("`<<` is an operator of XPath 2.0, which is not supported"),
        (Kind::Greater, Kind::Greater) => Some("`>>` is an operator of XPath 2.0, which is not supported"),
        (Kind::Equal, Kind::Greater) => Some("`=>` is an operator of XPath 3.1, which is not supported"),
        (Kind::Pipe, Kind::Pipe) => Some("`||` is an operator of XPath 3.0, which is not supported"),
        _ => None,
    }
}

/// Why an axis of XPath 1.0 is refused; `None` if it has no such axis.
pub(super) fn axis(name: &str) -> Option<&'static str> {
    (name == "namespace").then_some("the axis namespace:: is not supported")
}

pub(super) const SEQUENCE: &str = "several values in parentheses are of XPath 2.0, which is not supported";

pub(super) const ANY_NAMESPACE: &str =
    "*:name is of XPath 2.0, which is not supported; write *[local-name() = 'name']";

pub(super) const STEP_EXPRESSION: &str = "parentheses as a step are of XPath 2.0, which is not supported; write out each path, as in a/b | a/c for a/(b | c)";
