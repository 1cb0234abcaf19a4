//! What the subscription language accepts, how it spells it, and what it refuses, with column and reason.

use pathcast_core::limits::Limits;
use pathcast_core::xpath::ast::{Axis, Comparison, Expr, NodeTest};
use pathcast_core::xpath::{XPathErrorKind, parse};

fn spelled(source: &str) -> String {
    match parse(source, &Limits::default()) {
        Ok(expression) => expression.to_string(),
        Err(error) => panic!("{source}: {error}"),
    }
}

#[test]
fn canonical_spelling() {
    for (source, expected) in [
        ("/", "/"),
        (".", "."),
        ("//*", "//*"),
        ("*//*//*", "*//*//*"),
        (" / a / b ", "/a/b"),
        ("/child::a/descendant-or-self::node()/b", "/a//b"),
        ("descendant-or-self::node()/b", "descendant-or-self::node()/b"),
        ("//descendant-or-self::node()", "//descendant-or-self::node()"),
        ("a/descendant-or-self::node()", "a/descendant-or-self::node()"),
        ("a/descendant-or-self::node()[b]/c", "a/descendant-or-self::node()[b]/c"),
        (".//b", ".//b"),
        ("self::node()/b/self::node()", "./b/."),
        ("self::node()[a]", "self::node()[a]"),
        ("attribute::x | @n:* | @*", "@x | @n:* | @*"),
        ("following-sibling::a/preceding::n:b", "following-sibling::a/preceding::n:b"),
        ("a[b][c = \"it's\"]", "a[b][c = \"it's\"]"),
        ("a[. = \"x\"]", "a[. = 'x']"),
        ("//processing-instruction( 'x' )", "//processing-instruction('x')"),
        (
            "//processing-instruction()|//comment()|text()",
            "//processing-instruction() | //comment() | text()",
        ),
        ("((a or b) or (c or d)) and (e and f)", "(a or b or c or d) and e and f"),
        ("(a and b) or c and (d)", "a and b or c and d"),
        ("(a|(b|c))|d = 3", "a | b | c | d = 3"),
        ("(//a)", "//a"),
        ("a[(b)='x']", "a[b = 'x']"),
        ("not(not(a))", "not(not(a))"),
        ("(/) or a", "(/) or a"),
        ("'x' = (/) and (/)", "'x' = (/) and /"),
        ("a | (/) or b", "a | (/) or b"),
        ("a[/]", "a[/]"),
        ("and and or or div", "and and or or div"),
        ("a[@x = - - -.50]", "a[@x = -0.5]"),
        ("a[3.<@x]", "a[3 < @x]"),
        ("a[1 = 1]['x']", "a[1 = 1]['x']"),
        ("contains(., '') or starts-with(@x,5)", "contains(., '') or starts-with(@x, 5)"),
        ("'x'", "'x'"),
        ("-3", "-3"),
        ("größe/été", "größe/été"),
        ("/größe", "/größe"),
        ("//b[text()='😀']", "//b[text() = '😀']"),
        ("@x[. = 'y' or not(. = 'z') and /a/b]/.", "@x[. = 'y' or not(. = 'z') and /a/b]/."),
    ] {
        assert_eq!(spelled(source), expected, "{source}");
        assert_eq!(spelled(expected), expected);
    }
}

#[test]
fn the_tree_has_columns() {
    let Ok(Expr::Path(path)) = parse(" /ä//b[ @x  = 3]", &Limits::default()) else { panic!("a path") };
    assert_eq!(path.column.0, 2);
    assert_eq!(path.steps.iter().map(|step| step.column.0).collect::<Vec<_>>(), [3, 4, 6]);
    assert_eq!((path.steps[1].axis, path.steps[1].test), (Axis::DescendantOrSelf, NodeTest::Node));
    let Expr::Compare(Comparison::Equal, _, _, column) = &path.steps[2].predicates[0] else { panic!("=") };
    assert_eq!(column.0, 13);
}

#[test]
fn outside_the_language() {
    for (source, column, fragment) in [
        ("a/parent::b", 3, "parent::"),
        ("a/ancestor::b", 3, "ancestor::"),
        ("ancestor-or-self::b", 1, "ancestor-or-self::"),
        ("a/..", 3, ".."),
        ("//a/namespace::x", 5, "namespace::"),
        ("a[1]", 3, "positional"),
        ("a[ (-1) ]", 4, "positional"),
        ("a[position() = 1]", 3, "position()"),
        ("a[b = last()]", 7, "last()"),
        ("a + b", 3, "arithmetic is not supported: `+`"),
        ("a[b - 1 = 2]", 5, "`-`"),
        ("a[b * 2 = 2]", 5, "`*`"),
        ("1 div 0", 3, "`div`"),
        ("a mod 2", 3, "`mod`"),
        ("a[-b = 2]", 3, "minus"),
        ("//a[b = $x]", 9, "`$x`"),
        ("count(a) > 1", 1, "count()"),
        ("a[string(b) = 'x']", 3, "string()"),
        ("a[true()]", 3, "true()"),
        ("a[number(b) = 1]", 3, "number()"),
        ("a[normalize-space(b) = 'x']", 3, "normalize-space()"),
        ("id('x')", 1, "id()"),
        ("a[string-length(b) > 1]", 3, "string-length()"),
        ("a[local-name() = 'x']", 3, "local-name()"),
        ("a[boolean(b)]", 3, "boolean()"),
        ("a[b = c]", 5, "between two paths"),
        ("a[b = (c | d)]", 5, "between two paths"),
        ("(a or b) = 'x'", 10, "boolean"),
        ("not(a) = 'x'", 8, "boolean"),
        ("'x' = contains(a, 'b')", 5, "boolean"),
        ("a = 'x' = 'y'", 9, "boolean"),
        ("(a | b)/c", 8, "continues after parentheses"),
        ("(a)//c", 4, "continues after parentheses"),
        ("(a)[b]", 4, "after parentheses"),
        ("'x'[b]", 4, "constant"),
        ("not(a)/b", 7, "function"),
        ("contains(a, b)", 1, "paths as both arguments"),
        ("a[starts-with(b or c, 'x')]", 3, "boolean argument"),
        ("contains(a | b, 'x')", 1, "union"),
        ("@x/a", 4, "after an attribute"),
        ("@x/@y", 4, "after an attribute"),
        ("@x//.", 3, "after an attribute"),
        ("@x[b]", 4, "after an attribute"),
        ("@x[following::a]", 4, "after an attribute"),
        ("@x[. = 'x' and (contains(b, 'y'))]", 26, "after an attribute"),
        ("@x/self::x", 4, "after an attribute"),
        ("//a/@text()", 5, "never such a node"),
    ] {
        let error = parse(source, &Limits::default()).expect_err(source);
        assert_eq!((error.kind, error.column), (XPathErrorKind::Unsupported, column), "{source}: {error}");
        assert!(error.message.contains(fragment), "{source}: {error}");
    }
}

#[test]
fn not_xpath() {
    for (source, column, fragment) in [
        ("", 1, "empty"),
        (" \n", 3, "empty"),
        ("//", 3, "expected a step, found the end"),
        ("a/", 3, "expected a step"),
        ("/a///b", 5, "expected a step, found `/`"),
        ("a b", 3, "expected an operator, found `b`"),
        ("a]", 2, "`]` closes nothing"),
        ("a)", 2, "`)` closes nothing"),
        ("a[b", 4, "expected ] for the [ at column 2, found the end"),
        ("(a", 3, "expected ) for the ( at column 1"),
        ("not(a", 6, "expected ) for the ( at column 4"),
        ("(a]", 3, "expected )"),
        ("a[]", 3, "the predicate is empty"),
        ("()", 2, "expected a step, found `)`"),
        ("a['x]", 3, "no closing '"),
        ("a[\"x']", 3, "no closing \""),
        ("a['\0']", 4, "U+0000"),
        ("ä['ö\u{1}']", 5, "U+0001"),
        ("a[b = 1e5]", 8, "exponent"),
        ("a[b = 1.5E-3]", 10, "exponent"),
        ("a = ", 5, "found the end"),
        ("a or", 5, "found the end"),
        ("a !b", 3, "'!'"),
        ("é#", 2, "'#'"),
        ("a:", 3, "must follow `a:`"),
        ("a: b", 3, "must follow `a:`"),
        ("a::b", 1, "unknown axis: `a`"),
        ("p:child::b", 8, "':'"),
        ("foo(a)", 1, "unknown function: `foo`"),
        ("p:not(a)", 1, "unknown function: `p:not`"),
        ("a/not(b)", 3, "cannot be a step"),
        ("a/(b | c)", 3, "expected a step, found `(`"),
        ("a/'x'", 3, "expected a step"),
        (".[a]", 2, "self::node()"),
        ("not()", 1, "not() takes one argument"),
        ("not(a, b)", 1, "not() takes one argument"),
        ("contains(a)", 1, "contains() takes two arguments"),
        ("contains()", 1, "contains() takes two arguments"),
        ("starts-with(a, 'b', 'c')", 1, "starts-with() takes two arguments"),
        ("contains(a 'b')", 12, "expected ,"),
        ("'x' | a", 1, "joins paths only"),
        ("a | (b or c)", 5, "joins paths only"),
        ("text('x')", 6, "expected )"),
        ("processing-instruction(x)", 24, "expected )"),
        ("/ or a", 6, "expected an operator, found `a`"),
        ("@", 2, "expected a step"),
        ("$", 2, "a name is missing"),
        ("a,b", 2, "expected an operator or the end, found `,`"),
    ] {
        let error = parse(source, &Limits::default()).expect_err(source);
        assert_eq!((error.kind, error.column), (XPathErrorKind::Syntax, column), "{source}: {error}");
        assert!(error.message.contains(fragment), "{source}: {error}");
    }
}

#[test]
fn a_long_name_is_cut_in_messages() {
    let error = parse(&format!("{}(a)", "f".repeat(5_000)), &Limits::default()).expect_err("unknown");
    assert!(error.message.len() < 100 && error.message.contains('…'), "{error}");
}

#[test]
fn limits_hold_and_name_themselves() {
    let limits = Limits { expression_bytes: 30, steps: 3, nesting: 2, ..Limits::default() };
    for accepted in ["/a//b//c", "a[b[c]]", "((a))", "a[not(b)]", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"] {
        assert!(parse(accepted, &limits).is_ok(), "{accepted}");
    }
    for (source, column, fragment) in [
        ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 1, "31 bytes, more than the limit of 30"),
        ("/a//b//c/d", 10, "4 steps, more than the limit of 3"),
        ("a[b]/c[.]", 8, "4 steps, more than the limit of 3"),
        ("a[b[c['x']]]", 6, "3 deep, more than the limit of 2"),
        ("(((a)))", 3, "3 deep, more than the limit of 2"),
        ("a[not((b))]", 7, "3 deep, more than the limit of 2"),
    ] {
        let error = parse(source, &limits).expect_err(source);
        assert_eq!((error.kind, error.column), (XPathErrorKind::Limit, column), "{source}: {error}");
        assert!(error.message.contains(fragment), "{source}: {error}");
    }
}
