"""What the commands for documents cost: an edit from start to end, reading lists, pictures."""

import os
import re
import resource
import statistics
import subprocess
import sys
import time

# File, what makes it, and an edit for each round: another value each time, so that each writes.
EDITS = (
    ("Ball.shape", [], lambda n: ["set", "Ball.shape", f"Sphere.radius={1 + n % 7}"]),
    ("Solid.shapeFile", [],
     lambda n: ["set", "Solid.shapeFile", f"camera.position=0,0,{2 + n % 7}"]),
    ("Page.slide", [["add", "Page.slide", "circle", "Sun"]],
     lambda n: ["set", "Page.slide", f"Sun.radius={100 + n % 7}"]),
    ("Things.list", [["list", "add", "Things.list", "milk"]],
     lambda n: ["list", "toggle", "Things.list", "1"]),
)
EDIT_ROUNDS = 30
# Parts that a script makes and then changes, a line each.
SCRIPT_PARTS = (1_000, 4_000)
# As xargs would: the parser of the command line takes more than linear time of long ones.
FILES_AT_ONCE = 500
# A line of shapeedit-drawing-bench.
PICTURE = re.compile(r"(?P<name>\S+)\s+(?P<cpu>[\d.]+) (?:of (?P<budget>\d+) )?ms  (?P<facts>.*)")
MEMORY = re.compile(r"largest memory\s+(?P<used>\d+) MiB of (?P<budget>\d+)")


def timed(words, folder, environment):
    """Wall and CPU nanoseconds of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter_ns()
    subprocess.run(words, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter_ns() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": wall, "cpu": cpu * 1e9}


def median(runs):
    return {figure: statistics.median(run[figure] for run in runs) for figure in ("wall", "cpu")}


def environment(folder):
    """Containers and histories of the user stay untouched."""
    return {**os.environ, "HOME": folder, "XDG_DATA_HOME": os.path.join(folder, "data"),
            "XDG_STATE_HOME": os.path.join(folder, "state")}


def editing(binary, folder, repetitions, say):
    """{place: {file: medians}} of a one-value edit from the start of the program to its end, in an
    ordinary folder and in a mounted container; and what starting any program costs."""
    own = environment(folder)
    say("editing")
    starts = [timed(["true"], folder, own) for _ in range(repetitions)]
    results = {"start": median(starts), "places": {}}
    plain = os.path.join(folder, "plain")
    mount = os.path.join(folder, "mount")
    os.makedirs(plain)
    os.makedirs(mount)
    results["places"]["folder"] = _edits(binary, plain, own, repetitions)
    results["scripts"] = {str(2 * parts): _script(binary, plain, own, parts)
                          for parts in SCRIPT_PARTS}
    mounting = subprocess.run([binary, "mount", mount], env=own, capture_output=True, text=True)
    if mounting.returncode != 0:
        results["error"] = mounting.stderr.strip()
        return results
    try:
        inside = os.path.join(mount, "work")
        os.mkdir(inside)
        results["places"]["mount"] = _edits(binary, inside, own, repetitions)
    finally:
        subprocess.run([binary, "unmount", mount], env=own, check=True)
    return results


def _edits(binary, folder, own, repetitions):
    results = {}
    for file, preparations, edit in EDITS:
        for words in [["new", file], *preparations]:
            timed([binary, *words], folder, own)
        runs = [timed([binary, *edit(n)], folder, own) for n in range(repetitions + 3)]
        results[file] = median(runs[3:])
    return results


def _script(binary, folder, own, parts):
    """What a script takes that puts so many parts in and changes each of them."""
    script = os.path.join(folder, "script")
    with open(script, "w") as file:
        file.writelines(f"add cube Part{n}\n" for n in range(parts))
        file.writelines(f"move Part{n} 0,0,{n}\n" for n in range(parts))
    timed([binary, "new", "Scripted.shape", "--template", "empty"], folder, own)
    figures = timed([binary, "apply", "Scripted.shape", script], folder, own)
    os.remove(os.path.join(folder, "Scripted.shape"))
    return figures


def lists(binary, folder, count, repetitions, say):
    """The time to read that many lists of ten items, with `validate`."""
    own = environment(folder)
    say(f"lists: {count}")
    place = os.path.join(folder, "lists")
    os.makedirs(place)
    timed([binary, "new", "first.list"], place, own)
    words = [f"thing number {n}" for n in range(10)]
    timed([binary, "list", "add", "first.list", *words], place, own)
    with open(os.path.join(place, "first.list"), "rb") as file:
        content = file.read()
    names = [f"{n}.list" for n in range(count)]
    for name in names:
        with open(os.path.join(place, name), "wb") as file:
            file.write(content)
    commands = [[binary, "validate", *names[start:start + FILES_AT_ONCE]]
                for start in range(0, count, FILES_AT_ONCE)]
    runs = []
    for _ in range(repetitions):
        parts = [timed(command, place, own) for command in commands]
        runs.append({figure: sum(part[figure] for part in parts) for figure in ("wall", "cpu")})
    return {"count": count, **median(runs)}


def drawing(binary, say):
    """{job: CPU time, budget, facts} of the pictures, and the memory of all."""
    program = os.path.join(os.path.dirname(binary), "shapeedit-drawing-bench")
    if not os.access(program, os.X_OK):
        return {"error": f"{program} is not built"}
    say("drawing")
    result = subprocess.run([program], capture_output=True, text=True)
    if "largest memory" not in result.stdout:
        return {"error": (result.stderr or result.stdout).strip().splitlines()[-1]}
    pictures = {match["name"]: {"cpu": float(match["cpu"]) * 1e6, "facts": match["facts"],
                                "budget": match["budget"] and float(match["budget"]) * 1e6}
                for match in PICTURE.finditer(result.stdout)}
    memory = MEMORY.search(result.stdout)
    return {"pictures": pictures, "memory": int(memory["used"]) * 2**20,
            "memory_budget": int(memory["budget"]) * 2**20}


def measure(wanted, binary, folder, repetitions, count, say):
    """What is wanted of the three, by name."""
    if binary is None:
        print("documents are left out: there is no program", file=sys.stderr)
        return {}
    folder = os.path.join(folder, "documents")
    os.makedirs(folder)
    results = {}
    if "editing" in wanted:
        results["editing"] = editing(binary, folder, EDIT_ROUNDS, say)
    if "lists" in wanted:
        results["lists"] = lists(binary, folder, count, repetitions, say)
    if "drawing" in wanted:
        results["drawing"] = drawing(binary, say)
    return results
