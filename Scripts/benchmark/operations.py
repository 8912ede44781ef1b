"""What is measured: the operations, their sizes and the state each one starts from."""

import dataclasses
import os

DENTRIES, PAGES = 2, 3  # What drop_caches forgets before a cold operation.

# The operations on small files. All rounds of one come before the next one: ext4 does not give out
# an inode again for minutes after its deletion (recently_deleted() in fs/ext4/ialloc.c) but steps
# over each such inode whenever it makes a file near it. Files made near many deleted ones cost
# up to ten times as much, on every system, so all are made before any is deleted.
SMALL_GROUP = "small"


@dataclasses.dataclass(frozen=True)
class Sizes:
    tree: int = 100_000  # files listed and stat'ed
    small: int = 10_000  # files of small_bytes
    small_bytes: int = 4096
    large: int = 512  # MiB
    cold_reads: int = 4096  # each one waits for the disk
    warm_reads: int = 100_000
    mapped_reads: int = 1_000_000  # mostly memory accesses, so many are needed to measure
    items: int = 1_000_000  # in the container whose mount time is taken
    lists: int = 10_000  # read by one command
    slides: int = 1_000  # new, or with pictures that are read
    promises: int = 10_000  # listed with their pictures
    documents: int = 100_000  # that queries look through
    pictures: int = 100_000  # made, to see whether memory grows

    def quick(self):
        return dataclasses.replace(
            self, **{name: value // 10 for name, value in dataclasses.asdict(self).items()
                     if name != "small_bytes"})


@dataclasses.dataclass(frozen=True)
class Operation:
    """One row of the table.

    arguments: (root, sizes, round) -> the client's arguments. cold: what to forget before. warm:
    run it once untimed just before. primer: another operation to run untimed just before. group:
    operations that build on each other are run together. files: how many files it touches, for
    systems with a limit.
    """

    name: str
    title: str
    arguments: object
    cold: int = 0
    warm: bool = False
    primer: object = None
    group: str = ""
    files: object = lambda sizes: 2


def _tree(root):
    return os.path.join(root, "tree")


def _large(root):
    return os.path.join(root, "large")


def _written(root):
    return os.path.join(root, "written")


def _small(verb, folder="small{}"):
    """Each round has a folder of its own, see SMALL_GROUP."""
    return lambda root, sizes, number: [
        verb, os.path.join(root, folder.format(number)), sizes.small, sizes.small_bytes]


def _small_operation(name, title, **more):
    return Operation(name, title, _small(name.split("-")[0]), group=SMALL_GROUP,
                     files=lambda sizes: sizes.small, **more)


def _write(root, sizes, number):
    return ["write", _written(root), sizes.large]


ALL = [
    Operation("ls-cold", "cold `ls -lR`, {tree} files",
              lambda root, sizes, number: ["run", "ls", "-lR", _tree(root)],
              cold=DENTRIES, files=lambda sizes: sizes.tree),
    Operation("stat-warm", "warm stat of the same, three times",
              lambda root, sizes, number: ["stat", _tree(root), sizes.tree],
              warm=True, files=lambda sizes: sizes.tree),
    _small_operation("create", "create {small} files of 4 KiB"),
    _small_operation("read-warm", "read them, warm", warm=True),
    _small_operation("rewrite", "rewrite them", primer=_small("read")),
    _small_operation("rename", "rename them", primer=_small("read")),
    _small_operation("unlink", "unlink them"),
    Operation("read-cold", "read {small} others of 4 KiB, cold", _small("read", "still"),
              cold=PAGES, files=lambda sizes: sizes.small),
    # Not PAGES: those hold the free space maps of the disk's file system. Reading them again
    # costs more than the write and would hit one system and not the next; hence the primer too.
    Operation("write-new", "write {large} MiB, new file, cold", _write,
              cold=DENTRIES, primer=_write, group="large"),
    Operation("write-again", "write {large} MiB over it, warm", _write, group="large"),
    Operation("seq-cold", "read {large} MiB, cold",
              lambda root, sizes, number: ["read-all", _large(root), sizes.large], cold=PAGES),
    Operation("seq-warm", "read {large} MiB, warm",
              lambda root, sizes, number: ["read-all", _large(root), sizes.large], warm=True),
    Operation("rand-cold", "{cold_reads} random 4 KiB reads, cold",
              lambda root, sizes, number: ["pread", _large(root), sizes.cold_reads], cold=PAGES),
    Operation("rand-warm", "{warm_reads} random 4 KiB reads, warm",
              lambda root, sizes, number: ["pread", _large(root), sizes.warm_reads], warm=True),
    Operation("mmap-cold", "the same by mmap, {cold_reads}, cold",
              lambda root, sizes, number: ["mmap", _large(root), sizes.cold_reads], cold=PAGES),
    Operation("mmap-warm", "the same by mmap, {mapped_reads}, warm",
              lambda root, sizes, number: ["mmap", _large(root), sizes.mapped_reads], warm=True),
]

# Measured once per system instead of in rounds; see footprint.py.
FOOTPRINT = ["memory", "mount"]
# Of ShapeEdit alone, without peers; see documents.py, pictures.py and coordination.py.
DOCUMENTS = ["editing", "lists", "drawing", "pictures", "coordination"]
# Contents from a server, with peers of their own; see promises.py.
PROMISES = ["promises"]
NAMES = [operation.name for operation in ALL] + FOOTPRINT + DOCUMENTS + PROMISES


def groups(wanted):
    """The operations to run, in lists that belong together. A group with one wanted operation
    is run whole: reading needs what creating made."""
    result = []
    names = {operation.group for operation in ALL if operation.name in wanted and operation.group}
    for operation in ALL:
        if not operation.group and operation.name in wanted:
            result.append([operation])
        elif operation.group in names:
            if result and result[-1][0].group == operation.group:
                result[-1].append(operation)
            else:
                result.append([operation])
    return result


def fill(client, sizes, wanted):
    """A function that writes the data the wanted reading operations use into a folder."""
    def write(root):
        if {"ls-cold", "stat-warm", "memory"} & set(wanted):
            client("tree", _tree(root), sizes.tree)
        if "read-cold" in wanted:
            client(*_small("create", "still")(root, sizes, 0))
        if any(name.startswith(("seq", "rand", "mmap")) for name in wanted):
            client("write", _large(root), sizes.large)
    return write


def remove_written(root):
    """Makes `write-new` write a new file in every round."""
    try:
        os.unlink(_written(root))
    except FileNotFoundError:
        pass
