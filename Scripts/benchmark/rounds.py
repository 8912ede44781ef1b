"""Runs the operations: round after round, in each round every operation over all systems."""

import subprocess

import machine
import operations

# Much more than an operation caches, because the kernel does not take what was freed last.
TOUCHED_MEBIBYTES = {"": 1024, operations.SMALL_GROUP: 1024, "large": 4096}


class Failed(Exception):
    """The client could not do the operation; the text is for the table."""


class Client:
    """The compiled client, pinned to the CPUs the daemons are pinned to."""

    def __init__(self, program, cpus):
        self.prefix = ["taskset", "--cpu-list", cpus, program]

    def __call__(self, *arguments):
        """Runs one operation; returns wall and CPU nanoseconds of its timed part."""
        done = subprocess.run(self.prefix + [str(argument) for argument in arguments],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(done.stderr.strip() or f"client ended with {done.returncode}")
        wall, user, system = map(int, done.stdout.split())
        return wall, user + system


def measure(client, operation, system, sizes, number):
    """One timed run. CPU is the client's plus the daemon's until that rests again."""
    limit = system.inode_limit()
    if limit is not None and operation.files(sizes) > limit:
        raise Failed(f"skipped: it keeps a descriptor per file, at most {limit}")
    if operation.cold and not machine.IS_ROOT:
        raise Failed("skipped: only root can empty the kernel's caches")
    arguments = operation.arguments(system.root, sizes, number)
    if operation.group == operations.SMALL_GROUP and machine.IS_ROOT:
        # The files of other rounds are forgotten: a system may keep descriptors for them.
        machine.drop_caches(operations.DENTRIES)
    if operation.primer:
        client(*operation.primer(system.root, sizes, number))
    if operation.name == "write-new":
        system.settle()  # rclone refuses to remove a file that it is still passing on.
        operations.remove_written(system.root)
    if operation.warm:
        client(*arguments)
    if operation.cold:
        machine.drop_caches(operation.cold)
    elif not operation.warm:
        # Otherwise this system pays for writing back what the one before it wrote.
        subprocess.run(["sync"], check=True)
    system.settle()
    if not operation.warm:
        # A virtual machine gets memory from its host only when it is first touched, and gives
        # back what was free for some seconds; without this, writing measures the host.
        client("touch", "-", TOUCHED_MEBIBYTES[operation.group])
    before = system.cpu()
    wall, cpu = client(*arguments)
    system.settle()
    daemon = system.cpu() - before
    return {"wall": wall, "client_cpu": cpu, "daemon_cpu": daemon, "cpu": cpu + daemon}


def run(client, systems, wanted, sizes, repetitions, say, results):
    """Fills `results`: {operation: {system: {"runs": [...]} or {"error": text}}}."""
    for group in operations.groups(wanted):
        together = [group] if group[0].group != operations.SMALL_GROUP else [[op] for op in group]
        for steps in together:
            for number in range(repetitions):
                for operation in steps:
                    say(f"{number + 1}/{repetitions} {operation.name}")
                    # Each system goes first in its turn: the first after a sync is at an advantage.
                    turn = number % len(systems)
                    for system in systems[turn:] + systems[:turn]:
                        cell = results.setdefault(operation.name, {}).setdefault(
                            system.name, {"runs": []})
                        _add(cell, client, operation, system, sizes, number, say)


def _add(cell, client, operation, system, sizes, number, say):
    """Adds a run to a cell; after a failure there is no point in trying again."""
    if "error" in cell:
        return
    try:
        cell["runs"].append(measure(client, operation, system, sizes, number))
    except (Failed, OSError) as failure:
        cell["error"] = str(failure)
        say(f"  {system.name}: {failure}")
