//! Damaged documents.

use pathcast_fuzz::documents::check;

use super::mutate::mutate;
use super::{corpus, fuzz};

const TOKENS: [&str; 52] = [
    "<",
    ">",
    "/>",
    "</",
    "<a>",
    "</a>",
    "<a/>",
    "<p:b>",
    "&",
    ";",
    "&lt;",
    "&amp;",
    "&#10;",
    "&#x",
    "&#xD;",
    "&e;",
    "'",
    "\"",
    "=",
    " x='1'",
    " xmlns='u'",
    " xmlns:p='u'",
    " xmlns:q='u'",
    " p:x=''",
    " xml:lang='en'",
    "<!--",
    "-->",
    "--",
    "<![CDATA[",
    "]]>",
    "]]",
    "<?",
    "?>",
    "<?p d?>",
    "<?xml version='1.0'?>",
    " encoding='UTF-8'",
    " encoding='ISO-8859-1'",
    "<!DOCTYPE a",
    "<!DOCTYPE a [",
    "]>",
    "<!ATTLIST a x CDATA 'd'>",
    "<!ELEMENT a ANY>",
    "<!ENTITY e 'x'>",
    "%p;",
    "\r\n",
    "\r",
    "\u{85}",
    "\u{2028}",
    "\u{FEFF}",
    "\u{FFFE}",
    "é",
    "\u{10000}",
];

#[test]
fn documents() {
    let seeds = corpus::documents();
    fuzz("documents", |random| {
        let mut document = random.pick(&seeds).clone();
        mutate(random, &mut document, &seeds, &TOKENS);
        check(&document, random.next())
    });
}
