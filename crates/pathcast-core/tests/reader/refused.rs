//! Documents that are not well-formed, with the place and the reason.

use super::DocumentErrorKind::{Encoding, Malformed};
use super::*;

#[test]
fn nothing_at_all() {
    refused("", Malformed, 1, 1, "the document is empty"); // 1
    refused(" \n ", Malformed, 2, 2, "no root element"); // 2
    refused(b"\xEF\xBB\xBF", Malformed, 1, 1, "the document is empty"); // 3
    refused("<!-- only -->", Malformed, 1, 14, "no root element");
    refused("<?xml version='1.0'?>", Malformed, 1, 22, "no root element");
    refused("<!DOCTYPE a>", Malformed, 1, 13, "no root element");
}

#[test]
fn tags_that_do_not_match() {
    refused("<a>\n<b></a></b>", Malformed, 2, 4, "</a> does not close <b>"); // 5
    refused("<a></A>", Malformed, 1, 4, "</A> does not close <a>");
    refused("<a></a b='1'>", Malformed, 1, 4, "does not close <a>");
    refused("<a></ a>", Malformed, 1, 4, "does not close <a>");
    refused("</a>", Malformed, 1, 1, "closes nothing");
    refused("<a/></a>", Malformed, 1, 5, "closes nothing");
    refused("<a><b></b>", Malformed, 1, 11, "1 element is open");
    assert_eq!(events("<a></a \n>"), "<a></>");
}

#[test]
fn outside_the_root() {
    refused("<a/><b/>", Malformed, 1, 5, "second one"); // 6
    refused("<a/>\nx", Malformed, 2, 1, "after the root"); // 7
    refused("x<a/>", Malformed, 1, 1, "before the root");
    refused("<a/>&#32;", Malformed, 1, 5, "after the root");
    refused("<a/><![CDATA[ ]]>", Malformed, 1, 5, "CDATA");
    refused("<a/><!DOCTYPE a>", Malformed, 1, 5, "before the root");
    refused("<!DOCTYPE a><!DOCTYPE a><a/>", Malformed, 1, 13, "second one");
    refused(" <?xml version='1.0'?><a/>", Malformed, 1, 2, "very start");
    refused("<a><?xml version='1.0'?></a>", Malformed, 1, 4, "very start");
}

#[test]
fn stray_markup_characters() {
    // 8
    refused("<a>x & y</a>", Malformed, 1, 6, "literal \"&\"");
    refused("<a>&</a>", Malformed, 1, 4, "literal \"&\"");
    refused("<a>&amp</a>", Malformed, 1, 4, "literal \"&\"");
    refused("<a>1 < 2</a>", Malformed, 1, 7, "cannot start with \" \"");
    refused("<a b='&'/>", Malformed, 1, 7, "literal \"&\"");
    refused("<a b='<'/>", Malformed, 1, 7, "attribute value");
    refused("<a>]]></a>", Malformed, 1, 4, "]]>");
    refused("<a>&#0;</a>", Malformed, 1, 4, "not an XML character");
    refused("<a>&#xD800;</a>", Malformed, 1, 4, "not an XML character");
    assert_eq!(events("<a>]] > ]]&gt; ></a>"), "<a>]] > ]]> ></>");
}

#[test]
fn tags_that_are_not_right_inside() {
    refused("<a b/>", Malformed, 1, 5, "has no value");
    refused("<a b=c/>", Malformed, 1, 6, "in quotes");
    refused("<a b='1'c='2'/>", Malformed, 1, 9, "white space");
    refused("<a 1b='1'/>", Malformed, 1, 4, "cannot start with");
    refused("<1/>", Malformed, 1, 2, "cannot start with");
    refused("<a;/>", Malformed, 1, 3, "cannot hold");
    refused("<a/ >", Malformed, 1, 3, "cannot hold");
    refused("<>", Malformed, 1, 2, "a name is missing");
    refused("<a <b/>", Malformed, 1, 4, "\"<\" may not stand in a tag");
    // a forgotten quote is found where it shows, not at the end of the document
    refused("<a b='x>\n<c d='y'/></a>", Malformed, 2, 1, "attribute value");
    refused("<a:b:c/>", Malformed, 1, 5, "one colon");
    refused("<:a/>", Malformed, 1, 2, "one colon");
    refused("<a:/>", Malformed, 1, 4, "colon");
}

#[test]
fn duplicate_attributes() {
    refused("<a x='1' y='2' x='3'/>", Malformed, 1, 16, "\"x\" is given twice"); // 9
    refused("<a xmlns:p='u' xmlns:p='v'/>", Malformed, 1, 16, "given twice");
    // 10
    let same = "<a xmlns:p='u' xmlns:q='u' p:x='1' q:x='2'/>";
    refused(same, Malformed, 1, 36, "two prefixes");
    let many: String = (0..20).map(|i| format!(" a{i}='' p:b{i}=''")).collect();
    refused(format!("<a xmlns:p='u'{many} a7=''/>"), Malformed, 1, 15 + many.len() as u64 + 1, "\"a7\"");
    refused(
        format!("<a xmlns:p='u' xmlns:q='u'{many} q:b7=''/>"),
        Malformed,
        1,
        27 + many.len() as u64 + 1,
        "\"q:b7\"",
    );
    assert_eq!(
        events("<a xmlns:p='u' xmlns='u' p:x='1' x='2'/>"),
        "<{u}a @{u}x=\"1\" @x=\"2\"></>",
        "the default namespace is not that of attributes"
    );
}

#[test]
fn namespaces() {
    refused("<p:a/>", Malformed, 1, 2, "\"p\" is not bound"); // 11
    refused("<a p:x=''/>", Malformed, 1, 4, "\"p\" is not bound");
    refused("<a><b xmlns:p='u'/><p:c/></a>", Malformed, 1, 21, "\"p\" is not bound");
    refused("<a xmlns:p=''/>", Malformed, 1, 4, "empty string"); // 12
    // 13
    refused("<a xmlns:xml='u'/>", Malformed, 1, 4, "the prefix xml");
    refused("<a xmlns:p='http://www.w3.org/XML/1998/namespace'/>", Malformed, 1, 4, "only the prefix xml");
    refused("<a xmlns='http://www.w3.org/XML/1998/namespace'/>", Malformed, 1, 4, "only the prefix xml");
    refused("<a xmlns:xmlns='u'/>", Malformed, 1, 4, "xmlns");
    refused("<a xmlns:p='http://www.w3.org/2000/xmlns/'/>", Malformed, 1, 4, "nothing may be bound");
    refused("<xmlns:a/>", Malformed, 1, 2, "xmlns");
    assert_eq!(events("<a xmlns:xml='http://www.w3.org/XML/1998/namespace'/>"), "<a></>");
    assert_eq!(events("<a xmlns='u'><b xmlns=''/><c/></a>"), "<{u}a><b></><{u}c></></>");
}

#[test]
fn characters_and_encodings() {
    // 14
    refused(b"<a>\xFF</a>", Encoding, 1, 4, "0xFF is not UTF-8");
    refused(b"<a>\xC0\xAF</a>", Encoding, 1, 4, "not UTF-8");
    refused(b"<a>\xED\xA0\x80</a>", Encoding, 1, 4, "not UTF-8");
    refused(b"<a>\0</a>", Malformed, 1, 4, "U+0000");
    refused("<a>\u{FFFE}</a>", Malformed, 1, 4, "U+FFFE");
    refused("<a><![CDATA[\u{B}]]></a>", Malformed, 1, 13, "U+000B");
    // 15
    refused("<?xml version='1.0' encoding='UTF-16'?><a/>", Encoding, 1, 31, "\"UTF-16\" is declared");
    refused("\u{FEFF}<?xml version='1.0' encoding='latin1'?><a/>", Encoding, 1, 31, "byte order mark");
    refused(wide("<?xml version='1.0' encoding='UTF-8'?><a/>"), Encoding, 1, 31, "little-endian UTF-16");
    refused(wide("<?xml version='1.0'?><a/>"), Encoding, 1, 3, "must be declared");
    refused(wide("<a/>"), Encoding, 1, 1, "neither a byte order mark");
    refused("<?xml version='1.0' encoding='UTF-7'?><a/>", Encoding, 1, 31, "\"UTF-7\" is not supported");
    refused("<?xml version='1.0' encoding='klingon'?><a/>", Encoding, 1, 31, "\"klingon\" is not supported");
    refused(b"\x4C\x6F\xA7\x94\x93", Encoding, 1, 1, "EBCDIC");
    refused(b"\xFF\xFE\0\0<\0\0", Encoding, 1, 1, "the middle of a UTF-32 character");
    refused(b"<\0\0\0a\0\0\0/\0\0\0>\0\0\0", Encoding, 1, 1, "UTF-32 with neither a byte order mark");
    refused("<?xml version='1.1'?><a/>", Malformed, 1, 16, "XML 1.1"); // 16
    // a declaration behind very much white space cannot change the encoding any more
    let late = format!("<?xml version='1.0'{}encoding='latin1'?><a/>", " ".repeat(5000));
    refused(late, Encoding, 1, 5030, "\"latin1\" is declared");
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn other_formats() {
    refused(b"\x1F\x8B\x08\0", Encoding, 1, 1, "gzip"); // 23
    refused(b"PK\x03\x04", Encoding, 1, 1, "zip");
    // 24
    refused("{\"a\": 1}", Malformed, 1, 1, "before the root");
    refused("<!DOCTYPE html>\n<p>a<br>b</p>", Malformed, 2, 10, "does not close <br>");
    refused("<!doctype html><p/>", Malformed, 1, 1, "capital");
    refused(b"\x7FELF\x01\x01\0\0", Malformed, 1, 5, "U+0001");
}

#[test]
fn comments_and_instructions() {
    refused("<a><!-- a -- b --></a>", Malformed, 1, 11, "\"--\"");
    refused("<a><!-- a ---></a>", Malformed, 1, 11, "\"--\"");
    refused("<a><!-->", Malformed, 1, 9, "ends inside a comment");
    refused("<a><? x?></a>", Malformed, 1, 6, "target");
    refused("<a><?x+?></a>", Malformed, 1, 7, "white space");
    refused("<a><?x:y?></a>", Malformed, 1, 7, "colon");
    refused("<a><?xMl?></a>", Malformed, 1, 6, "reserved");
    refused("<a><![cdata[x]]></a>", Malformed, 1, 7, "<![CDATA[");
    refused("<a><!ELEMENT b ANY></a>", Malformed, 1, 6, "\"<!\"");
    assert_eq!(events("<a><?x?><?y  z ?><!----></a>"), "<a>(p x \"\")(p y \"z \")(c \"\")</>");
}

#[test]
fn a_reason_stays_on_one_line() {
    // 77
    let error = read("<a\u{85}b\u{2028}></a\nINFO forged>").unwrap_err();
    assert!(!error.to_string().contains(['\n', '\r', '\u{85}', '\u{2028}']), "{error}");
}
