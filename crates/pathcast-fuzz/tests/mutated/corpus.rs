//! What the fuzzing starts from: the documents and expressions of `testdata/`.

use std::path::Path;

use toml::{Table, Value};

fn tables() -> impl Iterator<Item = Table> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let files =
        paths.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files
        .flat_map(|path| {
            let file: Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
            file.into_iter().flat_map(|(_, entries)| match entries {
                Value::Array(entries) => entries,
                _ => Vec::new(),
            })
        })
        .filter_map(|entry| if let Value::Table(table) = entry { Some(table) } else { None })
}

/// Documents, good and bad, and some with what the others lack; bad ones are few, as most damage leads nowhere.
pub fn documents() -> Vec<Vec<u8>> {
    let good = |table: &Table| table.contains_key("matches") || table.contains_key("misses");
    let (good, bad): (Vec<_>, Vec<_>) = tables().partition(good);
    let mut all: Vec<Vec<u8>> = good
        .into_iter()
        .chain(bad.into_iter().step_by(8))
        .filter_map(|table| Some(table.get("document")?.as_str()?.as_bytes().to_vec()))
        .filter(|document| document.len() < 4_096)
        .collect();
    let rich = "<?xml version='1.0'?>\r\n<!DOCTYPE a [<!ELEMENT a (b|c)*><!ATTLIST a x NMTOKENS ' p  q ' y CDATA 'd'>\n\
                <!NOTATION n PUBLIC 'p'><?pi >?><!-- > -->]>\n<!-- c --><a xmlns='urn:a' xmlns:p='urn:p' p:z='1\r\n2&#10;'>\r\n\
                <p:b k='&lt;&quot;' xml:lang='en'/>t&amp;é日\u{10000}<![CDATA[<x>]]]]><!-- d --><?t  data?></a>\r\n";
    all.push(rich.as_bytes().to_vec());
    for (big, mark) in [(false, 0xFEFF), (true, 0xFEFF)] {
        let text = rich.replace("<?xml version='1.0'?>", "<?xml version='1.0' encoding='UTF-16'?>");
        let units = std::iter::once(mark).chain(text.encode_utf16());
        all.push(
            units.flat_map(|unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect(),
        );
    }
    for encoding in ["ISO-8859-1", "windows-1252", "US-ASCII", "UTF-8"] {
        let head = format!("<?xml version='1.0' encoding='{encoding}' standalone='yes'?><a b='");
        all.push([head.as_bytes(), b"\xE9\x80'>\xFC\r\n&#xE9;</a>"].concat());
    }
    all
}

/// Expressions, good and bad.
pub fn expressions() -> Vec<String> {
    let mut all = Vec::new();
    for table in tables() {
        for key in ["matches", "misses"] {
            let list = table.get(key).and_then(Value::as_array).into_iter().flatten();
            all.extend(list.filter_map(|xpath| xpath.as_str().map(str::to_owned)));
        }
        all.extend(table.get("xpath").and_then(Value::as_str).map(str::to_owned));
    }
    all.retain(|xpath| xpath.len() < 1_024);
    all
}
