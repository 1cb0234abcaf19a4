//! The document type declaration: checked strictly, never fetched, never expanded.
//!
//! The tokeniser only finds where a DOCTYPE ends, and trusts that what is inside is right. Here the internal subset is
//! parsed as XML 1.0 says: element, attribute-list and notation declarations, comments, processing instructions and
//! parameter-entity references between declarations. An entity declaration is refused, which makes every expansion
//! attack impossible, unless a limit lets it in. What is declared about attributes is kept in [`Defaults`], because every
//! processor must apply it.
//!
//! Cost: linear in the declaration; nested content models use a stack of one byte a level, not recursion.

mod content;
mod cursor;
mod defaults;
mod entity;
mod lists;

pub(super) use defaults::Defaults;

use super::entities::Expansion;
use super::error::Fault;
use crate::chars::quoted;
use crate::limits::Limits;
use cursor::Cursor;

/// Checks a whole `<!DOCTYPE ...>` and keeps what it says about attributes.
pub(super) fn parse(
    raw: &str,
    standalone: bool,
    limits: &Limits,
    defaults: &mut Defaults,
    entities: &mut Expansion,
) -> Result<(), Fault> {
    let mut cursor = Cursor::new(raw, limits, entities);
    if !cursor.eat("<!DOCTYPE") {
        return Err(cursor.wrong("\"<!DOCTYPE\" is written in capital letters"));
    }
    cursor.space("after \"<!DOCTYPE\"")?;
    cursor.qname()?;
    let spaced = cursor.skip_space();
    if cursor.at_word("SYSTEM") || cursor.at_word("PUBLIC") {
        if !spaced {
            return Err(cursor.wrong("white space must stand before an external identifier"));
        }
        external_id(&mut cursor, false)?;
        cursor.skip_space();
    }
    if cursor.eat("[") {
        internal_subset(&mut cursor, standalone, defaults)?;
        cursor.skip_space();
    }
    if !cursor.eat(">") || !cursor.is_done() {
        return Err(cursor.wrong("this does not belong into a DOCTYPE"));
    }
    Ok(())
}

fn internal_subset(cursor: &mut Cursor<'_>, standalone: bool, defaults: &mut Defaults) -> Result<(), Fault> {
    // after a parameter entity that was not read, declarations may not be trusted (XML 1.0, section 5.1)
    let mut trusted = true;
    loop {
        cursor.skip_space();
        if cursor.eat("]") {
            return Ok(());
        }
        if cursor.eat("%") {
            cursor.ncname()?;
            if !cursor.eat(";") {
                return Err(cursor.wrong("a parameter-entity reference ends with \";\""));
            }
            trusted = standalone;
        } else if cursor.eat("<!--") {
            comment(cursor)?;
        } else if cursor.eat("<?") {
            instruction(cursor)?;
        } else if cursor.eat("<!ELEMENT") {
            content::element(cursor)?;
        } else if cursor.eat("<!ATTLIST") {
            lists::attributes(cursor, if trusted { Some(&mut *defaults) } else { None })?;
        } else if cursor.eat("<!NOTATION") {
            notation(cursor)?;
        } else if cursor.at_word("<!ENTITY") {
            entity::entity(cursor, trusted)?;
        } else if cursor.at_word("<![") {
            return Err(cursor.wrong("conditional sections are not allowed in the internal subset"));
        } else {
            return Err(cursor.wrong("this is not a markup declaration"));
        }
    }
}

fn notation(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    cursor.space("after \"<!NOTATION\"")?;
    cursor.ncname()?;
    cursor.space("after the name of a notation")?;
    external_id(cursor, true)?;
    cursor.skip_space();
    cursor.close()
}

/// `SYSTEM "..."` or `PUBLIC "..." "..."`; a notation may leave out the last literal.
fn external_id(cursor: &mut Cursor<'_>, notation: bool) -> Result<(), Fault> {
    if cursor.eat("SYSTEM") {
        cursor.space("after SYSTEM")?;
        cursor.literal()?;
    } else if cursor.eat("PUBLIC") {
        cursor.space("after PUBLIC")?;
        let at = cursor.at() + 1;
        let public = cursor.literal()?;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b" \n-'()+,./:=?;!*#@$_%".contains(&byte);
        if let Some(wrong) = public.bytes().position(|byte| !allowed(byte)) {
            let shown = public[wrong..].chars().next().map(|c| quoted(c.encode_utf8(&mut [0; 4])));
            let reason = format!("a public identifier may not hold \"{}\"", shown.unwrap_or_default());
            return Err(Fault::malformed(at + wrong, reason));
        }
        let spaced = cursor.skip_space();
        if !(notation && cursor.at_word(">")) {
            if !spaced {
                return Err(cursor.wrong("white space must stand before a system identifier"));
            }
            cursor.literal()?;
        }
    } else {
        return Err(cursor.wrong("SYSTEM or PUBLIC is expected"));
    }
    Ok(())
}

fn comment(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    cursor.until("--", "a comment is not closed")?;
    if cursor.eat(">") { Ok(()) } else { Err(cursor.wrong("\"--\" may not stand in a comment")) }
}

fn instruction(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    let at = cursor.at();
    if cursor.ncname()?.eq_ignore_ascii_case("xml") {
        return Err(Fault::malformed(at, "the target \"xml\" is reserved"));
    }
    if cursor.eat("?>") {
        return Ok(());
    }
    cursor.space("after the target of a processing instruction")?;
    cursor.until("?>", "a processing instruction is not closed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::DocumentErrorKind;

    fn check(subset: &str) -> Result<(), Fault> {
        parse(
            &format!("<!DOCTYPE r [{subset}]>"),
            false,
            &Limits::default(),
            &mut Defaults::default(),
            &mut Expansion::default(),
        )
    }

    #[test]
    fn external_identifiers_are_checked_but_not_fetched() {
        // 41, 42
        for good in
            ["", " SYSTEM 'file:///etc/passwd'", " PUBLIC \"-//X//Y\" 'http://x/'", " SYSTEM '' []", " [ ] "]
        {
            let raw = format!("<!DOCTYPE r{good}>");
            assert!(
                parse(&raw, false, &Limits::default(), &mut Defaults::default(), &mut Expansion::default())
                    .is_ok(),
                "{raw}"
            );
        }
        for bad in [
            "SYSTEM ''",
            " SYSTEM",
            " SYSTEM''",
            " PUBLIC 'x'",
            " PUBLIC '{}' ''",
            " PUBLIC 'x''y'",
            " x",
            " [] []",
            " system ''",
        ] {
            let raw = format!("<!DOCTYPE r{bad}>");
            assert!(
                parse(&raw, false, &Limits::default(), &mut Defaults::default(), &mut Expansion::default())
                    .is_err(),
                "{raw}"
            );
        }
        assert!(
            parse(
                "<!doctype r>",
                false,
                &Limits::default(),
                &mut Defaults::default(),
                &mut Expansion::default()
            )
            .is_err()
        );
        assert!(
            parse(
                "<!DOCTYPEr>",
                false,
                &Limits::default(),
                &mut Defaults::default(),
                &mut Expansion::default()
            )
            .is_err()
        );
    }

    #[test]
    fn declarations_of_every_kind() {
        // 48
        for good in [
            "<!NOTATION n SYSTEM 'x'>",
            "<!NOTATION n PUBLIC 'x'>",
            "<!NOTATION n PUBLIC 'x' 'y' >",
            "<!-- a - b --><?pi?><?pi  data ?>",
            " %pe; \n %p2;",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in [
            "<!NOTATION n>",
            "<!NOTATION n:m SYSTEM 'x'>",
            "<!NOTATION n SYSTEM 'x' x>",
            "<!-- a -- b -->",
            "<!-- a --->",
            "<?xml version='1.0'?>",
            "<?pi?",
            "<?pi:x?>",
            "% pe;",
            "%pe",
            "&amp;",
            "text",
            "<!FOO x>",
            "<![INCLUDE[ ]]>",
            "<![CDATA[ ]]>",
            "<r/>",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn entity_declarations_are_refused_by_kind() {
        // 37 to 41: nothing can be expanded that cannot be declared
        for entity in
            ["<!ENTITY a 'b'>", "<!ENTITY % a 'b'>", "<!ENTITY a SYSTEM 'file:///etc/passwd'>", "<!ENTITY a"]
        {
            let error = check(entity).unwrap_err().placed(1, 1);
            assert_eq!(error.kind, DocumentErrorKind::Entity);
            assert!(error.reason.starts_with("entity declarations are not accepted"));
        }
    }
}
