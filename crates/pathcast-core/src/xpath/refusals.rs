//! What is XPath 1.0 but outside the subscription language, and what to write instead.
//!
//! Every core function has its line here, so that a refusal always names the construct and never guesses.

/// Why a core function is refused; `None` if XPath 1.0 has no such function.
pub(super) fn function(name: &str) -> Option<String> {
    let instead = match name {
        "position" | "last" => {
            return Some(format!(
                "positional predicates are not supported: {name}(); order can be asked for with \
                 following-sibling:: and preceding-sibling::"
            ));
        }
        "count" | "sum" => "a path alone asks whether there is such a node, not(…) whether there is none",
        "boolean" => "the expression alone is read as a yes or no",
        "true" | "false" => "leave it out of the expression",
        "string" | "number" | "normalize-space" => "compare the path itself, as in [a = 'x'] or [a = 3]",
        "name" | "local-name" | "namespace-uri" => {
            "write the name as a step, with a prefix for its namespace or prefix:* for any name in it"
        }
        "id" => "compare the attribute, as in //*[@id = 'x']",
        "lang" => "compare the attribute, as in [@xml:lang = 'en']",
        "substring-before" | "substring-after" | "substring" | "translate" => {
            "contains() and starts-with() are"
        }
        "concat" | "string-length" | "floor" | "ceiling" | "round" => "",
        _ => return None,
    };
    let separator = if instead.is_empty() { "" } else { "; " };
    Some(format!("the function {name}() is not supported{separator}{instead}"))
}

/// Why an axis of XPath 1.0 is refused; `None` if it has no such axis.
pub(super) fn axis(name: &str) -> Option<&'static str> {
    Some(match name {
        "parent" => {
            "the axis parent:: is not supported; put the condition on the parent, as in a[b] for b/parent::a"
        }
        "ancestor" => {
            "the axis ancestor:: is not supported; put the condition on the ancestor, as in a[.//b]"
        }
        "ancestor-or-self" => {
            "the axis ancestor-or-self:: is not supported; put the condition on the ancestor, as in a[.//b]"
        }
        "namespace" => "the axis namespace:: is not supported",
        _ => return None,
    })
}

pub(super) const DOUBLE_DOT: &str =
    "the parent step .. is not supported; put the condition on the parent, as in a[b] for b/..";

pub(super) const AFTER_ATTRIBUTE: &str =
    "after an attribute only . is supported; a path in a predicate of the attribute may also start with /";

pub(super) const ATTRIBUTE_TEST: &str =
    "an attribute is never such a node, so this test is not supported; write @name, @* or @node()";

pub(super) const POSITION: &str = "positional predicates are not supported: a predicate that is a number; \
                                   order can be asked for with following-sibling:: and preceding-sibling::";

pub(super) const FILTER_PREDICATE: &str = "a predicate after parentheses, a function or a constant is not \
                                           supported; write it at the step, as in //a[b]";

pub(super) const FILTER_PATH: &str = "a path that continues after parentheses, a function or a constant is not \
                                      supported; write out each path, as in a/c | b/c for (a | b)/c";

pub(super) const TWO_PATHS: &str =
    "a comparison between two paths is not supported; compare each with a string or a number";

pub(super) const BOOLEAN_OPERAND: &str =
    "a comparison with a boolean is not supported; use the condition alone, or not(…) for its opposite";
