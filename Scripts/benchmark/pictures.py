"""What pictures cost: closing a document, reading ready pictures, many new documents, promises."""

import json
import os
import random
import shutil
import statistics
import subprocess
import time

import machine

SIZES = (128, 256, 512, 1024)
# Seconds that the drawing of all may take at most, each.
PATIENCE_EACH = 0.5
# Seconds between two versions of a document that are both kept: what is replaced sooner counts as the
# same save (Retention).
SAVE_SECONDS = 2.5
# How often the memory is looked at while documents are published.
LOOKS = 12


class Mount:
    """A container of its own, mounted; `program` draws its pictures if that is not the usual one."""

    def __init__(self, binary, folder, name, program=None, store=False):
        self.binary, self.name = binary, name
        self.base = os.path.join(folder, name)
        self.root = os.path.join(self.base, "mount")
        os.makedirs(self.root)
        self.environment = {**os.environ, "HOME": self.base,
                            "XDG_DATA_HOME": os.path.join(self.base, "data"),
                            "XDG_CACHE_HOME": os.path.join(self.base, "cache"),
                            "XDG_STATE_HOME": os.path.join(self.base, "state")}
        if program:
            self.environment["SHAPEEDIT_THUMBNAILER"] = program
        more = ["--store", "folder:" + os.path.join(self.base, "store")] if store else []
        if store:
            os.makedirs(os.path.join(self.base, "store"))
        self.run("container", "create", name, *more)

    def run(self, *words):
        return subprocess.run([self.binary, *words], env=self.environment, check=True,
                              capture_output=True, text=True).stdout

    def __enter__(self):
        self.run("mount", self.name, self.root)
        return self

    def __exit__(self, *_):
        subprocess.run([self.binary, "unmount", self.root], env=self.environment)

    def status(self):
        with open(os.path.join(self.root, ".shapeedit/status.json")) as file:
            return json.load(file)

    def wait_for_pictures(self, drawn, count):
        """Waits until `count` more than `drawn` pictures are made; the seconds."""
        start = time.monotonic()
        while True:
            status = self.status()
            if status["picturesDrawn"] >= drawn + count and status["picturesWaiting"] == 0:
                return time.monotonic() - start
            if time.monotonic() - start > 30 + PATIENCE_EACH * count:
                raise RuntimeError(f"only {status['picturesDrawn'] - drawn} of {count} pictures")
            time.sleep(0.02)

    def wait_for_largest(self, count):
        """Waits until the pictures of 1,024 pixels are kept too, which follow the others."""
        kept = os.path.join(self.base, "data/shapeedit/containers", self.name, "pictures")
        deadline = time.monotonic() + 30 + PATIENCE_EACH * count
        # The number of pictures stands behind the type and the reason: see PictureFile.
        while True:
            whole = 0
            for folder, _, files in os.walk(kept):
                for name in files:
                    if "." in name:
                        continue  # Being written.
                    with open(os.path.join(folder, name), "rb") as file:
                        head = file.read(64)
                    whole += head[11 + head[8]] == len(SIZES)
            if whole == count:
                return
            if time.monotonic() > deadline:
                raise RuntimeError(f"only {whole} of {count} documents have all pictures")
            time.sleep(0.25)

    def wait_for_entries(self):
        """Waits until no more pictures come into the desktop's cache: writing them keeps the daemon busy."""
        cache = os.path.join(self.base, "cache/thumbnails")
        before = None
        while (found := sum(len(files) for _, _, files in os.walk(cache))) != before:
            before = found
            time.sleep(1)

    def settle(self):
        """Waits until nothing is drawn, sealed or written into the desktop's cache any more."""
        deadline = time.monotonic() + 300
        while (status := self.status())["picturesWaiting"] or status["notYetDurable"]:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{status['notYetDurable']} versions are not sealed")
            time.sleep(0.2)
        self.wait_for_entries()

    def own_memory(self):
        """What the daemon alone has taken: its workers come and go, and pages of files are others' too."""
        with open(f"/proc/{self.status()['process']}/smaps_rollup") as rollup:
            for line in rollup:
                if line.startswith("Anonymous:"):
                    return int(line.split()[1]) << 10

    def picture(self, size, name):
        return os.path.join(self.root, ".shapeedit/thumbnails", str(size), name + ".png")


def slide(number):
    """A slide with shapes and texts of its own."""
    chosen = random.Random(number)
    elements = []
    for _ in range(6):
        elements.append({"shapeType": chosen.choice(["rectangle", "circle"]),
                         "originx": chosen.randrange(700), "originy": chosen.randrange(500),
                         "width": chosen.randrange(50, 300), "height": chosen.randrange(50, 250),
                         "fillColor": f"#{chosen.randrange(1 << 24):06x}"})
    return json.dumps({"canvasWidth": 1024, "canvasHeight": 768, "elements": elements})


def make_slides(folder, count):
    os.makedirs(folder)
    for number in range(count):
        with open(os.path.join(folder, f"{number:06}.slide"), "w") as file:
            file.write(slide(number))


def closing(binary, folder, client, rounds):
    """{document: {with, without}} of p50 and p99 of close(), in nanoseconds."""
    results = {}
    sources = {}
    for kind in ("shape", "slide", "list"):
        sources[kind] = os.path.join(folder, "source." + kind)
        subprocess.run([binary, "new", sources[kind]], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "HOME": folder})
    for label, program in (("with", None), ("without", "/nonexistent")):
        with Mount(binary, folder, "closing-" + label, program) as mount:
            for kind, source in sources.items():
                target = os.path.join(mount.root, "a." + kind)
                for warm, count in ((True, 10), (False, rounds)):
                    printed = subprocess.run(
                        [*client, "save", target, str(count), source], check=True,
                        capture_output=True, text=True).stdout
                    if not warm:
                        half, most, _ = map(int, printed.split())
                        results.setdefault(kind, {})[label] = {"p50": half, "p99": most}
    return results


def listing_time(root, seconds):
    """The median time of `ls -l` of a folder, over and over for some seconds."""
    times = []
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(times) < 3:
        start = time.monotonic()
        subprocess.run(["ls", "-l", root], check=True, stdout=subprocess.DEVNULL)
        times.append(time.monotonic() - start)
    return statistics.median(times)


def burst(binary, folder, count, repetitions):
    """New slides copied in: until all have pictures, with `ls -l` of other documents beside; medians
    of rounds with and without pictures in turn."""
    source = os.path.join(folder, "burst")
    make_slides(source, count)
    runs = {}

    def note(name, value):
        runs.setdefault(name, []).append(value)

    for round in range(repetitions):
        for label, program in (("with", None), ("without", "/nonexistent")):
            with Mount(binary, folder, f"burst-{label}-{round}", program) as mount:
                other = os.path.join(mount.root, "other")
                os.mkdir(other)
                for number in range(1_000):
                    open(os.path.join(other, f"{number}.bin"), "w").close()
                target = os.path.join(mount.root, "slides")
                start = time.monotonic()
                copy = subprocess.Popen(["cp", "-r", source, target])
                note("ls " + label, listing_time(other, 2.0))
                copy.wait()
                note("copied " + label, time.monotonic() - start)
                if label == "with":
                    mount.wait_for_pictures(0, count)
                    note("drawn", time.monotonic() - start)
        # The same without the listings.
        with Mount(binary, folder, f"burst-alone-{round}") as mount:
            start = time.monotonic()
            subprocess.run(["cp", "-r", source, os.path.join(mount.root, "slides")], check=True)
            note("copied alone", time.monotonic() - start)
            mount.wait_for_pictures(0, count)
            note("drawn alone", time.monotonic() - start)
            mount.wait_for_largest(count)
            note("complete alone", time.monotonic() - start)
    return {"count": count, **{name: statistics.median(values) for name, values in runs.items()}}


def reading(binary, folder, client, count, repetitions):
    """{size: {picture, native, bytes}}: reading ready pictures, and files of the same bytes."""
    results = {}
    source = os.path.join(folder, "reading")
    make_slides(source, count)
    with Mount(binary, folder, "reading-mount") as mount:
        for name in sorted(os.listdir(source)):
            shutil.copy(os.path.join(source, name), mount.root)
        mount.wait_for_pictures(0, count)
        mount.wait_for_entries()
        for size in SIZES:
            names = sorted(os.listdir(source))
            copies = os.path.join(folder, f"copies{size}")
            os.makedirs(copies)
            lists = {}
            for kind in ("picture", "native"):
                lists[kind] = os.path.join(folder, f"{kind}{size}.txt")
            for name in names:
                shutil.copyfile(mount.picture(size, name), os.path.join(copies, name + ".png"))
            for kind, path in (("picture", lambda name: mount.picture(size, name)),
                               ("native", lambda name: os.path.join(copies, name + ".png"))):
                with open(lists[kind], "w") as file:
                    file.writelines(path(name) + "\n" for name in names)
            runs = {"picture": [], "native": []}
            for round in range(repetitions + 1):
                for kind in runs:
                    printed = subprocess.run([*client, "read-list", lists[kind], "1"], check=True,
                                             capture_output=True, text=True).stdout
                    if round > 0:
                        runs[kind].append(int(printed.split()[0]))
            results[size] = {kind: statistics.median(times) for kind, times in runs.items()}
            results[size]["bytes"] = sum(
                os.path.getsize(os.path.join(copies, name + ".png")) for name in names) // count
    return {"count": count, "sizes": results}


def promises(binary, folder, count):
    """Documents without their contents, listed with all their pictures: bytes that were fetched."""
    source = os.path.join(folder, "promises")
    make_slides(source, count)
    mount = Mount(binary, folder, "promises-mount", store=True)
    with mount:
        subprocess.run(["cp", "-r", source, os.path.join(mount.root, "slides")], check=True)
        mount.wait_for_pictures(0, count)
        deadline = time.monotonic() + 60 + count
        while mount.status()["uploads"] or mount.status()["notYetDurable"]:
            if time.monotonic() > deadline:
                raise RuntimeError("the uploads do not end")
            time.sleep(0.1)
        mount.run("evict", os.path.join(mount.root, "slides"))
    with mount:
        start = time.monotonic()
        listed = subprocess.run(["ls", "-l", os.path.join(mount.root, "slides")], check=True,
                                capture_output=True, text=True).stdout.count("\n") - 1
        pictures = 0
        for name in os.listdir(source):
            with open(mount.picture(256, "slides/" + name), "rb") as file:
                pictures += file.read()[:4] == b"\x89PNG"
        seconds = time.monotonic() - start
        status = mount.status()
    return {"count": count, "listed": listed, "pictures": pictures, "seconds": seconds,
            "fetched": status["fetchedBytes"], "drawn": status["picturesDrawn"]}


def memory(binary, folder, count):
    """{label: {first, last}}: the daemon's memory while that many documents are published and their
    pictures looked at, with pictures and without: medians of the second quarter and of the last, each
    time when nothing is left to do. Without pictures it grows by what versions and changes take; these
    are the same in both, since no round is over so soon that the versions of the one before it go."""
    source = os.path.join(folder, "memory")
    step = 500
    make_slides(source, step)
    rounds = max(1, count // step)
    looks = {rounds * look // LOOKS for look in range(1, LOOKS + 1)}
    results = {"count": count}
    for label, program in (("with", None), ("without", "/nonexistent")):
        with Mount(binary, folder, "memory-" + label, program) as mount:
            taken = []
            for round in range(1, rounds + 1):
                end = time.monotonic() + SAVE_SECONDS
                target = os.path.join(mount.root, "slides")
                subprocess.run(["cp", "-rT", source, target], check=True)
                for name in os.listdir(source):
                    with open(mount.picture(256, "slides/" + name), "rb") as file:
                        file.read()
                if round in looks:
                    mount.settle()
                    taken.append(mount.own_memory())
                time.sleep(max(0, end - time.monotonic()))
            quarter = max(1, len(taken) // 4)
            results[label] = {"first": statistics.median(taken[quarter:2 * quarter] or taken),
                              "last": statistics.median(taken[-quarter:]), "looks": taken}
            if label == "with":
                results["drawn"] = mount.status()["picturesDrawn"]
    return results


def measure(binary, folder, client, repetitions, sizes, say):
    folder = os.path.join(folder, "pictures")
    os.makedirs(folder)
    parts = {
        "close": lambda: closing(binary, folder, client, 20 * repetitions),
        "burst": lambda: burst(binary, folder, sizes.slides, min(repetitions, 3)),
        "read": lambda: reading(binary, folder, client, sizes.slides, repetitions),
        "promises": lambda: promises(binary, folder, sizes.promises),
        "memory": lambda: memory(binary, folder, sizes.pictures),
    }
    results = {}
    for name, part in parts.items():
        say(f"pictures: {name}")
        results[name] = part()
    return results
