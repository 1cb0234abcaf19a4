//! What is refused although some XPath has it: by name, and with the version that has it.
//!
//! A hint here must mean the same as what was written; where nothing does, there is none.

/// Functions of XPath 2.0 and later that are not among those taken from it.
const LATER_FUNCTIONS: [&str; 43] = [
    "abs",
    "adjust-date-to-timezone",
    "avg",
    "codepoints-to-string",
    "compare",
    "current-date",
    "current-dateTime",
    "current-time",
    "data",
    "deep-equal",
    "distinct-values",
    "encode-for-uri",
    "error",
    "exactly-one",
    "format-number",
    "head",
    "index-of",
    "insert-before",
    "max",
    "min",
    "node-name",
    "normalize-unicode",
    "one-or-more",
    "parse-xml",
    "remove",
    "replace",
    "resolve-QName",
    "reverse",
    "root",
    "round-half-to-even",
    "serialize",
    "sort",
    "string-join",
    "string-to-codepoints",
    "subsequence",
    "tail",
    "tokenize",
    "trace",
    "unordered",
    "year-from-date",
    "zero-or-one",
    "element",
    "attribute",
];

/// Why a function is refused; `None` if nobody has it.
pub(super) fn function(name: &str) -> Option<String> {
    match name {
        "id" => Some(
            "the function id() is not supported: it needs the ID types of a DTD; with an attribute that is known to \
             hold the id, write //*[@id = 'x']"
                .into(),
        ),
        "current" | "document" | "key" | "generate-id" | "system-property" | "unparsed-entity-uri" => {
            Some(format!("the function {name}() is not supported: it is of XSLT, not of XPath 1.0"))
        }
        "if" | "switch" | "typeswitch" => Some(format!("{name} is of XPath 2.0, which is not supported")),
        _ if LATER_FUNCTIONS.contains(&name) => {
            Some(format!("the function {name}() is not supported: it is of XPath 2.0 or later"))
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

/// Why an axis of XPath 1.0 is refused; `None` if it has no such axis.
pub(super) fn axis(name: &str) -> Option<&'static str> {
    (name == "namespace").then_some("the axis namespace:: is not supported")
}

pub(super) const ANY_NAMESPACE: &str =
    "*:name is of XPath 2.0, which is not supported; write *[local-name() = 'name']";

pub(super) const STEP_EXPRESSION: &str = "parentheses as a step are of XPath 2.0, which is not supported; write out each path, as in a/b | a/c for a/(b | c)";
