#!/usr/bin/env python3
"""Times what users type: s_zip beside zip, bsdtar, 7z, unzip and Python's zipfile, on inputs that it makes.

usage: s_zip/benches/commands.py [--program S_ZIP] [--rounds N] [--into README.md]

  --program S_ZIP    the program (default: target/release/s_zip of this crate or of the folder above it)
  --rounds N         how often each command runs, all of them in turn (default: 15; one more warms up)
  --into FILE        puts the table between the marks of a file, too

Files go to TMPDIR. Every archive is read back, and every folder compared with the input.
"""

import argparse
import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from pathlib import Path

MARKS = ("<!-- commands -->\n", "<!-- /commands -->\n")
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
WORDS = 4000


def make_inputs(folder):
    """Many small files in folders, and one large log; always the same."""
    numbers = random.Random(1)
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    often = range(26, 0, -1)
    words = ["".join(numbers.choices(letters, often, k=numbers.randint(2, 10))) for _ in range(WORDS)]
    weights = [1 / (rank + 3) for rank in range(WORDS)]
    for index in range(1500):
        file = folder / "many" / f"part {index % 40}" / f"{index}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = numbers.choices(words, weights, k=int(numbers.lognormvariate(7.2, 1)))
        lines = ("    " * (at % 3) + " ".join(text[at : at + 9]) + ";" for at in range(0, len(text), 9))
        file.write_text("\n".join(lines))
    (folder / "log").mkdir()
    with open(folder / "log" / "access.log", "w") as log:
        for second in range(200_000):
            who = f"10.{numbers.randrange(4)}.{numbers.randrange(256)}.{numbers.randrange(256)}"
            path = "/".join(numbers.choices(words[:300], weights[:300], k=3))
            when = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(1_700_000_000 + second // 7))
            code = numbers.choice([200, 200, 200, 304, 404])
            size, agent = numbers.randrange(90_000), f"agent/{second % 9}.0"
            log.write(f'{who} - - [{when}] "GET /{path} HTTP/1.1" {code} {size} "-" "{agent}"\n')


def commands(program):
    """What is typed, by task and name of the program; {archive}, {input} and {out} are filled in."""
    python = [sys.executable, "-m", "zipfile"]
    own = {
        "create": [["create", "{archive}", "{input}", *jobs] for jobs in ([], ["--jobs", str(CORES)])],
        "extract": [["extract", "{archive}", "--into", "{out}", *jobs] for jobs in ([], ["--jobs", "1"])],
        "test": [["test", "{archive}"]],
    }
    peers = {
        "create": {
            "zip": ["zip", "-qr", "{archive}", "{input}"],
            "bsdtar": ["bsdtar", "--format", "zip", "-cf", "{archive}", "{input}"],
            "7z": ["7z", "a", "-tzip", "-bso0", "-bsp0", "{archive}", "{input}"],
            "Python": [*python, "-c", "{archive}", "{input}"],
        },
        "extract": {
            "unzip": ["unzip", "-q", "{archive}", "-d", "{out}"],
            "bsdtar": ["bsdtar", "-xf", "{archive}", "-C", "{out}"],
            "7z": ["7z", "x", "-bso0", "-bsp0", "-o{out}", "{archive}"],
            "Python": [*python, "-e", "{archive}", "{out}"],
        },
        "test": {
            "unzip": ["unzip", "-tq", "{archive}"],
            "7z": ["7z", "t", "-bso0", "-bsp0", "{archive}"],
            "Python": [*python, "-t", "{archive}"],
        },
    }
    found = {}
    for task, typed in own.items():
        beside = {"create": 3, "extract": 4, "test": 2}[task]
        found[task] = {" ".join(["s_zip", task, *words[beside:]]): [program, *words] for words in typed}
        found[task] |= {name: words for name, words in peers[task].items() if shutil.which(words[0])}
    missing = sorted({name for of in peers.values() for name in of if not any(name in task for task in found.values())})
    return found, missing


def contents(folder):
    """The CRC-32 of every file, by its path."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): zlib.crc32(file.read_bytes()) for file in files}


def archived(archive):
    """The same of an archive, all of it read."""
    with zipfile.ZipFile(archive) as opened:
        if opened.testzip():
            sys.exit(f"{archive} is damaged")
        return {entry.filename: entry.CRC for entry in opened.infolist() if not entry.is_dir()}


class Bench:
    def __init__(self, folder, program):
        self.folder, self.tasks, self.missing = folder, *commands(program)
        make_inputs(folder)
        self.wanted, self.times, self.sizes = {}, {}, {}
        for name in ("many", "log"):
            self.wanted[name] = {f"{name}/{path}": crc for path, crc in contents(folder / name).items()}
            # Every program reads the same archive.
            with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                for path in self.wanted[name]:
                    archive.write(folder / path, path)
        self.check_testers()

    def run(self, words, archive, name, expect=0):
        """The seconds that a command takes."""
        words = [word.format(archive=archive, input=name, out="out") for word in words]
        start = time.perf_counter()
        ended = subprocess.run(words, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, errors="replace")
        seconds = time.perf_counter() - start
        if (ended.returncode == 0) != (expect == 0):
            sys.exit(f"{' '.join(words)} ended with {ended.returncode}: {ended.stdout}{ended.stderr}")
        return seconds

    def check_testers(self):
        """Whoever tests has to find damage."""
        bytes_ = bytearray((self.folder / "log.zip").read_bytes())
        bytes_[len(bytes_) // 2] ^= 1
        (self.folder / "damaged.zip").write_bytes(bytes_)
        for name, words in self.tasks["test"].items():
            # Python names the damaged entry and ends with 0.
            if name != "Python":
                self.run(words, "damaged.zip", "log", expect=1)

    def round(self, counts):
        """Runs every command once, in any order."""
        runs = [(task, name, label) for task, of in self.tasks.items() for name in self.wanted for label in of]
        random.shuffle(runs)
        for task, name, label in runs:
            out, made = self.folder / "out", self.folder / "made.zip"
            shutil.rmtree(out, ignore_errors=True)
            made.unlink(missing_ok=True)
            out.mkdir()
            archive = made.name if task == "create" else f"{name}.zip"
            seconds = self.run(self.tasks[task][label], archive, name)
            if task == "create":
                self.sizes[name, label] = made.stat().st_size
            got = {"create": lambda: archived(made), "extract": lambda: contents(out)}.get(task)
            if got and got() != self.wanted[name]:
                sys.exit(f"{label} ({task}) made something else of {name}")
            if counts:
                self.times.setdefault((task, name, label), []).append(seconds)

    def ratios(self, task, name, label, peer):
        return [theirs / ours for ours, theirs in zip(self.times[task, name, label], self.times[task, name, peer])]

    def table(self):
        peers = list(dict.fromkeys(peer for of in self.tasks.values() for peer in of if not peer.startswith("s_zip")))
        inputs = {"many": "many files", "log": "a log"}
        lines = [f"| command | input | its time | {' | '.join(peers)} |", f"| --- | --- | --: |{' --: |' * len(peers)}"]
        losses = []
        for task, of in self.tasks.items():
            for name in self.wanted:
                for label in (label for label in of if label.startswith("s_zip")):
                    cells = []
                    for peer in peers:
                        ratios = sorted(self.ratios(task, name, label, peer)) if peer in of else []
                        if not ratios:
                            cells.append("-")
                            continue
                        low, high = (ratios[round(part * (len(ratios) - 1))] for part in (0.1, 0.9))
                        cells.append(f"{statistics.median(ratios):.2f} ({low:.2f} to {high:.2f})")
                        if statistics.median(ratios) < 1:
                            losses.append(f"`{label}` of {inputs[name]} to {peer}")
                    own = statistics.median(self.times[task, name, label])
                    lines.append(f"| `{label}` | {inputs[name]} | {own:.3f} s | {' | '.join(cells)} |")
        for name in self.wanted:
            label = next(iter(self.tasks["create"]))
            own = self.sizes[name, label]
            cells = [f"{self.sizes[name, peer] / own:.3f}" if (name, peer) in self.sizes else "-" for peer in peers]
            lines.append(f"| size of the archive | {inputs[name]} | {own / 1e6:.2f} MB | {' | '.join(cells)} |")
        lines += ["", f"Slower than others: {'; '.join(losses) or 'nowhere'}."]
        return lines

    def about(self, rounds):
        facts = Path("/proc/cpuinfo")
        model = re.search(r"model name\s*: (.*)", facts.read_text()) if facts.exists() else None
        processor = model[1] if model else platform.processor() or platform.machine()
        host = f"{processor}, {CORES} cores, {platform.system()} {platform.release()}"
        files = [file for file in (self.folder / "many").rglob("*") if file.is_file()]
        many, log = (sum(file.stat().st_size for file in of) / 1e6 for of in (files, (self.folder / "log").iterdir()))
        lines = [
            "Times of others over that of the command in the first column, above 1 where it is faster: the median of",
            f"{rounds} rounds, and in parentheses all but the lowest and the highest tenth.",
            f"{len(files)} files of {many:.0f} MB together, a log of {log:.0f} MB. Host: {host}.",
        ]
        if self.missing:
            lines.append(f"Not there and left out: {', '.join(self.missing)}.")
        return [*lines, ""]


def main():
    usage, description = __doc__.split("usage: ")[1].split("\n")[0], __doc__.split("\n")[0]
    parser = argparse.ArgumentParser(usage=usage, description=description)
    crate = Path(__file__).resolve().parent.parent
    built = [folder / "target" / "release" / "s_zip" for folder in (crate, crate.parent)]
    parser.add_argument("--program", type=Path, default=next((path for path in built if path.exists()), built[0]))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--into", type=Path)
    asked = parser.parse_args()
    if not asked.program.exists():
        parser.error(f"{asked.program} is missing: run cargo build --release in {crate}")
    if asked.rounds < 1:
        parser.error("--rounds must be at least 1")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), str(asked.program.resolve()))
        for number in range(asked.rounds + 1):
            print(f"round {number} of {asked.rounds}", file=sys.stderr)
            bench.round(counts=number > 0)
        text = "\n".join(bench.about(asked.rounds) + bench.table()) + "\n"
    print(text, end="")
    if asked.into:
        before, rest = asked.into.read_text().split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        asked.into.write_text(before + MARKS[0] + text + MARKS[1] + after)


if __name__ == "__main__":
    main()
