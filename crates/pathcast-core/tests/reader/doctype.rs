//! What the internal subset does, and what it must not do.

use super::DocumentErrorKind::{Entity, Limit, Malformed};
use super::*;

#[test]
fn entities_are_refused() {
    // 37 to 41: nothing declared, nothing expanded
    refused("<!DOCTYPE a [\n<!ENTITY lol 'lol'>]><a>&lol;</a>", Entity, 2, 1, "not accepted");
    refused("<!DOCTYPE a [<!ENTITY % p SYSTEM 'http://x/'>%p;]><a/>", Entity, 1, 14, "not accepted");
    refused(
        "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
        Entity,
        1,
        14,
        "not accepted",
    );
    refused("<!DOCTYPE a [<!ENTITY x", Entity, 1, 14, "not accepted");
    refused("<a>&nbsp;</a>", Entity, 1, 4, "\"nbsp\"");
    refused("<a x='&nbsp;'/>", Entity, 1, 7, "\"nbsp\"");
    refused("<!DOCTYPE a [<!ATTLIST a x CDATA '&e;'>]><a/>", Entity, 1, 35, "\"e\"");
    let chain: String = (0..100_000).map(|i| format!("<!ENTITY e{i} '&e{};'>", i + 1)).collect();
    refused(format!("<!DOCTYPE a [{chain}]><a>&e0;</a>"), Entity, 1, 14, "not accepted");
}

#[test]
fn defaults_are_applied() {
    // 43: as XML 1.0 demands of every processor
    let subset = "<!ATTLIST a x CDATA 'd&#10;e' y NMTOKENS '  p  q ' z CDATA #IMPLIED x CDATA 'later'>\
        <!ATTLIST a w CDATA #FIXED ' f  g '><!ATTLIST a x CDATA 'last'>";
    let document = |tag: &str| events(format!("<!DOCTYPE a [{subset}]>{tag}"));
    assert_eq!(document("<a/>"), "<a @x=\"d\\ne\" @y=\"p q\" @w=\" f  g \"></>");
    assert_eq!(document("<a y=' 1\n 2 ' x=' 3  '/>"), "<a @y=\"1 2\" @x=\" 3  \" @w=\" f  g \"></>");
    assert_eq!(document("<b/>"), "<b></>");
    assert_eq!(document("<a y='&#32;1&#10;'/>"), "<a @y=\"1\\n\" @x=\"d\\ne\" @w=\" f  g \"></>");
}

#[test]
fn namespaces_by_default() {
    let subset = "<!ATTLIST a xmlns CDATA 'u' xmlns:p CDATA #FIXED 'v' p:x CDATA '1' id NMTOKEN #IMPLIED>";
    assert_eq!(
        events(format!("<!DOCTYPE a [{subset}]><a><p:b/><c xmlns=''/></a>")),
        "<{u}a @{v}x=\"1\"><{v}b></><c></></>"
    );
    assert_eq!(events(format!("<!DOCTYPE a [{subset}]><a xmlns='w'/>")), "<{w}a @{v}x=\"1\"></>");
    let clash = "<!ATTLIST a p:x CDATA '1'>";
    refused(format!("<!DOCTYPE a [{clash}]><a/>"), Malformed, 1, 43, "\"p\" is not bound");
    refused(
        format!("<!DOCTYPE a [{clash}]><a xmlns:p='u' xmlns:q='u' q:x=''/>"),
        Malformed,
        1,
        43,
        "two prefixes",
    );
}

#[test]
fn after_an_unread_parameter_entity() {
    let subset = "<!ATTLIST a x CDATA '1'> %pe; <!ATTLIST a y CDATA '2'>";
    assert_eq!(events(format!("<!DOCTYPE a [{subset}]><a/>")), "<a @x=\"1\"></>");
    let standalone = format!("<?xml version='1.0' standalone='yes'?><!DOCTYPE a [{subset}]><a/>");
    assert_eq!(events(standalone), "<a @x=\"1\" @y=\"2\"></>");
    refused(format!("<!DOCTYPE a [{subset}<!ATTLIST>]><a/>"), Malformed, 1, 77, "white space");
}

#[test]
fn faults_have_their_place() {
    refused("<!DOCTYPE a [\n<!ELEMENT a (b,c|d)>\n]><a/>", Malformed, 2, 17, "may not be mixed");
    refused("<!DOCTYPE a [<![INCLUDE[ ]]>]><a/>", Malformed, 1, 14, "conditional");
    refused("<!DOCTYPE a [<!ELEMENT a ANY>", Malformed, 1, 30, "ends inside a DOCTYPE");
    refused("<!DOCTYPE a [<!ELEMENT a ANY>\n<!X", Malformed, 2, 1, "not a markup declaration");
    refused("<!DOCTYPE>", Malformed, 1, 10, "white space");
    refused("<!DOCTYPE a:b:c><a/>", Malformed, 1, 14, "name");
    assert_eq!(events("<!DOCTYPE other><a/>"), "<a></>", "46: whether it is valid is not asked");
}

#[test]
fn huge_subsets() {
    // 43
    let lists: String = (0..100_000).map(|i| format!("<!ATTLIST a x{i} CDATA #IMPLIED>")).collect();
    assert_eq!(events(format!("<!DOCTYPE a [{lists}]><a/>")), "<a></>");
    let one: String = (0..100_000).map(|i| format!(" x{i} NMTOKEN 'v'")).collect();
    let head = format!("<!DOCTYPE a [<!ATTLIST a{one}>]><b>");
    let column = head.len() as u64 + 2;
    refused(format!("{head}<a/></b>"), Limit, 1, column, "limit of 10000");
    // 44, 45
    let deep = format!("<!ELEMENT a {}b{}>", "(".repeat(300_000), ")".repeat(300_000));
    assert_eq!(events(format!("<!DOCTYPE a [{deep}]><a/>")), "<a></>");
    let wide = format!("<!ELEMENT a (b{})*>", "|a".repeat(100_000));
    assert_eq!(events(format!("<!DOCTYPE a [{wide}]><a/>")), "<a></>");
}

#[test]
fn defaults_cannot_outgrow_the_document() {
    // a megabyte by default for every four bytes would be a bomb
    let value = "x".repeat(1 << 20);
    let document = format!("<!DOCTYPE a [<!ATTLIST b x CDATA '{value}'>]><a>{}</a>", "<b/>".repeat(100_000));
    let error = read(document).unwrap_err();
    assert_eq!(error.kind, Limit);
    assert!(error.reason.contains("outgrow"), "{error}");
}
