"""The calls of a table are not run again for another of its shape, and are for one that they may
read otherwise."""

import os
hints, profile = (sys.modules["dsstar_profile." + m] for m in ("hints", "profile"))
run, times = hints.File.run, []
hints.File.run = lambda *given: times.append(1) or run(*given)
def told(path):
    times.clear()
    return profile.text(path, 20), len(times)
def rows(word="w{}", number="{}", day="2024-01-{:02}", head="k,n,day,w\n"):
    return head + "".join(f"A{n},{number},{day},{word}\n".format(*[n % 28 + 1] * 3) for n in range(30))
texts = {"same.csv": rows("v{}", "3{}", "2023-05-{:02}"), "codes.csv": rows("00{}"), "dots.csv": rows("1.{}"),
    "minus.csv": rows(number="\u2212{}"), "marked.csv": rows(number='"1,0{}"'), "long.csv": rows(number="1344800117571260{}"),
    "days.csv": rows(day="202401{:02}"), "lines.csv": rows('"a\n{}"'), "blank.csv": rows() + "\n\n" + rows(head=""),
    "noted.csv": rows() + "Source: x\n", "names.csv": rows(head="k,n, day,w\n"), "late.csv": rows().replace("A7,8", "A7,late"),
    "missing.csv": rows().replace("A7,8", "A7,-"), "more.csv": rows() + "a,1,2024-01-01,w,5\n", "bytes.csv": rows("\x00w{}"),
    "read.csv": rows().replace("w7\n", "-NaN\n").replace("w8\n", "1.#IND\n"),
    "same.csv.gz": rows(), "same.zip": rows(), "tab.csv": rows().replace(",", "\t"), "two.csv": rows() + "\n" + rows()}
for name, text in texts.items():
    open(name, "w").write(text)
alone = {}
for name in texts:
    hints.KNOWN.clear()
    alone[name], _ = told(name)
hints.KNOWN.clear()
open("first.csv", "w").write(rows())
assert told("first.csv")[1]
for name in texts:
    known, runs = told(name)
    assert known == alone[name], name + "\n" + known + "\n" + alone[name]
    assert bool(runs) == (name != "same.csv"), name
