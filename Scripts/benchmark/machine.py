"""The machine under the benchmark: caches, CPU clocks, memory of processes, and what it is."""

import os
import platform
import subprocess
import time

IS_ROOT = os.geteuid() == 0


def drop_caches(kind):
    """Forgets cached file system state: 2 dentries and inodes, 3 also pages. Root only."""
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as control:
        control.write(str(kind))


def family(pid):
    """A process and all its descendants: a daemon may have helpers."""
    found = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as children:
                for child in children.read().split():
                    found += family(int(child))
    except OSError:
        pass  # It ended meanwhile.
    return found


def cpu_nanoseconds(pid):
    """CPU time of all threads of a process and its descendants so far.

    The kernel's process clock has nanoseconds; /proc/PID/stat only ticks of 10 ms.
    """
    total = 0
    for member in family(pid):
        clock = (~member << 3) | 2  # CPUCLOCK_SCHED of another process, see clock_getcpuclockid(3)
        try:
            total += time.clock_gettime_ns(clock)
        except OSError:
            pass
    return total


def resident_bytes(pid):
    """Resident memory of a process and its descendants."""
    total = 0
    for member in family(pid):
        try:
            with open(f"/proc/{member}/statm") as statm:
                total += int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            pass
    return total


def file_system_type(path):
    return _output(["stat", "--file-system", "--format=%T", path]).replace("ext2/ext3", "ext4")


def describe(cpus):
    """Facts for the report, so that nobody compares figures of different machines."""
    return {
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "pinned to": cpus,
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "kernel": platform.release(),
        "root": IS_ROOT,
        "load at start": f"{os.getloadavg()[0]:.2f}",
        "versions": ", ".join(
            _output(command).splitlines()[0] if _output(command) else command[0] + " missing"
            for command in (["bindfs", "--version"], ["fusermount3", "--version"],
                            ["rclone", "version"])
        ),
    }


def _output(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def _cpu_model():
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()
