//! Attribute-list declarations.

use super::super::error::Fault;
use super::cursor::Cursor;
use super::defaults::{Defaults, Kind};

/// The types that are one keyword; `CDATA` is the only one whose values keep their spaces. Longer ones come first.
const KEYWORDS: [&str; 8] = ["CDATA", "IDREFS", "IDREF", "ID", "ENTITIES", "ENTITY", "NMTOKENS", "NMTOKEN"];

/// The rest of a declaration after `<!ATTLIST`; what it says is only kept if `defaults` are given.
pub(super) fn attributes(cursor: &mut Cursor<'_>, mut defaults: Option<&mut Defaults>) -> Result<(), Fault> {
    cursor.space("after \"<!ATTLIST\"")?;
    let element = cursor.qname()?;
    let element = defaults.as_mut().map(|defaults| defaults.element(element));
    loop {
        let spaced = cursor.skip_space();
        if cursor.eat(">") {
            return Ok(());
        }
        if !spaced {
            return Err(cursor.wrong("white space must stand between the parts of an attribute list"));
        }
        let name = cursor.qname()?;
        cursor.space("after the name of an attribute")?;
        let kind = attribute_type(cursor)?;
        cursor.space("after the type of an attribute")?;
        let default = default_value(cursor)?;
        if let (Some(defaults), Some(element)) = (defaults.as_mut(), element) {
            defaults.declare(element, name, kind, default);
        }
    }
}

fn attribute_type(cursor: &mut Cursor<'_>) -> Result<Kind, Fault> {
    if cursor.eat("NOTATION") {
        cursor.space("after NOTATION")?;
        if !cursor.eat("(") {
            return Err(cursor.wrong("the names of notations stand in parentheses"));
        }
        enumeration(cursor, true)?;
        return Ok(Kind::Tokens);
    }
    if cursor.eat("(") {
        enumeration(cursor, false)?;
        return Ok(Kind::Tokens);
    }
    match KEYWORDS.into_iter().find(|keyword| cursor.eat(keyword)) {
        Some("CDATA") => Ok(Kind::Text),
        Some("ID") => Ok(Kind::Id),
        Some(_) => Ok(Kind::Tokens),
        None => Err(cursor.wrong("the type of an attribute is expected")),
    }
}

fn enumeration(cursor: &mut Cursor<'_>, names: bool) -> Result<(), Fault> {
    loop {
        cursor.skip_space();
        if names {
            cursor.ncname()?
        } else {
            cursor.nmtoken()?
        };
        cursor.skip_space();
        if cursor.eat(")") {
            return Ok(());
        }
        if !cursor.eat("|") {
            return Err(cursor.wrong("\"|\" or \")\" is expected in an enumeration"));
        }
    }
}

fn default_value(cursor: &mut Cursor<'_>) -> Result<Option<String>, Fault> {
    if cursor.eat("#REQUIRED") || cursor.eat("#IMPLIED") {
        return Ok(None);
    }
    if cursor.eat("#FIXED") {
        cursor.space("after #FIXED")?;
    }
    let mut value = String::new();
    cursor.attribute_value(&mut value)?;
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::super::super::entities::Expansion;
    use super::*;
    use crate::limits::Limits;

    fn check(declaration: &str) -> bool {
        let limits = Limits::default();
        let mut entities = Expansion::default();
        let mut cursor = Cursor::new(declaration, &limits, &mut entities);
        let mut defaults = Defaults::default();
        cursor.eat("<!ATTLIST") && attributes(&mut cursor, Some(&mut defaults)).is_ok() && cursor.is_done()
    }

    #[test]
    fn attribute_lists() {
        for good in [
            "<!ATTLIST a>",
            "<!ATTLIST a >",
            "<!ATTLIST a b CDATA #IMPLIED>",
            "<!ATTLIST a b ID #REQUIRED c IDREFS #IMPLIED\n d NMTOKENS 'x y'>",
            "<!ATTLIST a b (x|y | 1) 'x'>",
            "<!ATTLIST a b NOTATION (x | y) #IMPLIED>",
            "<!ATTLIST a xmlns:b CDATA #FIXED \"urn:x\">",
            "<!ATTLIST a b CDATA '&lt;&#10;'>",
        ] {
            assert!(check(good), "{good}");
        }
        for bad in [
            "<!ATTLIST>",
            "<!ATTLIST a b>",
            "<!ATTLIST a b CDATA>",
            "<!ATTLIST a b CDATA#IMPLIED>",
            "<!ATTLIST a b cdata #IMPLIED>",
            "<!ATTLIST a b CDATA #FIXED>",
            "<!ATTLIST a b CDATA #FIXED'x'>",
            "<!ATTLIST a b () 'x'>",
            "<!ATTLIST a b (x,y) 'x'>",
            "<!ATTLIST a b NOTATION(x) 'x'>",
            "<!ATTLIST a b NOTATION (1) 'x'>",
            "<!ATTLIST a b CDATA 'x'c CDATA 'y'>",
            "<!ATTLIST a b CDATA '<'>",
            "<!ATTLIST a b CDATA '&x;'>",
            "<!ATTLIST a b CDATA '& '>",
            "<!ATTLIST a b IDREFSX #IMPLIED>",
        ] {
            assert!(!check(bad), "{bad}");
        }
    }
}
