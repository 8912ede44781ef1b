"""Servers on this machine that hold the benchmark's files, and the systems that mount them."""

import contextlib
import os
import shutil
import subprocess
import time

import machine

HERE = os.path.dirname(os.path.abspath(__file__))
SMALL, LARGE, MIDDLE = 1000, 256, 16  # files of 4 KiB; MiB of one file; files of 1 MiB
STREAMS = 16  # files of 16 MiB
ANSWER_SECONDS = 60
BUCKET = "bench"


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
        fill(files)
        yield {"port": int(words[1]), "user": words[3], "password": words[4], "files": files}
    finally:
        program.stdin.close()
        program.wait(timeout=60)


@contextlib.contextmanager
def s3(folder, files):
    """OpenStack Swift with its S3 API and the same files; what a client needs to know."""
    if not shutil.which("rclone"):
        raise Missing("rclone is not installed, which fills the bucket")
    program = subprocess.Popen([os.path.join(HERE, "../servers/s3"), folder],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        words = program.stdout.readline().split()
        if words[:1] != ["ready"]:
            raise Missing("there is no S3 server")
        server = {"endpoint": words[1], "user": words[2], "password": words[3]}
        filled = subprocess.run(
            ["rclone", "copy", "--transfers", "8", "--s3-upload-cutoff", "1G", files,
             f":s3,provider=Other,endpoint='{words[1]}',access_key_id='{words[2]}',"
             f"secret_access_key='{words[3]}':{BUCKET}/tree"],
            # rclone does not take authorities that were set for other clients of S3.
            env={**{name: value for name, value in os.environ.items() if name != "AWS_CA_BUNDLE"},
                 "RCLONE_CONFIG": ""}, capture_output=True, text=True)
        if filled.returncode:
            raise Missing(f"the bucket cannot be filled: {filled.stderr.strip()[-200:]}")
        yield server
    finally:
        program.stdin.close()
        program.wait(timeout=60)


def fill(files):
    os.makedirs(os.path.join(files, "small"))
    for number in range(SMALL):
        write(os.path.join(files, "small", f"{number}"), 4096)
    for number in range(MIDDLE):
        write(os.path.join(files, f"middle-{number}"), 1 << 20)
    for number in range(STREAMS):
        write(os.path.join(files, f"stream-{number}"), 16 << 20)
    write(os.path.join(files, "large"), LARGE << 20)


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
        if "endpoint" in server:
            self.own |= {"AWS_ACCESS_KEY_ID": server["user"], "AWSACCESSKEYID": server["user"],
                         "AWS_SECRET_ACCESS_KEY": server["password"],
                         "AWSSECRETACCESSKEY": server["password"]}
        elif "port" in server:
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

    def settle(self):
        """Waits until the daemon has nothing more to do: each figure is of one thing, not also of what
        an import or the figure before has left for later."""
        before = 0
        for _ in range(60):
            # What has come may be kept a while after it was read.
            time.sleep(0.5)
            now = machine.cpu_nanoseconds(self.daemon.pid) if self.daemon else before
            if now - before < 2_000_000:
                return
            before = now

    # Each system's way of mounting.

    def shapeedit(self):
        self.run(self.binary, "container", "create", "bench")
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.daemon = subprocess.Popen(
                [self.binary, "mount", "--foreground", "bench", self.root], env=self.own,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait()
        self.files = os.path.join(self.root, "tree")
        if "tree" in self.server:
            source = self.server["tree"]
        elif "endpoint" in self.server:
            source = f"s3://{BUCKET}/tree?endpoint={self.server['endpoint']}"
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
        # It works in a group of its own.
        shutil.chown(cache, group="davfs2")
        os.chmod(cache, 0o775)
        with open(settings, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(f"secrets {secrets}\ncache_dir {cache}\nuse_locks 0\ncache_size 1000\n")
        with open(secrets, "w", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(f"{self.url}/ {self.server['user']} {self.server['password']}\n")
        self.run("mount.davfs", "-o", f"conf={settings}", self.url + "/", self.root,
                 stdin=subprocess.DEVNULL, timeout=ANSWER_SECONDS)

    def s3fs(self):
        if not shutil.which("s3fs"):
            raise Missing("s3fs is not installed")
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.daemon = subprocess.Popen(
                ["s3fs", f"{BUCKET}:/tree", self.root, "-f", "-o", f"url={self.server['endpoint']}",
                 "-o", "use_path_request_style,enable_noobj_cache",
                 "-o", f"use_cache={os.path.join(self.folder, 'cache')}"],
                env=self.own, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait()
