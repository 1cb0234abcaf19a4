//! What the subscription language accepts, how it spells it, and what it refuses, with column and reason.

use pathcast_core::limits::Limits;
use pathcast_core::xpath::ast::{Axis, Comparison, Expr, NodeTest};
use pathcast_core::xpath::{Binding, Environment, XPathErrorKind, parse, parse_with};

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
fn the_whole_of_xpath_has_one_spelling() {
    for (source, expected) in [
        ("a/parent::node()", "a/.."),
        ("a/parent::b/ancestor-or-self::*", "a/parent::b/ancestor-or-self::*"),
        ("a[ (-1) ]", "a[-1]"),
        ("a[position()=last()-1]", "a[position() = last() - 1]"),
        ("1+2-3*4 div 5 mod 6", "1 + 2 - 3 * 4 div 5 mod 6"),
        ("(1+2)*3", "(1 + 2) * 3"),
        ("1-(2-3)", "1 - (2 - 3)"),
        ("-a|b", "-a | b"),
        ("- - a", "number(a)"),
        ("-(-(a))", "-(-a)"),
        ("(/) * 2", "(/) * 2"),
        ("a = b = c", "a = b = c"),
        ("a = (b = c)", "a = (b = c)"),
        ("a < b = c > d", "a < b = c > d"),
        ("(a or b) = true()", "(a or b) = true()"),
        ("count( a )>1", "count(a) > 1"),
        ("concat('a' , b,3)", "concat('a', b, 3)"),
        ("(//a)[2]/b", "(//a)[2]/b"),
        ("(a|b)[c]//d", "(a | b)[c]//d"),
        ("((a))/b", "(a)/b"),
        ("@x/..", "@x/.."),
        ("@x[following::a]/text()", "@x[following::a]/text()"),
        ("contains(a|b, c)", "contains(a | b, c)"),
        ("string()='x'", "string() = 'x'"),
    ] {
        assert_eq!(spelled(source), expected, "{source}");
        assert_eq!(spelled(expected), expected);
    }
}

#[test]
fn variables_are_replaced_or_kept() {
    let variables = vec![
        ("s".into(), Binding::Text("it's".into())),
        ("n".into(), Binding::Number(2.0)),
        ("b".into(), Binding::Boolean(true)),
        ("e".into(), Binding::Expression("/*/t".into())),
        ("f".into(), Binding::Expression("count($e)".into())),
    ];
    let limits = Limits::default();
    let environment = Environment::new(&variables, &limits).expect("bound");
    for (source, expected) in [
        ("//a[@t = $s][$n][$b]", "//a[@t = \"it's\"][2][true()]"),
        ("$e/u | $e", "$e/u | $e"),
        ("$f + 1", "$f + 1"),
    ] {
        let parsed = parse_with(source, &environment, &limits).expect(source);
        assert_eq!(parsed.to_string(), expected);
    }
    for (source, column, fragment) in
        [("a[$x]", 3, "`$x` is not bound"), ("$s/a", 3, "this is a value"), ("a | $f", 5, "joins paths only")]
    {
        let error = parse_with(source, &environment, &limits).expect_err(source);
        assert_eq!(error.column, column, "{source}: {error}");
        assert!(error.message.contains(fragment), "{source}: {error}");
    }
    let later = vec![("g".into(), Binding::Expression("$h".into())), ("h".into(), Binding::Number(1.0))];
    let error = Environment::new(&later, &limits).expect_err("only those before it");
    assert!(error.message.contains("in the expression of $g"), "{error}");
}

#[test]
fn outside_the_language() {
    for (source, column, fragment) in [
        ("//a/namespace::x", 5, "namespace::"),
        ("current()/a", 1, "XSLT"),
        ("replace(a, 'b', 'c')", 1, "XPath 2.0"),
        ("a eq 'x'", 3, "`eq` is an operator of XPath 2.0"),
        ("1 to 3", 3, "`to` is an operator of XPath 2.0"),
        ("//*:a", 3, "XPath 2.0"),
        ("a/(b | c)", 3, "XPath 2.0"),
        ("a/string()", 3, "XPath 2.0"),
        ("if (a) then b else c", 1, "XPath 2.0"),
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
        ("a !b", 3, "only in !="),
        ("a == b", 4, "one ="),
        ("a && b", 3, "`and`"),
        ("a = “b”", 5, "between \" and \""),
        ("é#", 2, "'#'"),
        ("a:", 3, "must follow `a:`"),
        ("a: b", 3, "must follow `a:`"),
        ("a::b", 1, "unknown axis: `a`"),
        ("p:child::b", 8, "':'"),
        ("foo(a)", 1, "unknown function: `foo`"),
        ("p:not(a)", 1, "unknown function: `p:not`"),
        ("a/'x'", 3, "expected a step"),
        (".[a]", 2, "self::node()"),
        ("..[a]", 3, "parent::node()"),
        ("'x'[b]", 4, "a predicate can only follow a path"),
        ("not(a)/b", 7, "a step can only follow a path"),
        ("count('x')", 1, "count() takes a path"),
        ("concat('x')", 1, "concat() takes at least two arguments"),
        ("true(a)", 1, "true() takes no argument"),
        ("substring(a)", 1, "substring() takes two or three arguments"),
        ("string(a, b)", 1, "string() takes one argument or none"),
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
