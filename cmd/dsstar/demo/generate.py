"""Writes the data folder of the demo: one year of Pier & Pedal, the bike share of a harbour town.

    python generate.py OUTDIR

Company, town and numbers are invented; the data are CC0. The output is the same everywhere: the
only source of randomness is random.Random(SEED).random(), which Python keeps stable, and only
+ - * / and int() are applied to it. Needs openpyxl.
"""

import csv
import json
import random
import sqlite3
import sys
import zipfile
from bisect import bisect
from datetime import date, datetime, timedelta
from io import BytesIO
from itertools import accumulate
from pathlib import Path

from openpyxl import Workbook
from openpyxl.styles import Font

SEED = 1882
RIDES = 120_000
NEW_YEAR = date(2025, 1, 1)

# code, name, district, docks, share of the rides, share of casual riders, stretch of a casual ride
STATIONS = [
    ("BEA", "Seal Beach", "Shore", 24, 8.5, 0.62, 1.4),
    ("BOA", "Boatyard", "Harbour", 30, 7, 0.36, 1.0),
    ("BOT", "Botanic Garden", "Hill", 16, 5, 0.46, 1.2),
    ("BRE", "Brewery Lane", "Old Town", 14, 5, 0.34, 0.8),
    ("CEN", "Central Station", "Old Town", 40, 15, 0.28, 0.9),
    ("FER", "Ferry Pier", "Harbour", 32, 10, 0.46, 1.1),
    ("FIS", "Fish Market", "Harbour", 18, 7, 0.40, 0.9),
    ("HOS", "Hospital", "Hill", 16, 5, 0.16, 0.8),
    ("LIB", "Library", "Old Town", 14, 6, 0.22, 0.8),
    ("LIG", "Old Lighthouse", "Shore", 12, 4, 0.60, 1.4),
    ("LOC", "Canal Lock", "Canal", 12, 4, 0.34, 1.0),
    ("ROP", "Rope Walk", "Canal", 14, 5, 0.26, 0.9),
    ("TOW", "Town Hall", "Old Town", 22, 9, 0.30, 0.8),
    ("WIN", "Windmill Hill", "Hill", 10, 3, 0.42, 1.1),
]

# As the service desk typed them: by name, in the order of reporting, some twice.
CLOSURES = [
    ("Windmill Hill", "2025-01-06", "2025-01-19", "full", "Ice on the ramp"),
    ("Old Lighthouse", "2025-02-03", "2025-02-16", "full", "Storm tide"),
    ("Library", "2025-03-10", "2025-03-14", "partial", "New docks, half in use"),
    ("Fish Market", "2025-04-07", "2025-04-11", "full", "Drain works"),
    ("Rope Walk", "2025-05-12", "2025-05-25", "full", "Bridge repair"),
    ("Central Station", "2025-06-02", "2025-06-06", "partial", "Lift out of service"),
    ("Canal Lock", "2025-06-23", "2025-07-04", "full", "Lock gates changed"),
    ("Seal Beach", "2025-07-07", "2025-07-20", "full", "Storm damage to the promenade"),
    ("Town Hall", "2025-07-12", "2025-07-13", "full", "Street festival"),
    ("Seal Beach ", "2025-07-17", "2025-07-29", "full", "Promenade repaved"),
    ("Ferry Pier", "2025-08-01", "2025-08-10", "partial", "Regatta, half the docks in use"),
    ("Fish Market", "2025-08-02", "2025-08-03", "full", "Regatta"),
    ("Seal Beach", "2025-08-16", "2025-08-24", "partial", "Film crew on the north side"),
    ("Hospital", "2025-08-25", "2025-09-07", "full", "Car park rebuilt"),
    ("Brewery Lane", "2025-09-05", "2025-09-07", "full", "Hop fair"),
    ("Botanic Garden ", "2025-09-15", "2025-09-19", "partial", "Power cut, keypad only"),
    ("Seal Beach", "2025-09-26", "2025-10-12", "full", "Sand cleared from the docks"),
    ("Old Lighthouse", "2025-10-20", "2025-11-02", "full", "Storm tide"),
    ("Boatyard", "2025-11-24", "2025-11-28", "partial", "Stocktaking in the workshop"),
    ("Windmill Hill", "2025-12-15", "2025-12-31", "full", "Ice on the ramp"),
]

TARIFFS = {
    "currency": "EUR",
    "tariffs": [
        {
            "valid_from": "2025-01-01",
            "electric_extra": 0.50,
            "max_fare": 12.00,
            "plans": {
                "casual": {"unlock": 1.00, "free_minutes": 0, "per_minute": 0.15},
                "member": {"unlock": 0.00, "free_minutes": 20, "per_minute": 0.10},
            },
        },
        {
            "valid_from": "2025-08-15",
            "electric_extra": 0.60,
            "max_fare": 14.00,
            "plans": {
                "casual": {"unlock": 1.20, "free_minutes": 0, "per_minute": 0.16},
                "member": {"unlock": 0.00, "free_minutes": 20, "per_minute": 0.12},
            },
        },
    ],
}

HANDBOOK = """\
# Pier & Pedal: handbook for the office

*Fourteen stations, 260 bicycles, one harbour town. Edition of March 2025.*

## 1. Our year

The season opens at Easter, and so do our books: the fiscal year begins on **1 April** and is named after the calendar
year in which it begins. Fiscal year 2025 runs from 1 April 2025 to 31 March 2026; its quarters are April to June, July
to September, October to December, and January to March.

A ride belongs to the day on which it starts, even when it ends after midnight.

## 2. Fares

- The tariff that is valid on the day of the ride applies (`tariffs.json`).
- A ride costs the unlocking fee, plus the price per minute for every **begun** minute after the free minutes, plus
  the extra for an electric bicycle, once per ride; altogether never more than `max_fare`.
- Which bicycles are electric is recorded in `network.sqlite`.

## 3. Net revenue

Net revenue is the fares of the rides that count, credited to the station where the ride **starts**. These do not count:

- **Staff rides** (plan `staff`). Our mechanics and drivers unlock bicycles to take them to the workshop and to the
  stations that run empty. Nobody pays for that.
- **False starts**: a bicycle that is back in the station it came from in less than two minutes. We do not charge them.
- **Refunded rides** (status `refunded`): the whole fare has been paid back.
- **Open rides** (status `open`): a bicycle that was never returned. The service desk settles these by hand.

The docks sometimes report a ride twice when the network is slow. A ride number is one ride.

## 4. Open days

The service desk keeps the closures in `closures_2025.xlsx`. The first and the last day are both closed days. A station
is open on every day on which it is not **fully** closed; a partial closure is an open day.

We compare stations by net revenue **per open day**, because a station that is shut for works cannot earn anything.

## 5. Whom to ask

Fares and books: Ines, in the office above the Boatyard. Stations and closures: the service desk, daily 7 to 21.
"""

MONTHS = [3, 3, 5, 8, 11, 13, 16, 16, 11, 7, 4, 3]  # how busy
HOURS = [1, 1, 0, 0, 1, 2, 5, 9, 10, 7, 6, 7, 8, 8, 8, 9, 10, 12, 11, 8, 6, 4, 3, 2]


class Dice:
    def __init__(self, seed):
        self.random = random.Random(seed).random

    def chance(self, p):
        return self.random() < p

    def below(self, n):
        return int(self.random() * n)

    def pick(self, cumulative):
        """A random index with the given cumulative weights."""
        return bisect(cumulative, self.random() * cumulative[-1])


def closed_days():
    """The set of (station's name, date) of the full closures."""
    closed = set()
    for name, first, last, kind, _ in CLOSURES:
        day = date.fromisoformat(first)
        while kind == "full" and day <= date.fromisoformat(last):
            closed.add((name.strip(), day))
            day += timedelta(days=1)
    return closed


def make_bikes(dice):
    return [(f"PP{n:03d}", "electric" if dice.chance(0.3) else "classic") for n in range(1, 261)]


def make_rides(dice, bikes):
    """The rows of the CSV file, ordered by start."""
    days = [NEW_YEAR + timedelta(days=n) for n in range(365)]
    day_weights = list(accumulate(MONTHS[day.month - 1] * (1.15 if day.weekday() > 4 else 1.0) for day in days))
    hour_weights = list(accumulate(HOURS))
    station_weights = list(accumulate(station[4] for station in STATIONS))
    boatyard = [station[1] for station in STATIONS].index("Boatyard")
    closed = closed_days()

    def open_station(day):
        while True:
            n = dice.pick(station_weights)
            if (STATIONS[n][1], day) not in closed:
                return n

    starts = sorted(
        (dice.pick(day_weights), dice.pick(hour_weights) * 3600 + dice.below(3600)) for _ in range(RIDES)
    )
    rows = []
    for number, (day, second) in enumerate(starts, 1):
        day = days[day]
        start, end = open_station(day), open_station(day)
        status = "completed"
        if dice.chance(0.026):
            plan, seconds = "staff", 1800 + dice.below(19800)
            if dice.chance(0.8):
                start = boatyard
        else:
            casual = dice.chance(STATIONS[start][5])
            plan, u = "casual" if casual else "member", dice.random()
            seconds = 180 + int(u * u * (3900 * STATIONS[start][6] if casual else 2100))
            if dice.chance(0.025):  # a false start
                end, seconds = start, 20 + dice.below(90)
            elif dice.chance(0.012):
                status = "refunded"
            elif dice.chance(0.002):
                status = "open"
        began = datetime(day.year, day.month, day.day) + timedelta(seconds=second)
        row = [
            f"R{number:06d}",
            bikes[dice.below(len(bikes))][0],
            plan,
            STATIONS[start][0],
            STATIONS[end][0] if status != "open" else "",
            began.isoformat(" "),
            (began + timedelta(seconds=seconds)).isoformat(" ") if status != "open" else "",
            status,
        ]
        rows.append(row)
        if dice.chance(0.004):  # reported twice
            rows.append(row)
    return rows


def write_rides(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(
            ["ride", "bike", "plan", "start_station", "end_station", "started_at", "ended_at", "status"]
        )
        out.writerows(rows)


def write_network(path, bikes):
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE stations (code TEXT PRIMARY KEY, name TEXT, district TEXT, docks INTEGER)")
    db.execute("CREATE TABLE bikes (bike TEXT PRIMARY KEY, kind TEXT)")
    db.executemany("INSERT INTO stations VALUES (?, ?, ?, ?)", [station[:4] for station in STATIONS])
    db.executemany("INSERT INTO bikes VALUES (?, ?)", bikes)
    db.commit()
    db.close()


def write_closures(path):
    book = Workbook()
    sheet = book.active
    sheet.title = "Closures"
    sheet.append(["Pier & Pedal: closures of stations, 2025"])
    sheet.append(["Kept by the service desk; last change 8 January 2026"])
    sheet.append([])
    sheet.append(["Station", "First day", "Last day", "Kind", "Reason"])
    for name, first, last, kind, reason in CLOSURES:
        sheet.append([name, date.fromisoformat(first), date.fromisoformat(last), kind, reason])
    sheet.append(["End of list"])
    sheet["A1"].font = Font(bold=True, size=14)
    for cell in sheet[4]:
        cell.font = Font(bold=True)
    for column, width in zip("ABCDE", (20, 12, 12, 10, 34)):
        sheet.column_dimensions[column].width = width

    # openpyxl writes the current time into the workbook; replace it, so that the file is reproducible.
    stamped = BytesIO()
    book.save(stamped)
    with zipfile.ZipFile(stamped) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "docProps/core.xml":
                now = book.properties.modified.strftime("%Y-%m-%dT%H:%M:%SZ")
                created = book.properties.created.strftime("%Y-%m-%dT%H:%M:%SZ")
                for stamp in (now, created):
                    content = content.replace(stamp.encode(), b"2026-01-08T09:00:00Z")
            target.writestr(zipfile.ZipInfo(name), content)


def main(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    dice = Dice(SEED)
    bikes = make_bikes(dice)
    write_rides(folder / "rides_2025.csv", make_rides(dice, bikes))
    write_network(folder / "network.sqlite", bikes)
    write_closures(folder / "closures_2025.xlsx")
    (folder / "tariffs.json").write_bytes((json.dumps(TARIFFS, indent=2) + "\n").encode())
    (folder / "handbook.md").write_bytes(HANDBOOK.encode())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python generate.py OUTDIR")
    main(sys.argv[1])
