"""Contents that come from a server: ShapeEdit's promises against other mounts of the same server.

The server is Apache's WebDAV on this machine (Scripts/servers). What is in it is shown by
`shapeedit import --promise`, rclone mount and davfs2; the same files are in an S3 server for s3fs.
Nothing of it is in any cache when a figure begins, because each is taken from files that were not
opened before, in a fresh mount.
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
from remotes import MIDDLE, SMALL, STREAMS, Missing, Mount, s3, webdav, write

LISTED, MANY = 10_000, 100_000
# Of other documents each: memory that grows with what has come shows.
DOWNLOAD_ROUNDS, ROUND_SIZE = 40, 5 << 20
# In turns with local files: one alone is as long as the disk happens to be busy.
COLD_LISTINGS = 3
WARM_LISTINGS = 5


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


def look(folder):
    """Lists a folder, so that opening its files is all that is left to measure."""
    # davfs2 1.6 cannot list with recent kernels; its files open all the same.
    with contextlib.suppress(OSError):
        os.listdir(folder)


def figures(mount):
    """What one fresh mount takes for each, in seconds."""
    files = mount.files
    look(files)
    mount.settle()
    found = {"first": statistics.median(
        seconds(lambda: first_byte(os.path.join(files, f"middle-{number}")))
        for number in range(MIDDLE))}
    mount.settle()
    found["large"] = seconds(lambda: subprocess.run(
        ["cat", os.path.join(files, "large")], check=True, stdout=subprocess.DEVNULL))
    small = os.path.join(files, "small")
    look(small)
    mount.settle()
    found["small"] = seconds(lambda: subprocess.run(
        f"seq 0 {SMALL - 1} | xargs -P 16 -n 63 cat > /dev/null", shell=True, check=True,
        cwd=small))
    return found


def peers(folder, binary, repetitions, say):
    """{system: {figure: median seconds}}, with what the server itself takes as "server", the same
    kept in a file as "kept", and ShapeEdit on the server of s3fs as "shapeedit s3"."""
    results, runs = {}, {}

    def measure(title, name, server):
        if "error" in results.get(title, {}):
            return
        try:
            with Mount(name, folder, server, binary) as mount:
                runs.setdefault(title, []).append(figures(mount))
        except (Missing, OSError, subprocess.SubprocessError) as problem:
            results[title] = {"error": str(problem)}
            say(f"  {title}: {problem}")

    with webdav(os.path.join(folder, "webdav")) as server:
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
            kept = os.path.join(folder, "kept")
            runs.setdefault("kept", []).append({"large": seconds(lambda: subprocess.run(
                ["curl", "-sS", "--fail", "-o", kept, "--user", account, url], check=True))})
            os.unlink(kept)
            for name in ("shapeedit", "rclone", "davfs2"):
                measure(name, name, server)
        try:
            with s3(os.path.join(folder, "s3"), server["files"]) as other:
                for number in range(repetitions):
                    say(f"{number + 1}/{repetitions} promises of an S3 server")
                    measure("shapeedit s3", "shapeedit", other)
                    measure("s3fs", "s3fs", other)
        except Missing as problem:
            results["s3fs"] = {"error": str(problem)}
            say(f"  s3fs: {problem}")
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
        cold = {"imported": [], "local": []}
        for _ in range(COLD_LISTINGS):
            for name, path in (("imported", listed), ("local", local)):
                if machine.IS_ROOT:
                    subprocess.run(["sync"], check=True)
                    machine.drop_caches(3)
                cold[name].append(listing(path))
        warm = {"imported": [], "local": []}
        # The first finds what the last cold one has left; what is made here is drawn beside all of them.
        for round in range(WARM_LISTINGS + 1):
            for name, path in (("imported", listed), ("local", local)):
                whole = listing(path)[1]
                if round > 0:
                    warm[name].append(whole)
        for name in cold:
            first, whole = (statistics.median(times) for times in zip(*cold[name]))
            results[name] = {"first": first, "cold": whole, "warm": statistics.median(warm[name])}
    with webdav(os.path.join(folder, "webdav")) as server:
        lay_out_rounds(server["files"])
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
            most = downloading(mount, [f"stream-{stream}" for stream in range(STREAMS)])
            rounds = [downloading(mount, [f"rounds/{number}/{stream}" for stream in range(STREAMS)])
                      for number in range(DOWNLOAD_ROUNDS)]
            results["memory"] = {"empty": empty, "promises": before, "rounds": rounds,
                                 "downloads": most}
    return results


def downloading(mount, names):
    """The most resident bytes of the daemon while these promises come, all at once."""
    readers = [subprocess.Popen(["cat", os.path.join(mount.files, name)],
                                stdout=subprocess.DEVNULL) for name in names]
    most = 0
    while any(reader.poll() is None for reader in readers):
        most = max(most, machine.resident_bytes(mount.daemon.pid))
        time.sleep(0.005)
    if any(reader.returncode for reader in readers):
        raise Missing("a download failed")
    return most


def lay_out_rounds(files):
    """One file of many names: to a client they are as many."""
    one = os.path.join(files, "rounds", "one")
    os.makedirs(os.path.dirname(one))
    write(one, ROUND_SIZE)
    for number in range(DOWNLOAD_ROUNDS):
        folder = os.path.join(files, "rounds", str(number))
        os.makedirs(folder)
        for stream in range(STREAMS):
            os.link(one, os.path.join(folder, str(stream)))


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
