//! What a document says once it is read.

use super::*;

#[test]
fn line_ends() {
    // 17
    assert_eq!(events("<a>1\r\n2\r3\n4&#13;5\u{85}6\u{2028}</a>"), "<a>1\n2\n3\n4\r5\u{85}6\u{2028}</>");
    assert_eq!(events("<a x='1\r\n2\t3&#13;&#10;&#9;'/>"), "<a @x=\"1 2 3\\r\\n\\t\"></>");
}

#[test]
fn text_comments_and_sections() {
    // 18, 19, 20
    assert_eq!(
        events("<a>1<!-- <b> -->2<?p <b>?>3<![CDATA[<b>&amp;]] >]]>4<![CDATA[]]></a>"),
        "<a>1(c \" <b> \")2(p p \"<b>\")3<b>&amp;]] >4</>"
    );
    assert_eq!(events("<a>&lt;&gt;&amp;&apos;&quot;&#x41;&#66;</a>"), "<a><>&'\"AB</>");
}

#[test]
fn attributes_of_the_xml_namespace() {
    // 21
    assert_eq!(
        events("<a xml:space='preserve' xml:lang='de' xml:base='x'> </a>"),
        "<a @{xml}space=\"preserve\" @{xml}lang=\"de\" @{xml}base=\"x\"> </>"
    );
}

#[test]
fn names_of_the_world() {
    // 22
    let document = "<日本語 é='1' e\u{301}='2'><\u{10330}\u{B7}/></日本語>";
    assert_eq!(events(document), "<日本語 @é=\"1\" @e\u{301}=\"2\"><\u{10330}\u{B7}></></>");
}

#[test]
fn encodings() {
    let utf16 = "\u{FEFF}<?xml version='1.0' encoding='utf-16'?><a>é\u{10000}</a>".encode_utf16();
    let little: Vec<u8> = utf16.clone().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = utf16.flat_map(u16::to_be_bytes).collect();
    let plain: Vec<u8> = little[2..].to_vec();
    for document in [little, big, plain] {
        assert_eq!(events(document), "<a>é\u{10000}</>");
    }
    assert_eq!(events(b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9\x80</a>"), "<a>é\u{80}</>");
    assert_eq!(events(b"<?xml version='1.0' encoding='Windows-1252'?><a>\xE9\x80</a>"), "<a>é€</>");
    assert_eq!(events(b"<?xml version='1.0' encoding='us-ascii'?><a>x</a>"), "<a>x</>");
    assert_eq!(events("\u{FEFF}<?xml version='1.0' encoding='utf-8'?><a>\u{FEFF}</a>"), "<a>\u{FEFF}</>");
}

#[test]
fn numbers_restart_with_each_document() {
    let mut reader = Reader::new(Limits::default());
    for uri in ["u", "v", "w"] {
        let mut trace = Trace::default();
        reader.read_str(&format!("<a xmlns='{uri}'><p:b xmlns:p='{uri}'/></a>"), &mut trace).unwrap();
        assert_eq!(trace.out, format!("<{{{uri}}}a><{{{uri}}}b></></>"));
        assert_eq!(trace.uris, [uri]);
    }
}

#[test]
fn a_refused_document_leaves_no_trace() {
    let mut reader = Reader::new(Limits::default());
    let bad = "<!DOCTYPE a [<!ATTLIST a x CDATA 'd'>]><a xmlns='u' xmlns:p='v'><b><c></b>";
    assert!(reader.read_str(bad, &mut Trace::default()).is_err());
    let mut trace = Trace::default();
    reader.read_str("<a><b/></a>", &mut trace).unwrap();
    assert_eq!(trace.out, "<a><b></></>");
    assert!(reader.read_str("<p:a/>", &mut Trace::default()).is_err());
}

#[test]
fn text_is_checked_even_if_it_is_not_wanted() {
    let mut reader = Reader::new(Limits::default());
    let good = "<a>x<!--c--><?p?><b y='1'/><![CDATA[z]]>&amp;</a>";
    let mut count = Count::default();
    reader.read_str(good, &mut count).unwrap();
    assert_eq!((count.elements, count.attributes), (2, 1));
    for bad in ["<a>]]></a>", "<a>&x;</a>", "<a><!-- -- --></a>", "<a><?XML?></a>"] {
        assert!(reader.read_str(bad, &mut Count::default()).is_err());
    }
}

#[test]
fn nothing_is_fetched() {
    // 41, 42, 49
    let document = "<?xml-stylesheet href='http://192.0.2.1/x.xsl'?><!DOCTYPE a SYSTEM 'http://192.0.2.1/x.dtd'>\
        <a xmlns:xi='http://www.w3.org/2001/XInclude' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' \
        xsi:schemaLocation='u http://192.0.2.1/x.xsd'><xi:include href='file:///etc/passwd'/></a>";
    assert!(events(document).contains("include @href=\"file:///etc/passwd\""));
}
