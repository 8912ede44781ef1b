"""Scripts/bench: see --help. This file reads the arguments and puts the parts together."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import coordination
import documents
import footprint
import machine
import operations
import pictures
import promises
import report
import rounds
import systems

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT_OUTPUT = os.path.join(HERE, "..", "..", ".build", "benchmark")


def choice(known):
    def parse(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(known)}")
        return [name for name in known if name in names]
    return parse


def arguments():
    parser = argparse.ArgumentParser(prog="Scripts/bench", description=(
        "Measures ShapeEdit against the native file system, bindfs, passthrough_ll and rclone."))
    parser.add_argument("--quick", action="store_true", help="a tenth of the size, 3 repetitions")
    parser.add_argument("--only", type=choice(operations.NAMES), default=operations.NAMES,
                        metavar="OP,...", help=", ".join(operations.NAMES))
    parser.add_argument("--systems", type=choice(systems.NAMES), default=systems.NAMES,
                        metavar="NAME,...", help=", ".join(systems.NAMES))
    parser.add_argument("--items", type=int, help="items of the mount time test (1000000)")
    parser.add_argument("--repetitions", type=int, help="rounds (5)")
    parser.add_argument("--cpus", default="0", help="CPU list for client and daemons alike (0): "
                        "one CPU leaves out the noise of waking another")
    parser.add_argument("--directory", default="/var/tmp", help="where to work, on a disk")
    parser.add_argument("--output", default=DEFAULT_OUTPUT, metavar="DIR",
                        help="for benchmark.md and benchmark.json (.build/benchmark)")
    return parser.parse_args()


def say(text):
    print(text, file=sys.stderr, flush=True)


def compile_client(folder):
    program = os.path.join(folder, "client")
    subprocess.run(["gcc", "-O2", "-std=c11", os.path.join(HERE, "client.c"), "-o", program],
                   check=True)
    return program


def start(names, folder, cpus, started):
    """Mounts every system that can be and adds it to `started`; says why about the others."""
    for name in names:
        try:
            system = systems.make(name, folder, cpus, os.environ.get("SHAPEEDIT_BINARY"))
            started.append(system)
            system.mount()
            os.listdir(system.root)
            system.settle()
            system.resident_empty = system.resident()
        except (systems.Unavailable, subprocess.CalledProcessError) as error:
            say(f"{name} is left out: {error}")
            if started and started[-1].name == name:
                started.pop().unmount()


BUSY = 0.5  # A load from which on medians of few runs are not worth much.


def run(options, folder):
    sizes = operations.Sizes()
    if options.quick:
        sizes = sizes.quick()
    repetitions = options.repetitions or (3 if options.quick else 5)
    facts = {"native": machine.file_system_type(folder), **machine.describe(options.cpus)}
    if os.getloadavg()[0] > BUSY:
        say("warning: this machine is busy; expect noise, and trust CPU time more than wall time")
    started = []
    outcome = {"facts": facts, "sizes": vars(sizes), "repetitions": repetitions, "operations": {}}
    try:
        measure(options, folder, sizes, repetitions, started, outcome)
    except (KeyboardInterrupt, SystemExit):
        # An hour's work is not lost because the last minute is missing.
        facts["run"] = "interrupted; what is not there was not measured"
        raise
    finally:
        for system in started:
            system.unmount()
        facts["load at end"] = f"{os.getloadavg()[0]:.2f}"  # About 1 is the benchmark itself.
        report.summarise(outcome["operations"])
        text = report.markdown(
            facts, sizes, repetitions, [system.name for system in started], outcome)
        report.save(options.output, text, outcome)
        print(text)
        say(f"saved in {os.path.abspath(options.output)}")


def measure(options, folder, sizes, repetitions, started, outcome):
    """Fills `outcome` part by part, and `started` with the systems that are compared."""
    binary = os.environ.get("SHAPEEDIT_BINARY")
    client = rounds.Client(compile_client(folder), options.cpus)
    compared = [name for name in options.only if name not in
                operations.DOCUMENTS + operations.PROMISES]
    if compared:
        start(options.systems, folder, options.cpus, started)
    timed = [name for name in compared if name not in operations.FOOTPRINT]
    for system in started:
        say(f"filling {system.name}")
        system.fill(operations.fill(client, sizes, options.only))
    rounds.run(client, started, timed, sizes, repetitions, say, outcome["operations"])
    if "memory" in options.only:
        outcome["memory"] = footprint.memory(client, started, sizes, say)
    if "mount" in options.only:
        outcome["mount"] = footprint.mount_time(
            client, started, options.items or sizes.items, repetitions, say)
    # Without the other daemons beside.
    for system in started:
        system.unmount()
    outcome.update(documents.measure(
        options.only, binary, folder, repetitions, sizes.lists, say))
    if "pictures" in options.only and binary:
        outcome["pictures"] = pictures.measure(
            binary, folder, client.prefix, repetitions, sizes, say)
    if "coordination" in options.only and binary:
        outcome["coordination"] = coordination.measure(binary, folder, sizes, say)
    outcome.update(promises.measure(options.only, binary, folder, min(repetitions, 3), say))


def main():
    options = arguments()
    # The same clean end for a signal as for an error: nothing stays mounted.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = tempfile.mkdtemp(prefix="shapeedit-bench.", dir=options.directory)
    # As System.spread does for the folders below.
    subprocess.run(["chattr", "+T", folder], capture_output=True)
    try:
        run(options, folder)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        # Never into something that is still mounted: it would delete through the mount.
        mounted = any(folder in line for line in open("/proc/self/mounts"))
        if mounted:
            say(f"something is still mounted below {folder}; it is left as it is")
        else:
            shutil.rmtree(folder, ignore_errors=True)


main()
