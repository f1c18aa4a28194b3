#!/usr/bin/env python3
"""Bad input of all kinds: each ends with the right status and one sentence, and harms nothing.

    scripts/tests/bad_input.py [--all] [--seed S] [--only TEXT] [--share N]

Broken decks, IDX files, data sets, checkpoints, plans and machine files (bad_input_cases.py makes
them), CIFAR files, archives, images and NumPy files (bad_image_cases.py). The cases by hand always; of the mechanical ones (cut at a byte, a flipped bit, an odd value in
a plan) a sample, or with --all every one. For each: the expected status within ten seconds, on standard
error one sentence (a deck: one for each complaint), printable, that names what is wrong; no half-written
output; nothing that was there before is changed.
"""

import argparse
import dataclasses
import os
import pathlib
import random
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))

PATIENCE = 10  # [s] of processor time
HANGS = 60  # [s] on a machine that has other work, too
LONGEST = 15000  # [characters] of a line: it may name an overlong name
MEMORY = 8 << 30  # [bytes] of address space
# What no user should meet.
UNCLEAR = ("internal error", "terminate called", "what()", "std::", "bad_alloc", "HDF5-DIAG", "Aborted",
           "assert", "basic_string", "vector::", "[json.exception", "stoi", "stod")


@dataclasses.dataclass
class Case:
    """A call of the program in a folder of its own, and what must come of it."""

    kind: str
    name: str
    arguments: list[str]
    statuses: tuple[int, ...]
    prepare: Callable[[pathlib.Path], None] = lambda work: None
    says: str = ""  # in the message of a failure
    many: bool = False  # complaints may be many: a deck
    sampled: bool = False  # one of many like it
    same_answer: bytes | None = None  # what it must print if it ends with 0
    verify: Callable[[pathlib.Path], str] = lambda work: ""  # after status 0: what is wrong
    may_write: tuple[str, ...] = ()  # what may be new or other in the folder even after a failure


def contents(folder):
    """What is in a folder: path -> kind and bytes."""
    found = {}
    for root, folders, files in os.walk(folder):
        for name in folders + files:
            path = pathlib.Path(root) / name
            mode = path.lstat().st_mode
            kept = b""
            if stat.S_ISLNK(mode):
                kept = os.readlink(path).encode()
            elif stat.S_ISREG(mode) and path.stat().st_size < 1 << 26:
                kept = path.read_bytes()
            found[str(path.relative_to(folder))] = (stat.S_IFMT(mode), kept)
    return found


def processor_time():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def limit_memory():
    """For this process and those that it starts: a limit set in each child would cost a slow fork."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Runner:
    """Runs cases one after the other in a folder that each finds empty."""

    def __init__(self, program, folder):
        self.program = program
        self.work = folder / "work"
        self.slowest = (0.0, "")

    def run(self, case):
        """Return what is wrong with how the program took the case, "" if nothing is."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        case.prepare(self.work)
        before = contents(self.work)
        arguments = [a.replace("{work}", str(self.work)) for a in case.arguments]
        spent = processor_time()
        with subprocess.Popen([self.program, *arguments], cwd=self.work, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                out, err = process.communicate(timeout=HANGS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return f"it still ran after {HANGS} s"
        spent = processor_time() - spent
        self.slowest = max(self.slowest, (spent, f"{case.kind}: {case.name}"))
        if spent > PATIENCE:
            return f"it took {spent:.0f} s of processor time"
        return judge(case, process.returncode, out, err, self.work, before)


def judge(case, status, out, err, work, before):
    said = err.decode(errors="replace").strip()
    if status not in case.statuses:
        return f"status {status}, not {' or '.join(map(str, case.statuses))}: {said[-400:]}"
    if status == 0:
        if case.same_answer is not None and out != case.same_answer:
            return f"it took what is damaged, and answered {out!r} instead of {case.same_answer!r}"
        return case.verify(work) or unclear(said)
    return sentence(case, err, said) or unclear(said) or changed(case, work, before)


def sentence(case, err, said):
    lines = [line for line in said.splitlines() if line.strip()]
    try:
        err.decode()
    except UnicodeDecodeError:
        return f"the message is no UTF-8: {err!r}"
    if not lines:
        return "no message"
    if len(lines) > 1 and not case.many:
        return f"{len(lines)} lines instead of one: {said[:600]}"
    if any(ord(c) < 32 or 127 <= ord(c) < 160 for line in lines for c in line):
        return f"control characters in the message: {said!r}"
    if any(len(line) > LONGEST for line in lines):
        return f"a line of {max(map(len, lines))} characters: {said[:300]} ..."
    if len(lines[-1].split()) < 4:
        return f"no sentence: {said}"
    if case.says and case.says not in said:
        return f'no "{case.says}" in: {said[:600]}'
    return ""


def unclear(said):
    for word in UNCLEAR:
        if word in said:
            return f'"{word}" in: {said[:600]}'
    return ""


def changed(case, work, before):
    after = contents(work)
    for path in before.keys() | after.keys():
        if before.get(path) != after.get(path) and not path.startswith(case.may_write or ("\0",)):
            how = "gone" if path not in after else "new" if path not in before else "changed"
            return f"{path} is {how} after a failure"
    return ""


def chosen(cases, everything, rng, share):
    """All cases by hand, and of the sampled ones of each kind at most `share`."""
    if everything:
        return cases
    by_hand = [case for case in cases if not case.sampled]
    for kind in sorted({case.kind for case in cases}):
        sampled = [case for case in cases if case.sampled and case.kind == kind]
        by_hand += rng.sample(sampled, min(share, len(sampled)))
    return by_hand


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="not only a sample of the mechanical cases")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="cases whose kind and name hold this text")
    parser.add_argument("--share", type=int, default=6, help="sampled cases of each kind")
    options = parser.parse_args()
    limit_memory()
    import bad_image_cases  # Need this file's Case.
    import bad_input_cases
    folder = pathlib.Path(tempfile.mkdtemp())
    os.environ["CROSSBOW_CACHE"] = str(folder / "cache")
    program = os.environ["CROSSBOW_PROGRAM"]
    print(f"seed {options.seed}")
    try:
        start = time.monotonic()
        rng = random.Random(options.seed)
        cases = [*bad_input_cases.all_cases(program, folder, rng),
                 *bad_image_cases.all_cases(program, folder / "images")]
        cases = [c for c in chosen(cases, options.all, rng, options.share)
                 if options.only in f"{c.kind}: {c.name}"]
        runner = Runner(program, folder)
        failures = 0
        for case in cases:
            what = runner.run(case)
            if what:
                failures += 1
                print(f"FAILED: {case.kind}: {case.name}\n  crossbow {' '.join(case.arguments)[:400]}"
                      f"\n  {what}", flush=True)
        print(f"{len(cases)} cases, {failures} failed, {time.monotonic() - start:.0f} s; the slowest "
              f"{runner.slowest[0]:.1f} s ({runner.slowest[1]})")
        sys.exit(1 if failures or not cases else 0)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.modules["bad_input"] = sys.modules["__main__"]
    main()
