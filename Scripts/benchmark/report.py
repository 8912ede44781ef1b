"""Turns the runs into medians and ratios, as Markdown and as JSON."""

import dataclasses
import json
import os
import statistics

import operations
import targets

TITLES = {"shapeedit-nopt": "shapeedit, no passthrough"}


def summarise(results):
    """Adds medians to each cell, and ratios to the native system's."""
    for cells in results.values():
        for cell in cells.values():
            if cell["runs"] and "error" not in cell:
                for figure in ("wall", "cpu"):
                    cell[figure] = statistics.median(run[figure] for run in cell["runs"])
        native = cells.get("native", {})
        for cell in cells.values():
            for figure in ("wall", "cpu"):
                if cell.get(figure) and native.get(figure):
                    cell[figure + "_ratio"] = cell[figure] / native[figure]


def markdown(facts, sizes, repetitions, names, report):
    native = facts["native"]
    lines = ["# ShapeEdit benchmark", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    lines += [
        f"- repetitions: {repetitions}, interleaved; medians", "",
        f"{native}: wall and CPU time. The others: wall time as a multiple of {native}'s, in",
        "parentheses CPU time (client and daemon) as a multiple. Less is better.", ""]
    lines += _rounds_table(sizes, names, native, report["operations"])
    notes = _notes(report["operations"])
    if notes:
        lines += ["", *notes]
    for part in (_memory(report.get("memory")), _mount(report.get("mount")),
                 _editing(report.get("editing")), _lists(report.get("lists")),
                 _drawing(report.get("drawing")), _pictures(report.get("pictures")),
                 _coordination(report.get("coordination")), _promises(report.get("promises"))):
        if part:
            lines += ["", *part]
    checked = targets.check(report)
    if checked:
        lines += ["", "| Target | Measured | |", "|---|---:|---|"]
        lines += [f"| {text} | {measured} | {'reached' if reached else '**missed**'} |"
                  for text, measured, reached in checked]
    return "\n".join(lines) + "\n"


def _rounds_table(sizes, names, native, results):
    if not results:
        return []
    heads = [native if name == "native" else TITLES.get(name, name) for name in names]
    lines = ["| Operation | " + " | ".join(heads) + " |", "|---" * 1 + "|---:" * len(heads) + "|"]
    values = {name: f"{value:,}" for name, value in dataclasses.asdict(sizes).items()}
    for operation in operations.ALL:
        if operation.name in results:
            cells = [_cell(name, results[operation.name].get(name, {})) for name in names]
            title = operation.title.format(**values)
            lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return lines


def _cell(name, cell):
    if "wall" not in cell:
        return "n/a"
    if name == "native" or "wall_ratio" not in cell:
        return f"{_milliseconds(cell['wall'])} ({_milliseconds(cell['cpu'])})"
    return f"{_ratio(cell['wall_ratio'])} ({_ratio(cell['cpu_ratio'])})"


def _notes(results):
    """Why cells are empty: one line for each system and reason."""
    reasons = {}
    for operation, cells in results.items():
        for name, cell in cells.items():
            if "error" in cell:
                reasons.setdefault((name, cell["error"]), []).append(operation)
    return [f"- {name}, {', '.join(where)}: {reason}"
            for (name, reason), where in reasons.items()]


def _memory(results):
    if not results:
        return []
    lines = ["| Memory of the daemon | empty | all listed | items | per item |",
             "|---|---:|---:|---:|---:|"]
    for name, cell in results.items():
        title = TITLES.get(name, name)
        if "error" in cell:
            lines.append(f"| {title} | n/a: {cell['error']} | | | |")
        else:
            lines.append(f"| {title} | {_mebibytes(cell['empty'])} | "
                         f"{_mebibytes(cell['resident'])} | {cell['items']:,} | "
                         f"{cell['per_item']:.0f} B |")
    return lines


def _mount(results):
    if not results:
        return []
    lines = ["| Mount until a file answers | items | disk cold | disk warm | memory then |",
             "|---|---:|---:|---:|---:|"]
    for name, cell in results.items():
        cold = _milliseconds(cell["cold"]) if "cold" in cell else "n/a"
        lines.append(f"| {TITLES.get(name, name)} | {cell['items']:,} | {cold} | "
                     f"{_milliseconds(cell['warm'])} | {_mebibytes(cell['resident'])} |")
    return lines


def _editing(results):
    if not results:
        return []
    places = results["places"]
    lines = ["| One-value edit, from start to end | " + " | ".join(places) + " |",
             "|---" + "|---:" * len(places) + "|"]
    for file in next(iter(places.values())):
        cells = [_cell("native", cells[file]) for cells in places.values()]
        lines.append(f"| {file} | " + " | ".join(cells) + " |")
    lines += ["", f"Starting `true` takes {_milliseconds(results['start']['wall'])}."]
    lines += ["", "Scripts: " + "; ".join(
        f"{int(count):,} lines {_cell('native', cell)}"
        for count, cell in results["scripts"].items()) + "."]
    if "error" in results:
        lines += ["", f"No mounted container: {results['error']}"]
    return lines


def _lists(results):
    if not results:
        return []
    return [f"Reading {results['count']:,} lists: {_cell('native', results)}."]


def _drawing(results):
    if not results:
        return []
    if "error" in results:
        return [f"No pictures: {results['error']}"]
    lines = ["| Picture, as PNG | CPU | |", "|---|---:|---|"]
    lines += [f"| {name} | {_milliseconds(cell['cpu'])} | {cell['facts']} |"
              for name, cell in results["pictures"].items()]
    return lines + ["", f"Largest memory while drawing: {_mebibytes(results['memory'])}."]


def _pictures(results):
    if not results:
        return []
    lines = ["| close() | with picture: p50, p99 | without: p50, p99 |", "|---|---:|---:|"]
    for kind, cells in results["close"].items():
        figures = [", ".join(_milliseconds(cells[label][part]) for part in ("p50", "p99"))
                   for label in ("with", "without")]
        lines.append(f"| .{kind} | " + " | ".join(figures) + " |")
    read = results["read"]
    lines += ["", f"| Reading {read['count']:,} ready pictures | bytes each | native | pictures | |",
              "|---|---:|---:|---:|---:|"]
    for size, cell in read["sizes"].items():
        lines.append(f"| {size} | {cell['bytes']:,} | {_milliseconds(cell['native'])} | "
                     f"{_milliseconds(cell['picture'])} | "
                     f"{_ratio(cell['picture'] / cell['native'])} |")
    burst, promised, memory = results["burst"], results["promises"], results["memory"]
    return lines + [
        "", f"{burst['count']:,} new slides are copied in {burst['copied alone']:.1f} s and all have "
        f"pictures after {burst['drawn alone']:.1f} s, the largest after "
        f"{burst['complete alone']:.1f} s; with `ls -l` of 1,000 other documents beside "
        f"after {burst['drawn']:.1f} s, and that takes "
        f"{_ratio(burst['ls with'] / burst['ls without'])} times what it takes without pictures.",
        "", f"{promised['listed']:,} promises listed and {promised['pictures']:,} of their pictures "
        f"read in {promised['seconds']:.1f} s: {promised['fetched']:,} bytes fetched, "
        f"{promised['drawn']:,} pictures drawn.",
        "", f"The daemon's own memory over {memory['count']:,} publishes, {memory['drawn']:,} pictures drawn: "
        f"{_mebibytes(memory['with']['first'])} in the second quarter, "
        f"{_mebibytes(memory['with']['last'])} in the last; without pictures "
        f"{_mebibytes(memory['without']['first'])} and {_mebibytes(memory['without']['last'])}."]


def _coordination(results):
    if not results:
        return []
    lock, queries = results["lock"], results["queries"]
    rows = [("flock and its end, native", lock["native"]),
            ("flock and its end, in the mount", lock["mount"]),
            ("the same of a virtual file: the kernel's round trips alone", lock["bare"]),
            *([("flock and its end, passthrough_ll", lock["peer"])] if "peer" in lock else []),
            ("claim and release over the control socket", results["claim"]),
            ("close until a presenter is told", results["present"]),
            ("close until `.shapeedit/events` tells of it", results["event"]),
            (f"all of {queries['count']:,} documents by path", queries["all"]),
            ("the same by `shapeedit find`", queries["command"]),
            ("one of them by its name", queries["one"]),
            ("those with a word", queries["words"]),
            ("a new document and a query for a word in it", queries["new words"]),
            ("close until a live query of all of them tells of it", results["update"]),
            ("a save without live queries", results["publish"]["without"]),
            ("a save with 1,000 live queries", results["publish"]["with"])]
    return ["| Coordination and queries | |", "|---|---:|"] + [
        f"| {title} | {seconds * 1e3:,.3f} ms |" for title, seconds in rows]


def _promises(results):
    if not results:
        return []
    if "error" in results:
        return [f"No promises: {results['error']}"]
    lines = ["| Contents from a server | first byte of 1 MiB | 256 MiB | 1,000 of 4 KiB, 16 at once |",
             "|---|---:|---:|---:|"]
    for name, cell in results["systems"].items():
        if "error" in cell:
            lines.append(f"| {name} | n/a: {cell['error']} | | |")
            continue
        figures = [_milliseconds(cell[figure] * 1e9) if figure in cell else ""
                   for figure in ("first", "large", "small")]
        title = {"server": "a GET, curl", "kept": "the same, into a file"}.get(
            name, TITLES.get(name, name))
        lines.append(f"| {title} | " + " | ".join(figures) + " |")
    imported, local = results["imported"], results["local"]
    lines += ["", "| Listing 10,000 with attributes | first | all | warm |", "|---|---:|---:|---:|"]
    for name, cell in (("imported", imported), ("local", local)):
        lines.append(f"| {name} | " + " | ".join(
            _milliseconds(cell[figure] * 1e9) for figure in ("first", "cold", "warm")) + " |")
    memory = results["memory"]
    lines += [
        "", f"Opening what has come takes {results['again'] * 1e6:.0f} us, what was made here "
        f"{results['own'] * 1e6:.0f} us. Importing {results['import']['items']:,} items takes "
        f"{results['import']['seconds']:.1f} s. Memory: {_mebibytes(memory['empty'])}, with them "
        f"{_mebibytes(memory['promises'])}, with 16 downloads {_mebibytes(memory['downloads'])}, in "
        f"{len(memory['rounds'])} rounds of 16 more {_mebibytes(min(memory['rounds']))} to "
        f"{_mebibytes(max(memory['rounds']))}."]
    return lines


def _ratio(value):
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _milliseconds(nanoseconds):
    value = nanoseconds / 1e6
    return f"{value:.1f} ms" if value < 100 else f"{value:,.0f} ms"


def _mebibytes(value):
    return f"{value / 2**20:.1f} MiB"


def save(folder, text, report):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "benchmark.md"), "w") as file:
        file.write(text)
    with open(os.path.join(folder, "benchmark.json"), "w") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
