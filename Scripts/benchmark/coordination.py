"""What coordination and queries cost: locks, claims, presenters, events, and looking for documents."""

import fcntl
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time

import pictures
import systems

LOCKS = 5_000
CLAIMS = 500
CHANGES = 50
LOOKS = 5
UPDATES = 20
LIVE = 1_000
SAVES = 200
ROUNDS = 10
WORDS = ("apple", "bread", "cheese", "dates", "eggs", "figs", "grapes", "honey")


class Control:
    """A connection to the control socket; messages are JSON, each with a zero behind it."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.rest = b""

    def send(self, method, parameters, **more):
        call = {"method": "org.shapeedit.Control." + method, "parameters": parameters, **more}
        self.socket.sendall(json.dumps(call).encode() + b"\0")

    def receive(self):
        while b"\0" not in self.rest:
            part = self.socket.recv(65536)
            if not part:
                raise ConnectionError("the control socket was closed")
            self.rest += part
        message, _, self.rest = self.rest.partition(b"\0")
        answer = json.loads(message)
        if "error" in answer:
            raise RuntimeError(f"{answer}")
        return answer.get("parameters", {})

    def call(self, method, parameters):
        self.send(method, parameters)
        return self.receive()


def median_of(count, body):
    """The median time of `body`, in seconds."""
    times = []
    for number in range(count):
        start = time.perf_counter()
        body(number)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Forwarding(systems.PassthroughLL):
    """Has locks taken on the file behind it."""

    def command(self):
        *words, options, root = super().command()
        return [*words, options + ",flock", root]


def locking(folder, mount):
    """Seconds of an exclusive flock and its end; in turns, the best of five. Of a file on the disk, in
    the mount, and in one whose daemon passes locks on ("peer"); and of a virtual file ("bare"), for
    which the daemon answers at once: what the kernel's round trips cost by themselves."""
    place = os.path.join(folder, "peer")
    os.makedirs(place)
    peer = Forwarding("peer", place, ",".join(map(str, sorted(os.sched_getaffinity(0)))))
    try:
        peer.compile(place)
        peer.fill(lambda _: None)
    except systems.Unavailable:
        peer.unmount()
        peer = None
    try:
        paths = {"native": os.path.join(folder, "locked"),
                 "mount": os.path.join(mount.root, "locked"),
                 "bare": os.path.join(mount.root, ".shapeedit/status.json")}
        if peer:
            paths["peer"] = os.path.join(peer.root, "locked")
        files = {label: open(path, "r" if label == "bare" else "w")
                 for label, path in paths.items()}
        best = lock_in_turns(files)
        for file in files.values():
            file.close()
        return best
    finally:
        if peer:
            peer.unmount()


def lock_in_turns(files):
    best = {}
    for _ in range(5):
        for label, file in files.items():
            start = time.perf_counter()
            for _ in range(LOCKS // 5):
                fcntl.flock(file, fcntl.LOCK_EX)
                fcntl.flock(file, fcntl.LOCK_UN)
            each = (time.perf_counter() - start) / (LOCKS // 5)
            best[label] = min(best.get(label, each), each)
    return best


def claiming(control):
    """Seconds of a claim that nobody is in the way of and its release, over the socket."""
    def once(_):
        held = control.call("Claim", {"targets": [{"path": "locked", "access": "write"}]})
        control.call("Release", {"claim": held["claim"]})
    return median_of(CLAIMS, once)


def save(mount, name, text):
    with open(os.path.join(mount.root, name), "w") as file:
        file.write(text)


# Who caused a change is not told of it. Says when the file was closed.
WRITER = """
import sys, time
for line in sys.stdin:
    with open(sys.argv[1], "w") as file:
        file.write(line)
    print(time.perf_counter(), flush=True)
"""


def presenting(mount, path):
    """Seconds from a close until a presenter of the document is told."""
    told, ready = [], threading.Event()

    def listen():
        control = Control(path)
        control.send("Present", {"path": "shown"}, more=True)
        while True:
            try:
                kind = control.receive()["message"]["kind"]
            except ConnectionError:
                # The mount ends before this does.
                return
            if kind == "registered":
                ready.set()
            elif kind == "changed":
                told.append(time.perf_counter())

    save(mount, "shown", "0")
    threading.Thread(target=listen, daemon=True).start()
    ready.wait(10)
    times = []
    writer = subprocess.Popen([sys.executable, "-c", WRITER, os.path.join(mount.root, "shown")],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for number in range(CHANGES):
        before = len(told)
        writer.stdin.write(f"{number}\n")
        writer.stdin.flush()
        closed = float(writer.stdout.readline())
        while len(told) == before:
            if time.perf_counter() - closed > 5:
                raise RuntimeError("the presenter was not told")
            time.sleep(0.0001)
        times.append(max(told[before] - closed, 0))
    writer.stdin.close()
    writer.wait()
    return statistics.median(times)


def following(mount):
    """Seconds from a close until `.shapeedit/events` tells of it."""
    events = os.open(os.path.join(mount.root, ".shapeedit/events"), os.O_RDONLY)
    times = []
    for number in range(CHANGES):
        name = f"event{number}"
        save(mount, name, "x")
        start = time.perf_counter()
        text = b""
        while f'"path": "{name}"'.encode() not in text or b"published" not in text:
            text += os.read(events, 65536)
        times.append(max(time.perf_counter() - start, 0))
    os.close(events)
    return statistics.median(times)


def looking(mount, count):
    """Seconds of queries among `count` documents."""
    for number in range(count):
        folder = os.path.join(mount.root, f"d{number // 1000}")
        if number % 1000 == 0:
            os.mkdir(folder)
        # A tenth of them has words.
        end = "txt" if number % 10 == 0 else "dat"
        with open(os.path.join(folder, f"{number:06}.{end}"), "w") as file:
            file.write(f"{WORDS[number % 8]} {WORDS[number // 10 % 8]} {number}")

    def ask(query):
        with open(os.path.join(mount.root, ".shapeedit/find", query)) as file:
            return json.loads(file.readline())["count"]

    start = time.perf_counter()
    while ask("text=apple") + ask("text=cheese") < count // 40:
        if time.perf_counter() - start > 300:
            raise RuntimeError("the words do not come")
        time.sleep(0.1)
    results = {"count": count, "words ready": time.perf_counter() - start}
    for label, query in (("all", "sort=path"), ("one", "name=000777&sort=path"),
                         ("words", "text=apple&sort=path")):
        results[label] = median_of(LOOKS, lambda _: ask(query))

    results["command"] = median_of(LOOKS, lambda _: mount.run("find", mount.root))

    def change(number):
        save(mount, f"new{number}.txt", f"zebra{number}")
        if ask(f"text=zebra{number}") != 1:
            raise RuntimeError("a document is not found by its words after its close")
    results["new words"] = median_of(LOOKS, change)
    return results


def updating(mount, path):
    """Seconds from a close until a live query of all documents tells of it, after a quiet time:
    of new documents or of saves in place, whichever is slower."""
    control = Control(path)
    control.send("Query", {"query": "sort=path"}, more=True)

    def batch():
        while True:
            part = control.receive()
            yield part
            if part["complete"]:
                return

    for _ in batch():
        pass

    def told(name, size):
        """The moment when the document is told, or that it has this size now."""
        while True:
            news = [(new["result"], kind) for part in batch() for kind in ("added", "updated")
                    for new in part.get(kind, [])]
            # The content of the one before may come first.
            if any(result["path"] == name and (kind == "added" or result["size"] == size)
                   for result, kind in news):
                return time.perf_counter()

    def median_of_saves(name_of):
        times = []
        for number in range(UPDATES):
            time.sleep(0.3)
            save(mount, name_of(number), "x" * (number + 1))
            closed = time.perf_counter()
            times.append(max(told(name_of(number), number + 1) - closed, 0))
        return statistics.median(times)

    slower = max(median_of_saves("update{}".format), median_of_saves(lambda _: "update0"))
    control.socket.close()
    return slower


def publishing(mount):
    """{without, with}: seconds of a save without live queries and with a thousand; in turns, and each
    of the two is the first as often as the other."""
    root = os.open(mount.root, os.O_RDONLY)
    texts = [f"name=*{number:03}*&sort=name" for number in range(LIVE // 2)]
    texts += [f"type=txt&folder=d{number % 100}&largest={number}" for number in range(LIVE // 2)]
    times = {"without": [], "with": []}
    # The first turn makes the files; it does not count.
    order = ["made"] + ["without", "with", "with", "without"] * ROUNDS
    for turn, label in enumerate(order):
        folders = []
        if label == "with":
            # A folder of a saved query is followed as long as the kernel knows it.
            for number, text in enumerate(texts):
                os.setxattr(root, f"user.shapeedit.query.q{number}", text.encode())
                folders.append(os.open(
                    os.path.join(mount.root, f".shapeedit/queries/q{number}"), os.O_RDONLY))
            os.listdir(folders[-1])
        # The catalog has taken in what was done for this turn, and for the one before.
        time.sleep(2)
        start = time.perf_counter()
        for number in range(SAVES):
            save(mount, f"saved{number}", f"{turn}")
        if label != "made":
            times[label].append((time.perf_counter() - start) / SAVES)
        for folder in folders:
            os.close(folder)
        if folders:
            for number in range(len(texts)):
                os.removexattr(root, f"user.shapeedit.query.q{number}")
    os.close(root)
    return {label: statistics.median(found) for label, found in times.items()}


def measure(binary, folder, sizes, say):
    folder = os.path.join(folder, "coordination")
    os.makedirs(folder)
    runtime = os.path.join(folder, "run")
    os.makedirs(runtime, mode=0o700)
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = runtime
    try:
        with pictures.Mount(binary, folder, "coordinated") as mount:
            path = mount.status()["control"]
            say("coordination: locks, claims, presenters, events")
            results = {"lock": locking(folder, mount), "claim": claiming(Control(path)),
                       "present": presenting(mount, path), "event": following(mount)}
            say(f"coordination: queries among {sizes.documents:,} documents")
            results["queries"] = looking(mount, sizes.documents)
            results["update"] = updating(mount, path)
            results["publish"] = publishing(mount)
            return results
    finally:
        if before is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = before
