"""The encoding of a text that says nothing of it: a guess by the letters that it would have."""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Iterator

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Letters beside those of ASCII, by language.
WEST = [
    "äöüß",
    "àâçéèêëîïôùûœ",
    "áéíóúüñ",
    "áâãàçéêíóôõú",
    "àèéìòù",
    "åäöæøé",
    "áðéíóúýþæö",
    "äöõüšž",
]
CENTRAL = ["áäčďéěíĺľňóôŕřšťúůýž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţ", "čćđšž", "äöüß"]
BALTIC = ["āčēģīķļņšūž", "ąčęėįšųūž", "äöõüšž"]
RUSSIAN = ["абвгдежзийклмнопрстуфхцчшщъыьэюяё", "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"]
GREEK = ["αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋ"]
# Encodings of one byte a character, the likely ones first.
SINGLE = {
    "cp1252": WEST,
    "cp1251": RUSSIAN,
    "cp1250": CENTRAL,
    "cp1253": GREEK,
    "cp1254": ["çğıiöşü"],
    "cp1257": BALTIC,
    "cp1255": ["".join(map(chr, range(0x5D0, 0x5EB)))],
    "cp1256": ["".join(map(chr, range(0x621, 0x64B)))],
    "cp874": ["".join(map(chr, range(0xE01, 0xE4F)))],
    "koi8-r": RUSSIAN,
    "cp866": RUSSIAN,
    "cp850": WEST,
    "cp852": CENTRAL,
    "iso8859-15": WEST,
    "iso8859-2": CENTRAL,
    "mac-roman": WEST,
}
# Encodings of two bytes a character, with the first bytes of the usual ones.
DOUBLE = {
    "cp932": [(0x82, 0x83), (0x88, 0x97)],
    "gb18030": [(0xB0, 0xD7)],
    "euc-jp": [(0xA4, 0xA5), (0xB0, 0xCF)],
    "cp949": [(0xB0, 0xC8)],
    "big5": [(0xA4, 0xC6)],
}
# The dashes, quotes and signs of cp1252 where they stand in a text, and letters of others do not.
SIGNED = re.compile(
    rb"(?<=[a-z])\x92(?=(s|t|d|m|re|ve|ll)\b)|(?<=s)\x92(?![a-z])|"
    rb"(?<![a-z\x80-\xff])[\x95-\x97](?![a-z\x80-\xff])|"
    rb"(?<![a-z])(\x93[ -~\x92\x96\x97\xa0]*\x94|\x91[ -~\x96\x97\xa0]*\x92)(?![a-z])|"
    rb"(?<=[a-z])\x97(?=[a-z])|(?<![a-z])\xa0|\xa0(?=(?-i:[ A-Z0-9]))|"
    rb"(?<=[a-z])\x99(?![a-z])|(?<!\d)[\x87\xa7](?![a-z])",
    re.IGNORECASE,
)
USUAL = "оеаинтсрвлαοιετσνηυρ"  # letters of which half of a text consists
SIGNS = set("€£§°«»„“”‘’–—…·²³½№µº¿¡©®×±")
DECLARED = re.compile(rb"""<(?:\?xml|meta)\s[^>]*(?:encoding|charset)\s*=\s*["']?([\w-]+)""", re.I)
# Encodings that a text may declare. Other codecs of Python make no text, or run over its escapes.
NAMED = re.compile(
    r"ascii|utf-8|iso8859-\d+|cp\d+|koi8-[rtu]|mac-\w+|gb(k|2312|18030)|big5(hkscs)?|johab|tis-620|"
    r"euc_(jp|kr|jis_2004|jisx0213)|shift_jis\w*|hp-roman8|kz1048|ptcp154"
)
PART = 1 << 16  # bytes that are looked at


def encoding(data: bytes) -> tuple[str, list[str]]:
    """The encoding of a text by its beginning, "" for what is none, and those that fit as well if
    it is a guess."""
    for mark, name in MARKS:
        if data.startswith(mark):
            return name, []
    part = data.rstrip(b"\0")[:PART] or data[:PART]
    if (zeros := part.count(0)) > len(part) // 5:
        odd, even = part[1::2].count(0), part[::2].count(0)
        if odd > 0.9 * zeros:
            return "utf-16-le", []
        return "utf-16-be" if even > 0.9 * zeros else "", []
    control = sum(part.count(c) for c in (*range(1, 9), *range(14, 27), 28, 29, 30, 31))
    if control > len(part) / 100 + 1 or zeros and (zeros > len(part) / 20 + 2 or not _text(part)):
        return "", []
    if said := DECLARED.search(data[:1024]):
        with contextlib.suppress(LookupError, UnicodeDecodeError):
            name = codecs.lookup(said[1].decode()).name
            if NAMED.fullmatch(name) and said[0].decode(name).isascii():
                codecs.getincrementaldecoder(name)().decode(data)
                return name, []
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
        return "utf-8", []
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        if 5 * text.count("\ufffd") < sum(c > "\x7f" for c in text):
            return "utf-8", []
    ranked = sorted(_scored(data), key=lambda s: -s[0])
    best, name, as_text = ranked[0]
    others = [n for score, n, text in ranked[1:] if text != as_text and score > 0.9 * best]
    return name, others[:4] or ["no other"]


def _text(part: bytes) -> bool:
    """Whether bytes with a few zeros among them are lines of text all the same."""
    bare = part.replace(b"\0", b"")
    return bare.count(b"\n") + bare.count(b"\r") > len(bare) / 2000 and (
        sum(32 <= c < 127 for c in bare) > 0.7 * len(bare)
    )


def _scored(data: bytes) -> Iterator[tuple[float, str, str]]:
    """How likely each encoding is, with what the lines that tell of it would be."""
    lines = [x for x in re.split(rb"[\r\n]+", data[: 16 * PART]) if re.search(rb"[\x80-\xff]", x)]
    sample = b"\n".join(lines)[:PART]
    rest = SIGNED.sub(b"", sample)
    if b"\x87" in sample:  # which is the second one of two signs
        rest = rest.replace(b"\x86", b"")
    if rest.isascii():
        yield 2.0, "cp1252", sample.decode("cp1252", "replace")
    for name, first in DOUBLE.items():
        try:
            codecs.getincrementaldecoder(name)().decode(data)
            text = codecs.getincrementaldecoder(name)().decode(sample)
        except UnicodeDecodeError:
            continue
        pairs = re.findall(rb"[\x81-\xfe][\x40-\xfe]", sample)
        usual = sum(any(low <= p[0] <= high for low, high in first) for p in pairs)
        alone = len(re.findall(r"[A-Za-z][^\x00-\x7f][A-Za-z,;\t]", text))
        only = 0.05 if name == "cp949" and usual == len(pairs) > 3 else 0  # of few first bytes
        yield (usual - 2 * alone) / max(1, len(pairs)) + 0.1 + only, name, text
    for place, (name, languages) in enumerate(SINGLE.items()):
        text = sample.decode(name, "replace")
        yield _likely(text, languages) - place / 1000, name, text


def _likely(text: str, languages: list[str]) -> float:
    """The share of the letters beside ASCII's that one language has, less what no text has."""
    high = [c for c in text if c > "\x7f" and c != "\xa0"]
    if not high:
        return 0.0
    lower = [c.lower()[0] for c in high]
    best = max(sum(c in language for c in lower) for language in languages)
    latin = languages[0][0] < "\u0250"
    wrong = sum(not c.isalpha() and c not in SIGNS for c in high)
    for a, b in zip(text, text[1:], strict=False):
        if max(a, b) > "\x7f" and a.isalpha() and b.isalpha():
            wrong += a.islower() and b.isupper()
            wrong += not latin and min(a, b) < "\x7f"
    wrong += languages is GREEK and not any(c in "άέήίόύώ" for c in lower)
    usual = sum(c in USUAL for c in lower) if not latin else 0
    return (best + 0.5 * sum(c in SIGNS for c in high) - 2 * wrong + 0.1 * usual) / len(high)
