"""A text is read in the encoding that it declares if that is one of texts."""

OTHERS = "rot13 zip hex idna punycode utf-7 unicode_escape raw_unicode_escape undefined cp037 nowhere"
CASES = {"cp1250": "cp1250", "ISO-8859-2": "iso8859-2", "Shift_JIS": "shift_jis"}
for name, want in (CASES | dict.fromkeys(OTHERS.split(), "utf-8")).items():
    rows = "<tr><td>x\\x41+AGE-<td>1" * 5
    is_ = found(f"{name}.html", f"<html><meta charset={name}><table><tr><th>a<th>b{rows}</table>")
    same(name, "encoding", (is_.get("encoding"), is_.get("problem")), (want, None))
