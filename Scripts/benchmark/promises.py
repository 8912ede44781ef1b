"""Contents that come from a server: ShapeEdit's promises against other mounts of the same server.

The server is Apache's WebDAV on this machine (Scripts/servers). What is in it is shown by
`shapeedit import --promise`, rclone mount and davfs2; nothing of it is in any cache when a figure
begins, because each is taken from files that were not opened before, in a fresh mount.
"""

import base64
import contextlib
import http.client
import os
import shutil
import statistics
import subprocess
import sys
import time
import urllib.parse

import machine

HERE = os.path.dirname(os.path.abspath(__file__))
SMALL, LARGE, MIDDLE = 1000, 256, 16  # files of 4 KiB; MiB of one file; files of 1 MiB
LISTED, MANY, STREAMS = 10_000, 100_000, 16
ANSWER_SECONDS = 60


class Missing(Exception):
    """This cannot be measured here; the text says why."""


@contextlib.contextmanager
def webdav(folder):
    """Apache with files in it; what a client needs to know."""
    program = subprocess.Popen([os.path.join(HERE, "../servers/webdav"), folder],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        words = program.stdout.readline().split()
        if words[:1] != ["ready"]:
            raise Missing("there is no Apache")
        files = os.path.join(folder, "files", "basic", "tree")
        os.makedirs(os.path.join(files, "small"))
        for number in range(SMALL):
            write(os.path.join(files, "small", f"{number}"), 4096)
        for number in range(MIDDLE):
            write(os.path.join(files, f"middle-{number}"), 1 << 20)
        for number in range(STREAMS):
            write(os.path.join(files, f"stream-{number}"), 16 << 20)
        write(os.path.join(files, "large"), LARGE << 20)
        yield {"port": int(words[1]), "user": words[3], "password": words[4], "files": files}
    finally:
        program.stdin.close()
        program.wait(timeout=60)


def write(path, size):
    with open(path, "wb") as file:
        while size > 0:
            file.write(os.urandom(min(size, 1 << 20)))
            size -= 1 << 20


class Mount:
    """A mount of the server's tree; `files` is where its files are."""

    def __init__(self, name, folder, server, binary):
        self.name, self.server, self.binary = name, server, binary
        self.folder = os.path.join(folder, name)
        self.root = self.files = os.path.join(self.folder, "mount")
        self.daemon = None
        self.own = {**os.environ, "HOME": self.folder, "RCLONE_CONFIG": "",
                    "XDG_DATA_HOME": os.path.join(self.folder, "data")}
        self.url = f"http://127.0.0.1:{server['port']}/basic/tree"

    def __enter__(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.root)
        try:
            getattr(self, self.name)()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for words in ([self.binary, "unmount", self.root] if self.name == "shapeedit" else
                      ["umount", self.root], ["umount", "-l", self.root]):
            if os.path.ismount(self.root):
                subprocess.run(words, env=self.own, capture_output=True)
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait(timeout=60)

    def run(self, *words, **more):
        done = subprocess.run(words, env=self.own, capture_output=True, text=True, **more)
        if done.returncode:
            raise Missing(f"{' '.join(words[:2])}: {done.stderr.strip()[-200:]}")

    def netrc(self):
        path = os.path.join(self.folder, "netrc")
        with open(path, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(f"machine 127.0.0.1 login {self.server['user']} "
                       f"password {self.server['password']}\n")
        return path

    def wait(self):
        end = time.monotonic() + ANSWER_SECONDS
        while not os.path.ismount(self.root):
            if time.monotonic() > end or self.daemon and self.daemon.poll() is not None:
                raise Missing("it does not mount")
            time.sleep(0.01)

    # Each system's way of mounting.

    def shapeedit(self):
        self.run(self.binary, "container", "create", "bench")
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.daemon = subprocess.Popen(
                [self.binary, "mount", "--foreground", "bench", self.root], env=self.own,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait()
        self.files = os.path.join(self.root, "tree")
        if self.server.get("tree"):
            source = self.server["tree"]
        else:
            source = f"dav://127.0.0.1:{self.server['port']}/basic/tree?netrc={self.netrc()}"
        self.run(self.binary, "import", "--promise", source, self.files)

    def again(self):
        """A fresh daemon: its memory is that of a mount, not of an import."""
        self.run(self.binary, "unmount", self.root)
        self.daemon.wait(timeout=60)
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.daemon = subprocess.Popen(
                [self.binary, "mount", "--foreground", "bench", self.root], env=self.own,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait()

    def rclone(self):
        if not shutil.which("rclone"):
            raise Missing("rclone is not installed")
        secret = subprocess.run(["rclone", "obscure", self.server["password"]], check=True,
                                capture_output=True, text=True).stdout.strip()
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.daemon = subprocess.Popen(
                ["rclone", "mount", f":webdav,url='{self.url}',user={self.server['user']},"
                 f"pass='{secret}':", self.root, "--vfs-cache-mode", "full", "--dir-cache-time",
                 "24h", "--poll-interval", "0", "--cache-dir",
                 os.path.join(self.folder, "cache")], env=self.own, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log)
        self.wait()

    def davfs2(self):
        if not shutil.which("mount.davfs"):
            raise Missing("davfs2 is not installed")
        if not machine.IS_ROOT:
            raise Missing("davfs2 needs root")
        settings = os.path.join(self.folder, "davfs2.conf")
        secrets = os.path.join(self.folder, "secrets")
        cache = os.path.join(self.folder, "cache")
        os.makedirs(cache)
        with open(settings, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(f"secrets {secrets}\ncache_dir {cache}\nuse_locks 0\ncache_size 1000\n")
        with open(secrets, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(f"{self.url}/ {self.server['user']} {self.server['password']}\n")
        self.run("mount.davfs", "-o", f"conf={settings}", self.url + "/", self.root,
                 stdin=subprocess.DEVNULL, timeout=ANSWER_SECONDS)


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def get(server, path, whole):
    """The first byte, or all, of a GET of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", server["port"], timeout=60)
    token = base64.b64encode(f"{server['user']}:{server['password']}".encode()).decode()
    connection.request("GET", "/basic/tree/" + urllib.parse.quote(path),
                       headers={"Authorization": "Basic " + token})
    answer = connection.getresponse()
    if answer.status != 200:
        raise Missing(f"the server answers {answer.status}")
    answer.read(None if whole else 1)
    connection.close()


def first_byte(path):
    with open(path, "rb", buffering=0) as file:
        if len(file.read(1)) != 1:
            raise Missing("nothing was read")


def figures(mount):
    """What one fresh mount takes for each, in seconds."""
    files = mount.files
    os.listdir(files)
    found = {"first": statistics.median(
        seconds(lambda: first_byte(os.path.join(files, f"middle-{number}")))
        for number in range(MIDDLE))}
    found["large"] = seconds(lambda: subprocess.run(
        ["cat", os.path.join(files, "large")], check=True, stdout=subprocess.DEVNULL))
    small = os.path.join(files, "small")
    os.listdir(small)
    found["small"] = seconds(lambda: subprocess.run(
        f"seq 0 {SMALL - 1} | xargs -P 16 -n 63 cat > /dev/null", shell=True, check=True,
        cwd=small))
    return found


def peers(folder, binary, repetitions, say):
    """{system: {figure: median seconds}}, with what the server itself takes as "server"."""
    results = {}
    with webdav(os.path.join(folder, "webdav")) as server:
        runs = {}
        url = f"http://127.0.0.1:{server['port']}/basic/tree/large"
        account = f"{server['user']}:{server['password']}"
        for number in range(repetitions):
            say(f"{number + 1}/{repetitions} promises")
            raw = {"first": statistics.median(
                seconds(lambda: get(server, f"middle-{place}", False))
                for place in range(MIDDLE))}
            raw["large"] = seconds(lambda: subprocess.run(
                ["curl", "-sS", "--fail", "-o", "/dev/null", "--user", account, url], check=True))
            runs.setdefault("server", []).append(raw)
            for name in ("shapeedit", "rclone", "davfs2"):
                if "error" in results.get(name, {}):
                    continue
                try:
                    with Mount(name, folder, server, binary) as mount:
                        runs.setdefault(name, []).append(figures(mount))
                except (Missing, OSError, subprocess.SubprocessError) as problem:
                    results[name] = {"error": str(problem)}
                    say(f"  {name}: {problem}")
        for name, list in runs.items():
            results.setdefault(name, {}).update(
                {figure: statistics.median(run[figure] for run in list) for figure in list[0]})
    return results


def listing(path):
    """Seconds until the first entry, and until all with their attributes."""
    start = time.perf_counter()
    first = None
    for entry in os.scandir(path):
        first = first or time.perf_counter() - start
        entry.stat(follow_symlinks=False)
    return first, time.perf_counter() - start


def own(folder, binary, say):
    """What has no peer: listing what was imported, opening again, memory."""
    say("promises: listing and memory")
    tree = os.path.join(folder, "tree")
    os.makedirs(os.path.join(tree, "listed"))
    for number in range(LISTED):
        write(os.path.join(tree, "listed", f"document {number}.txt"), 1)
    results = {}
    server = {"port": 0, "tree": tree}
    with Mount("shapeedit", folder, server, binary) as mount:
        # A folder of the container's own, of the same size.
        local = os.path.join(mount.root, "local")
        shutil.copytree(os.path.join(tree, "listed"), local)
        listed = os.path.join(mount.files, "listed")
        for name, path in (("imported", listed), ("local", local)):
            if machine.IS_ROOT:
                subprocess.run(["sync"], check=True)
                machine.drop_caches(3)
            first, whole = listing(path)
            warm = statistics.median(listing(path)[1] for _ in range(5))
            results[name] = {"first": first, "cold": whole, "warm": warm}
    with webdav(os.path.join(folder, "webdav")) as server:
        with Mount("shapeedit", folder, server, binary) as mount:
            once = os.path.join(mount.files, "middle-0")
            other = os.path.join(mount.root, "local")
            shutil.copyfile(once, other)
            time.sleep(6)
            for name, path in (("again", once), ("own", other)):
                results[name] = statistics.median(
                    seconds(lambda: first_byte(path)) for _ in range(200))
            many = os.path.join(folder, "many")
            for number in range(MANY // 1000):
                os.makedirs(os.path.join(many, str(number)))
                for place in range(1000):
                    write(os.path.join(many, str(number), str(place)), 1)
            empty = machine.resident_bytes(mount.daemon.pid)
            taken = seconds(lambda: mount.run(
                binary, "import", "--promise", many, os.path.join(mount.root, "many")))
            results["import"] = {"items": MANY, "seconds": taken}
            mount.again()
            time.sleep(3)
            before = machine.resident_bytes(mount.daemon.pid)
            readers = [subprocess.Popen(["cat", os.path.join(mount.files, f"stream-{number}")],
                                        stdout=subprocess.DEVNULL) for number in range(STREAMS)]
            most = before
            while any(reader.poll() is None for reader in readers):
                most = max(most, machine.resident_bytes(mount.daemon.pid))
                time.sleep(0.005)
            if any(reader.returncode for reader in readers):
                raise Missing("a download failed")
            results["memory"] = {"empty": empty, "promises": before, "downloads": most}
    return results


def measure(only, binary, folder, repetitions, say):
    """What the report shows of promises; nothing if that is not wanted."""
    if "promises" not in only:
        return {}
    folder = os.path.join(folder, "promises")
    os.makedirs(folder)
    # Apache runs as a user of its own.
    os.chmod(os.path.dirname(folder), 0o755)
    try:
        return {"promises": {"systems": peers(folder, binary, repetitions, say),
                             **own(folder, binary, say)}}
    except Missing as problem:
        say(f"promises: {problem}")
        return {"promises": {"error": str(problem)}}
