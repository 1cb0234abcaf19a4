"""Cuts one huge XML file into records: every outermost element of a given name becomes a document of its own.

The bytes stream through; memory holds one record and one chunk. Outside records every tag is looked at,
because namespace declarations of the ancestors go into the record; inside a record only what can end it: the
record's own tags, comments, CDATA sections and processing instructions. `<` is never a character of an
attribute value, so no other place can hold a tag that is none; `>` may be, so the end of a tag is sought past
quoted values. 150 to 250 MB of XML a second on one core.

The splitter does not judge XML: a broken record comes out as it is, for the reader to refuse with a line and
a column. What cannot come out as a record comes out as text that says what happened, which the reader refuses
too: nothing is lost in silence. Not carried into records: `xml:lang` and its kind from ancestors, and
attribute defaults of an internal DTD subset.

A record gets the declarations of its ancestors that it may use: the default one, and those whose prefix and
colon occur in it. All of them together may not be more than sixteen times what was read, and a mebibyte:
6,000 long declarations around 6,000 empty records would otherwise become gigabytes.

>>> list(split([b"<r xmlns:p='urn:x'><p:e>1</p:e><![CDATA[<p:e>]]><p:e a='>'/></r>"], "e"))
[b"<p:e xmlns:p='urn:x'>1</p:e>", b"<p:e xmlns:p='urn:x' a='>'/>"]
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from html import unescape

__all__ = ["MAX_RECORD", "Splitter", "problem", "split"]

MAX_RECORD = 1 << 30  # bytes; what `Limits.document_bytes` allows a document

_TAG = re.compile(rb"""</?[^"'>]*(?:(?:"[^"]*"|'[^']*')[^"'>]*)*>""")
_NAME = re.compile(rb"[^\s/>]+")
_NO_NAME = re.compile(r"""^[-.0-9]|[\s<>/="'&;,{}]""")
_ATTRIBUTE = re.compile(rb"""([^\s=/]+)\s*=\s*("[^"]*"|'[^']*')""")
_DOCTYPE = re.compile(rb"""<!--|<\?|["'\[\]>]""")
_DECLARED = re.compile(rb"""<\?xml\s[^>]*?encoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']""")
_PREFIX = re.compile(rb"""([^\s<>/="':;&]+):""")
_FEW = 8  # declarations: each is sought by itself, which is faster than all prefixes of a record
_CARRIED, _CARRIED_SHARE = 1 << 20, 16
_LONGEST_OPENING = len(b"<![CDATA[")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\x00\x00\x00", "utf-32-le"),
    (b"\x00\x00\x00<", "utf-32-be"),
    (b"<\x00", "utf-16-le"),
    (b"\x00<", "utf-16-be"),
)

# What XML documents are written in, as Python names it. Not all that Python decodes is text, or was meant.
_KNOWN = """
    ascii utf-8 utf-16 utf-16-le utf-16-be utf-32 utf-32-le utf-32-be iso8859-1 iso8859-2 iso8859-3 iso8859-4
    iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-11 iso8859-13 iso8859-14 iso8859-15
    iso8859-16 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp437 cp850 cp852 cp855 cp866
    cp874 cp932 cp949 cp950 koi8-r koi8-u mac-roman mac-cyrillic shift_jis euc_jp iso2022_jp euc_kr gb2312 gbk
    gb18030 big5 big5hkscs tis-620
"""
_ENCODINGS = frozenset(_KNOWN.split())

Declarations = dict[bytes, bytes]  # `xmlns` or `xmlns:p` to the value as it is written, quotes included


def split(chunks: Iterable[bytes], record: str, *, max_bytes: int = MAX_RECORD) -> Iterator[bytes]:
    """The records of a file that comes in chunks, each a document in UTF-8.

    `record` is a local name, in whatever namespace, or `{uri}name`.
    """
    splitter = Splitter(record, max_bytes=max_bytes)
    try:
        for chunk in utf8(chunks):
            yield from splitter.feed(chunk)
    except (UnicodeError, LookupError) as error:
        yield problem(f"the bytes behind record {splitter.count:,} cannot be decoded: {error}")
        return
    yield from splitter.close()


def problem(text: str) -> bytes:
    """What stands in a document's place when there is none: no XML, so that it ends as a dead letter."""
    return f"not a document: {text}".encode("utf-8", "backslashreplace")


def utf8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same text in UTF-8, by byte order mark or XML declaration; UTF-8 itself passes unchanged."""
    stream = iter(chunks)
    head = b""
    for chunk in stream:
        head += chunk
        # The declaration must stand at the very start; 1 KiB holds any that is meant seriously.
        if len(head) >= 1024 or (len(head) >= 4 and b">" in head and b"\x00" not in head[:4]):
            break
    encoding = _encoding(head)
    if encoding in ("utf-8", "ascii"):
        yield head.removeprefix(codecs.BOM_UTF8)
        yield from stream
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    yield decoder.decode(head).encode()
    for chunk in stream:
        yield decoder.decode(chunk).encode()
    yield decoder.decode(b"", final=True).encode()


def _encoding(head: bytes) -> str:
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    declared = _DECLARED.match(head)
    if declared is None:
        return "utf-8"
    name = declared[1].decode("ascii")
    encoding = codecs.lookup(name).name
    if encoding not in _ENCODINGS:
        raise LookupError(f"{name} is not an encoding of XML documents that is known here")
    return encoding


class Splitter:
    """Takes UTF-8 in pieces of any size and gives records; where a piece ends makes no difference."""

    def __init__(self, record: str, *, max_bytes: int = MAX_RECORD) -> None:
        uri, brace, local = record.rpartition("}")
        if not local or (brace and not uri.startswith("{")):
            raise ValueError(f"record must be an element's local name or {{uri}}name, not {record!r}")
        if ":" in local:
            raise ValueError(f"record takes no prefix: write {local.partition(':')[2]!r} or '{{uri}}name'")
        if _NO_NAME.search(local):
            raise ValueError(f"no element can be called {local!r}: record is the name of one")
        self._local = local.encode()
        self._uri = uri[1:] if brace else None
        self._max_bytes = max_bytes
        self.count = 0
        self._buffer = bytearray()
        self._at = 0  # everything before it has been dealt with
        self._sought: tuple[bytes, int] | None = None  # an ending that was not found before this place
        self._final = False
        self._scope: Declarations = {}  # the declarations of all ancestors
        self._open: list[dict[bytes, bytes | None]] = []  # what each ancestor's declarations replaced
        # The record that is open.
        self._start = -1
        self._front = b""  # its start tag up to the name, behind which inherited declarations go
        self._declares: Declarations = {}
        self._body = 0  # where the rest of the start tag begins
        self._fed = self._carried = 0
        self._nested = 0
        self._dropped = 0  # bytes of it that were thrown away because it is too long
        self._name = b""
        self._own = re.compile(b"(?!)")

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The records that end within this piece."""
        self._buffer += chunk
        self._fed += len(chunk)
        yield from self._records()
        self._forget()

    def close(self) -> Iterator[bytes]:
        """What is left when the file ends: nothing, if it is sound."""
        self._final = True
        yield from self._records()
        if self._start >= 0:
            yield self._cut(len(self._buffer))
        elif self._open or self._buffer[self._at :].strip():
            yield problem(f"the file ends within an element or a tag, after record {self.count:,}")

    def _records(self) -> Iterator[bytes]:
        while True:
            before = self._at, self._start
            found = self._outside() if self._start < 0 else self._inside()
            if found is not None:
                yield found
            elif before == (self._at, self._start):
                return

    def _forget(self) -> None:
        """Drops what no record needs."""
        done = self._at if self._start < 0 else self._start
        if self._start >= 0 and self._at - self._start + self._dropped > self._max_bytes:
            done = self._at
            self._dropped += done - self._start
            self._start = self._body = done
            self._front = b""
        if done:
            del self._buffer[:done]
            self._at -= done
            self._body -= done
            if self._start >= 0:
                self._start -= done
            if self._sought:
                self._sought = (self._sought[0], self._sought[1] - done)

    # Each of these takes one step: it moves `_at` forward, or leaves it where more bytes are needed.

    def _outside(self) -> bytes | None:
        at = self._buffer.find(b"<", self._at)
        if at < 0:
            self._at = len(self._buffer)
            return None
        self._at = at
        if self._skipped(at):
            return None
        end = self._tag_end(at)
        if end < 0:
            return None
        tag = bytes(self._buffer[at:end])
        self._at = end
        if tag.startswith(b"</"):
            if self._open:
                self._leave(self._open.pop())
            return None
        name = _NAME.match(tag, 1)
        if name is None:
            return None
        own = _declarations(tag, name.end())
        if self._is_record(name[0], own):
            self._start, self._body = at, at + name.end()
            self._front = tag[: name.end()]
            self._declares = own
            self._nested = 1
            self._dropped = 0
            if self._name != name[0]:
                self._name = name[0]
                self._own = re.compile(rb"<(?:[!?]|/?" + re.escape(name[0]) + rb"(?=[\s/>]))")
            if tag.endswith(b"/>"):
                return self._cut(end)
        elif not tag.endswith(b"/>"):
            self._open.append({each: self._scope.get(each) for each in own})
            self._scope.update(own)
        return None

    def _leave(self, replaced: dict[bytes, bytes | None]) -> None:
        for name, value in replaced.items():
            if value is None:
                del self._scope[name]
            else:
                self._scope[name] = value

    def _inside(self) -> bytes | None:
        buffer = self._buffer
        # The last bytes may be the start of something.
        safe = len(buffer) - (0 if self._final else max(len(self._name) + 3, _LONGEST_OPENING))
        found = self._own.search(buffer, self._at)
        if found is None:
            self._at = max(self._at, safe)
            return None
        at = self._at = found.start()
        if found[0] in (b"<!", b"<?"):
            self._skipped(at)
            return None
        end = self._tag_end(at)
        if end < 0:
            return None
        self._at = end
        if found[0].startswith(b"</"):
            self._nested -= 1
            if not self._nested:
                return self._cut(end)
        elif self._buffer[end - 2 : end] != b"/>":
            self._nested += 1
        return None

    def _cut(self, end: int) -> bytes:
        """The open record, which ends here."""
        length = self._dropped + end - self._start
        rest = b"" if self._dropped else bytes(self._buffer[self._body : end])
        self._at, self._start = end, -1
        self.count += 1
        if length > self._max_bytes:
            return problem(
                f"record {self.count:,} has {length:,} bytes, more than the {self._max_bytes:,} allowed"
            )
        carried = self._declared(rest) if self._scope else b""
        if self._carried + len(carried) > _CARRIED + _CARRIED_SHARE * self._fed:
            return problem(
                f"record {self.count:,} needs {len(carried):,} bytes of namespace declarations of its "
                f"ancestors, and so many of them are more than {_CARRIED_SHARE} times what was read"
            )
        self._carried += len(carried)
        return self._front + carried + rest

    def _declared(self, rest: bytes) -> bytes:
        """The inherited declarations that the open record may use."""
        scope, text = self._scope, self._front + rest
        if len(scope) <= _FEW:
            used = [name for name in scope if name == b"xmlns" or name[6:] + b":" in text]
        else:
            prefixes = {b"xmlns:" + found for found in _PREFIX.findall(text)} | {b"xmlns"}
            used = sorted(name for name in prefixes if name in scope)
        return b"".join(
            b" " + name + b"=" + scope[name]
            for name in used
            if name not in self._declares and scope[name] not in (b'""', b"''")
        )

    def _skipped(self, at: int) -> bool:
        """Whether a comment, CDATA, instruction or DOCTYPE starts here; `_at` goes behind it if it ends."""
        buffer = self._buffer
        front = bytes(buffer[at : at + _LONGEST_OPENING])
        if front[1:2] not in (b"!", b"?"):
            return False
        if front.startswith(b"<?"):
            end = self._ending(b"?>", at + 2)
        elif front.startswith(b"<!--"):
            end = self._ending(b"-->", at + 4)
        elif len(front) < _LONGEST_OPENING and not self._final:
            return True
        elif front == b"<![CDATA[":
            end = self._ending(b"]]>", at + 9)
        elif front == b"<!DOCTYPE" and self._start < 0:
            end = self._doctype_end(at + 9)
        else:
            end = at + 2  # no XML; the reader will say so
        if end >= 0:
            self._at = end
        return True

    def _ending(self, mark: bytes, start: int) -> int:
        if self._sought and self._sought[0] == mark:
            start = max(start, self._sought[1])
        end = self._buffer.find(mark, start)
        if end < 0:
            self._sought = (mark, max(start, len(self._buffer) - len(mark) + 1))
            return -1
        self._sought = None
        return end + len(mark)

    def _tag_end(self, at: int) -> int:
        """Behind the tag that starts here; -1 if it does not end yet."""
        # A tag can only end where a `>` is, so a long one is looked at again when there is a new one.
        start = self._sought[1] if self._sought and self._sought[0] == b">" else at
        if self._buffer.find(b">", start) < 0:
            self._sought = (b">", max(start, len(self._buffer)))
            return -1
        found = _TAG.match(self._buffer, at)
        if found is None:
            self._sought = (b">", len(self._buffer))
            return -1
        self._sought = None
        return found.end()

    def _doctype_end(self, at: int) -> int:
        buffer, depth = self._buffer, 0
        while found := _DOCTYPE.search(buffer, at):
            token, at = found[0], found.end()
            if token == b"[":
                depth += 1
            elif token == b"]":
                depth -= 1
            elif token == b">" and depth <= 0:
                return at
            elif token != b">":
                end = buffer.find({b"<!--": b"-->", b"<?": b"?>"}.get(token, token), at)
                if end < 0:
                    return -1
                at = end + 1
        return -1

    def _is_record(self, name: bytes, own: Declarations) -> bool:
        prefix, colon, local = name.rpartition(b":")
        if local != self._local:
            return False
        if self._uri is None:
            return True
        declared = b"xmlns:" + prefix if colon else b"xmlns"
        value = own.get(declared) or self._scope.get(declared, b'""')
        return unescape(value[1:-1].decode("utf-8", "replace")) == self._uri


def _declarations(tag: bytes, start: int) -> Declarations:
    if b"xmlns" not in tag:
        return {}
    attributes = (attribute.groups() for attribute in _ATTRIBUTE.finditer(tag, start))
    return {name: value for name, value in attributes if name == b"xmlns" or name.startswith(b"xmlns:")}
