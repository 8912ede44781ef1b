"""The file systems that are compared, each behind the same few verbs."""

import os
import resource
import shutil
import subprocess
import time

import machine

ANSWER_SECONDS = 120  # A mount of a million items must answer long before this.
PASSTHROUGH_LL_SOURCE = "/usr/share/doc/libfuse3-dev/examples/passthrough_ll.c"


class Unavailable(Exception):
    """This system cannot be measured here; the text says why."""


class System:
    """A file system with a folder `root` to work in. `daemon` is None for the native one."""

    def __init__(self, name, folder, cpus):
        self.name, self.folder, self.cpus = name, folder, cpus
        self.root = os.path.join(folder, "mount")
        self.daemon = None
        self.resident_empty = 0
        os.makedirs(self.root)
        self.spread(self.root)

    def spread(self, folder):
        """Lets ext4 give each folder made in this one a part of the disk of its own: otherwise
        rounds and systems share the traces of what was deleted before (operations.SMALL_GROUP)."""
        subprocess.run(["chattr", "+T", folder], capture_output=True)

    # What differs between systems.

    def command(self):
        """The daemon's command line; it must stay in the foreground."""
        raise NotImplementedError

    def fill(self, write):
        """Calls write(folder) for a folder whose content the mount then shows; mounts afresh."""
        raise NotImplementedError

    def environment(self):
        return None

    def inode_limit(self):
        """How many files the daemon can know at once, or None."""
        return None

    # What is alike.

    def mount(self):
        """Starts the daemon, pinned as the client is, and waits until the mount answers."""
        self.start()
        self.wait_for(self.root)

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.daemon = subprocess.Popen(
                ["taskset", "--cpu-list", self.cpus] + self.command(), stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, env=self.environment(), start_new_session=True)

    def wait_for(self, path):
        """Waits until `path` answers from inside the mount."""
        outside = os.stat(self.folder).st_dev
        deadline = time.monotonic() + ANSWER_SECONDS
        while True:
            try:
                if os.stat(path).st_dev != outside:
                    return
            except OSError:
                pass
            if self.daemon.poll() is not None or time.monotonic() > deadline:
                raise Unavailable(f"does not mount: {self.last_words()}")
            time.sleep(0.0005)

    def unmount(self):
        """Ends the mount and its daemon; whatever happens, neither is there afterwards."""
        if self.daemon is None:
            return
        for command in (self.unmount_command(), ["fusermount3", "-u", "-z", self.root]):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                           env=self.environment())
            if not os.path.ismount(self.root):
                break
        try:
            self.daemon.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.daemon.kill()
            self.daemon.wait()
        self.daemon = None

    def unmount_command(self):
        return ["fusermount3", "-u", self.root]

    def cpu(self):
        return machine.cpu_nanoseconds(self.daemon.pid) if self.daemon else 0

    def resident(self):
        return machine.resident_bytes(self.daemon.pid) if self.daemon else 0

    def last_words(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as log:
            lines = log.read().strip().splitlines()
        return lines[-1] if lines else "no message"

    def settle(self):
        """Waits until the daemon has nothing more to do: work after close() counts as well."""
        before = self.cpu()
        for _ in range(100):
            time.sleep(0.05)
            now = self.cpu()
            if now - before < 1_000_000:
                return
            before = now


class Native(System):
    """A plain folder on the disk on which all the others keep their data too."""

    def mount(self):
        pass

    def fill(self, write):
        write(self.root)


class Mirror(System):
    """A FUSE file system that shows another folder."""

    def __init__(self, name, folder, cpus):
        super().__init__(name, folder, cpus)
        self.backing = os.path.join(folder, "backing")
        os.makedirs(self.backing)
        self.spread(self.backing)

    def fill(self, write):
        # Behind its back and before it can have cached anything: faster, and the same to it.
        self.unmount()
        write(self.backing)
        self.mount()


class Bindfs(Mirror):
    def command(self):
        # It asks for allow_other by itself, which an ordinary user usually must not have.
        own = [] if machine.IS_ROOT else ["--no-allow-other"]
        return ["bindfs", "-f", *own, self.backing, self.root]


class PassthroughLL(Mirror):
    """libfuse's example, with its default cache=auto. Keeps a descriptor for each known inode."""

    program = None

    @classmethod
    def compile(cls, folder):
        if not os.path.exists(PASSTHROUGH_LL_SOURCE):
            raise Unavailable(f"{PASSTHROUGH_LL_SOURCE} is missing (documentation not installed)")
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "fuse3"], check=True,
                               capture_output=True, text=True).stdout.split()
        cls.program = os.path.join(folder, "passthrough_ll.program")
        subprocess.run(["gcc", "-O2", PASSTHROUGH_LL_SOURCE, "-o", cls.program] + flags,
                       check=True, capture_output=True)

    def inode_limit(self):
        return resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 200

    def command(self):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        return ["prlimit", f"--nofile={limit}:{limit}", self.program, "-f",
                "-o", f"source={self.backing},cache=auto", self.root]


class Rclone(Mirror):
    """Local backend. Files go through rclone's cache on disk (without it there is no rewriting,
    and every random read opens the file again) and are passed on at close; nothing but the mount
    changes the folder, so listings are kept."""

    def environment(self):
        return dict(os.environ, RCLONE_CONFIG="")

    def command(self):
        return ["rclone", "mount", self.backing, self.root, "--vfs-cache-mode", "full",
                "--vfs-write-back", "0s", "--dir-cache-time", "24h", "--poll-interval", "0",
                "--attr-timeout", "1s", "--cache-dir", os.path.join(self.folder, "cache")]


class ShapeEdit(System):
    """A container of its own in a data folder of its own; `options` are those of -o."""

    def __init__(self, name, folder, cpus, binary, options):
        super().__init__(name, folder, cpus)
        self.binary, self.options = binary, options
        self.run("container", "create", "bench")

    def run(self, *arguments):
        done = subprocess.run([self.binary, *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, env=self.environment())
        if done.returncode != 0:
            raise Unavailable(f"shapeedit {arguments[0]}: {done.stderr.strip()}")

    def environment(self):
        return dict(os.environ, XDG_DATA_HOME=os.path.join(self.folder, "data"))

    def command(self):
        options = ["-o", self.options] if self.options else []
        return [self.binary, "mount", "--foreground", *options, "bench", self.root]

    def unmount_command(self):
        return [self.binary, "unmount", self.root]

    def fill(self, write):
        write(self.root)
        # A fresh daemon, as the mirrors get: its memory is that of a mount, not of the filling.
        self.unmount()
        self.mount()


NAMES = ["native", "bindfs", "passthrough_ll", "rclone", "shapeedit", "shapeedit-nopt"]


def make(name, folder, cpus, binary):
    """Makes a system by name; raises Unavailable if that cannot be measured here."""
    folder = os.path.join(folder, name)
    if name == "native":
        return Native(name, folder, cpus)
    if name.startswith("shapeedit"):
        if not binary or not os.access(binary, os.X_OK):
            raise Unavailable("no program; set SHAPEEDIT_BINARY")
        passthrough = name == "shapeedit"
        if not passthrough and not machine.IS_ROOT:
            raise Unavailable("the same as shapeedit for an ordinary user")
        return ShapeEdit(name, folder, cpus, binary, "" if passthrough else "no_passthrough")
    program = {"bindfs": "bindfs", "rclone": "rclone", "passthrough_ll": "gcc"}[name]
    if not shutil.which(program):
        raise Unavailable(f"{program} is not installed")
    system = {"bindfs": Bindfs, "rclone": Rclone, "passthrough_ll": PassthroughLL}[name]
    if system is PassthroughLL:
        system.compile(os.path.dirname(folder))
    return system(name, folder, cpus)
