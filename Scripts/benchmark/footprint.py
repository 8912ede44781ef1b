"""What a mount costs by being there: memory per item, and the time until it answers."""

import os
import shutil
import statistics
import subprocess
import time

import machine
import rounds


def memory(client, systems, sizes, say):
    """Resident memory of the daemon with the tree listed, less that of an empty mount."""
    results = {}
    for system in systems:
        if system.daemon is None:
            continue
        limit = system.inode_limit()
        if limit is not None and sizes.tree > limit:
            results[system.name] = {"error": f"at most {limit} files"}
            continue
        say(f"memory {system.name}")
        system.unmount()
        system.mount()
        try:
            client("run", "ls", "-lR", os.path.join(system.root, "tree"))
        except rounds.Failed as failure:
            results[system.name] = {"error": str(failure)}
            continue
        system.settle()
        resident = system.resident()
        results[system.name] = {
            "items": sizes.tree, "empty": system.resident_empty, "resident": resident,
            "per_item": (resident - system.resident_empty) / sizes.tree,
        }
    return results


def mount_time(client, systems, items, repetitions, say):
    """Time from starting the daemon until a file among `items` answers, with a cold disk and a
    warm one, and the memory then. Mirrors show one folder of native files."""
    results = {}
    shared = None
    for system in systems:
        if system.daemon is None:
            continue
        say(f"mount {system.name}: making {items} items")
        system.unmount()
        started = time.monotonic()
        if hasattr(system, "backing"):
            shared = shared or _native_items(client, system, items)
            original, system.backing = system.backing, shared
        else:
            system.mount()
            client("tree", os.path.join(system.root, "items"), items)
            system.unmount()
        making = time.monotonic() - started
        results[system.name] = dict(_mounts(system, items, repetitions), items=items, made=making)
        if hasattr(system, "backing"):
            system.backing = original
        system.mount()
    if shared:
        shutil.rmtree(os.path.dirname(shared))
    return results


def _native_items(client, system, items):
    folder = os.path.join(os.path.dirname(system.folder), "items", "backing")
    os.makedirs(folder)
    client("tree", os.path.join(folder, "items"), items)
    return folder


def _mounts(system, items, repetitions):
    some = os.path.join(system.root, "items", f"{(items - 1) // 2000:04d}")
    result = {"cold": [], "warm": []}
    for _ in range(repetitions):
        for state in ("cold", "warm"):
            if state == "cold":
                if not machine.IS_ROOT:
                    continue
                machine.drop_caches(3)
            else:
                subprocess.run(["sync"], check=True)
            started = time.monotonic_ns()
            system.start()
            system.wait_for(some)
            result[state].append(time.monotonic_ns() - started)
            system.settle()
            result["resident"] = system.resident()
            system.unmount()
    return {"resident": result["resident"],
            **{state: statistics.median(result[state]) for state in ("cold", "warm")
               if result[state]}}
