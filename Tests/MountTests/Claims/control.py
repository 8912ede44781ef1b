"""What programs get from the control socket, by the Varlink client of PyPI.

    control.py SCENARIO SOCKET FOLDER DESCRIPTION [STORE]

FOLDER is an empty folder of the mount, `work` below its root; DESCRIPTION the interface's file, STORE the folder of the container's store. Prints
"passed" if all was as it should be.
"""

import os
import queue
import subprocess
import sys
import threading
import time

import varlink

SCENARIO, SOCKET, FOLDER, DESCRIPTION, *MORE = sys.argv[1:]
INTERFACE = "org.shapeedit.Control"
PATIENCE = 30


def connect():
    """A connection of its own."""
    client = varlink.Client(f"unix:{SOCKET}")
    return client.open(INTERFACE)


def at(name):
    return os.path.join(FOLDER, name)


def store(name, text):
    with open(at(name), "w") as file:
        file.write(text)


def fails(name, call):
    """The parameters of the error that a call has to end with."""
    try:
        answer = call()
    except varlink.VarlinkError as error:
        assert error.error() == name, f"{error.error()} instead of {name}"
        return error.parameters()
    raise AssertionError(f"{answer} instead of {name}")


def claim(connection, access, *names, **more):
    targets = [{"path": f"work/{name}", "access": access} for name in names]
    more.setdefault("timeoutMilliseconds", PATIENCE * 1000)
    return connection.Claim(targets=targets, **more)


def by_others(line):
    """Runs a line of shell in the folder, as a program that this one does not know of."""
    subprocess.run(["sh", "-ec", line], cwd=FOLDER, check=True)


class Presenter:
    """Messages to a presenter, one after the other."""

    def __init__(self, path):
        self.messages = queue.Queue()
        self.connection = connect()
        threading.Thread(target=self.listen, args=[path], daemon=True).start()
        self.id = self.next("registered")["presenter"]

    def listen(self, path):
        try:
            for reply in self.connection.Present(path=path, _more=True):
                self.messages.put(reply["message"])
        except Exception as error:  # the end of the test closes it
            self.messages.put({"kind": f"{error!r}"})

    def next(self, kind, **values):
        message = self.messages.get(timeout=PATIENCE)
        # Versions go some time after a save in quick succession.
        while message["kind"] == "versionLost" != kind:
            message = self.messages.get(timeout=PATIENCE)
        assert message["kind"] == kind, f"{message} instead of {kind}"
        for name, value in values.items():
            assert message.get(name) == value, f"{message}: {name} is not {value}"
        return message

    def prepared(self, message):
        connect().Prepared(presenter=self.id, claim=message["claim"])


def describe():
    client = varlink.Client(f"unix:{SOCKET}")
    info = client.get_interfaces()
    assert {"org.varlink.service", INTERFACE} <= set(info), info
    with open(DESCRIPTION) as file:
        written = file.read()
    service = client.open("org.varlink.service")
    told = service.GetInterfaceDescription(interface=INTERFACE)["description"]
    assert told == written
    methods = {"Claim", "Release", "Claims", "Present", "Prepared", "Query", "Events", "Progress", "Status"}
    assert methods <= set(client.get_interface(INTERFACE).members)
    fails(
        "org.varlink.service.InterfaceNotFound",
        lambda: service.GetInterfaceDescription(interface="org.example.None"),
    )
    status = connect().Status()["status"]
    assert status["control"] == SOCKET and status["process"] > 1, status


def claims():
    one, two = connect(), connect()
    first = claim(one, "write", "a", "b")
    assert first["paths"] == ["work/a", "work/b"]
    late = fails(f"{INTERFACE}.TimedOut", lambda: claim(two, "read", "b", timeoutMilliseconds=50))
    (holder,) = late["holders"]
    assert holder["process"] == os.getpid() and holder["command"].startswith("python"), holder
    assert holder["kind"] == "claim" and holder["state"] == "granted" and holder["since"] > 1e9
    (listed,) = one.Claims()["claims"]
    assert abs(listed["claimant"].pop("since") - holder.pop("since")) < 0.1
    assert listed["claim"] == first["claim"] and listed["claimant"] == holder
    # Of one purpose they share, and what another connection has is not released.
    one.Release(claim=first["claim"])
    first = claim(one, "write", "a", purpose="p")
    second = claim(two, "write", "a", purpose="p")
    missing = fails(f"{INTERFACE}.NoSuchClaim", lambda: two.Release(claim=first["claim"]))
    assert missing == {"claim": first["claim"]}
    # A child of this process waits for its claims, unless it says that it works under them.
    child = f"""
import varlink
client = varlink.Client("unix:{SOCKET}").open("{INTERFACE}")
target = {{"path": "work/a", "access": "writeMerging"}}
try:
    client.Claim(targets=[target], timeoutMilliseconds=0)
    raise AssertionError("a claim that is not nested did not wait")
except varlink.VarlinkError as error:
    assert error.error() == "{INTERFACE}.TimedOut", error
client.Claim(targets=[target], nested=True, timeoutMilliseconds=0)
"""
    subprocess.run([sys.executable, "-c", child], check=True)
    # A connection's end is that of its claims.
    two._connection.close()
    three = connect()
    fails(
        f"{INTERFACE}.TimedOut", lambda: claim(three, "read", "a", timeoutMilliseconds=0))
    one._connection.close()
    claim(three, "read", "a")
    # It ends with the process that asked for it, though a child has inherited the connection.
    stay, leave = os.pipe()
    holder = os.fork()
    if holder == 0:
        held = connect()
        claim(held, "write", "inherited")
        if os.fork() == 0:
            os.close(leave)
            os.read(stay, 1)
        os._exit(0)
    os.close(stay)
    os.waitpid(holder, 0)
    claim(three, "write", "inherited")
    os.close(leave)


def circle():
    one, two = connect(), connect()
    first = claim(one, "write", "a")
    claim(two, "write", "b")
    waiting = queue.Queue()
    threading.Thread(target=lambda: waiting.put(claim(one, "write", "b")), daemon=True).start()
    while all(each["claimant"]["state"] == "granted" for each in connect().Claims()["claims"]):
        time.sleep(0.01)
    refused = fails(f"{INTERFACE}.Deadlock", lambda: claim(two, "write", "a"))
    assert refused["holders"][0]["state"] == "waiting", refused
    two._connection.close()
    assert waiting.get(timeout=PATIENCE)["paths"] == ["work/b"]
    # Nobody but it could let go of what it has.
    refused = fails(f"{INTERFACE}.Deadlock", lambda: claim(one, "read", "a"))
    assert refused["holders"][0]["state"] == "granted", refused
    one.Release(claim=first["claim"])
    claim(one, "read", "a")


def parameters():
    service = connect()
    wrong = "org.varlink.service.InvalidParameter"

    def given(**values):
        return lambda: service._connection and call("Claim", values)

    def call(method, values):
        # By hand: the client checks the types before it sends.
        import json
        import socket

        with socket.socket(socket.AF_UNIX) as raw:
            raw.connect(SOCKET)
            text = json.dumps({"method": f"{INTERFACE}.{method}", "parameters": values})
            raw.sendall(text.encode() + b"\0")
            answer = b""
            while not answer.endswith(b"\0"):
                answer += raw.recv(65536)
            answer = json.loads(answer[:-1])
        if "error" in answer:
            raise varlink.VarlinkError(answer)
        return answer["parameters"]

    target = {"path": "work/a", "access": "read"}
    for values in [
        {}, {"targets": []}, {"targets": 1}, {"targets": ["work/a"]},
        {"targets": [{"path": "work/a"}]}, {"targets": [{"path": "work/a", "access": "eat"}]},
        {"targets": [{"path": "/work/a", "access": "read"}]},
        {"targets": [{"path": "work/../a", "access": "read"}]},
        {"targets": [{"path": "work//a", "access": "read"}]},
        {"targets": [target | {"pathBytes": 1}]}, {"targets": [target | {"pathBytes": "!"}]},
        {"targets": [target], "purpose": 1}, {"targets": [target], "presenter": "x"},
        {"targets": [target], "timeoutMilliseconds": -1},
        {"targets": [target], "timeoutMilliseconds": "soon"}, {"targets": [target], "nested": 1},
    ]:
        fails(wrong, given(**values))
    fails(f"{INTERFACE}.TooMany", given(targets=[target] * 257))
    fails(f"{INTERFACE}.NoSuchPresenter", given(targets=[target], presenter=4711))
    fails("org.varlink.service.MethodNotFound", lambda: call("Nothing", {}))
    fails("org.varlink.service.ExpectedMore", lambda: call("Present", {"path": ""}))
    for values in [{}, {"path": 1}, {"path": "../x"}]:
        fails("org.varlink.service.ExpectedMore", lambda: call("Present", values))
    fails(wrong, lambda: call("Prepared", {"presenter": 1}))
    fails(wrong, lambda: call("Release", {}))


def prepare():
    store("document", "saved")
    shows = Presenter("work/document")
    unsaved = "what was not saved"
    granted = threading.Event()
    reader = connect()
    result = {}

    def read():
        result["claim"] = claim(reader, "read", "document")["claim"]
        with open(at("document")) as file:
            result["text"] = file.read()
        granted.set()

    thread = threading.Thread(target=read)
    thread.start()
    message = shows.next("prepare", lets="reader", saveChanges=True, accommodateDeletion=False)
    # The presenter saves under a claim of its own, past the one that waits for it.
    saving = connect()
    own = claim(saving, "write", "document", presenter=shows.id)
    store("document", unsaved)
    shows.prepared(message)
    assert not granted.wait(0.2)
    saving.Release(claim=own["claim"])
    assert granted.wait(PATIENCE) and result["text"] == unsaved, result
    thread.join()
    reader.Release(claim=result["claim"])
    shows.next("resume", claim=message["claim"])
    # Another process cannot answer for it: its answer is refused.
    line = (
        "import sys, varlink\n"
        "client = varlink.Client('unix:' + sys.argv[1]).open('org.shapeedit.Control')\n"
        "try: client.Prepared(presenter=int(sys.argv[2]), claim=1)\n"
        "except varlink.VarlinkError as error: sys.exit(0 if 'NoSuch' in error.error() else 2)\n"
        "sys.exit(1)\n"
    )
    subprocess.run([sys.executable, "-c", line, SOCKET, str(shows.id)], check=True)


def lease():
    store("document", "x")
    silent = Presenter("work/document")
    above = Presenter("work")
    # Nobody answers: the claim is granted all the same.
    deleter = connect()
    own = claim(deleter, "writeDeleting", "document", presenter=above.id)
    first = silent.next("prepare", lets="writer", accommodateDeletion=True)
    deleter.Release(claim=own["claim"])
    silent.next("resume", claim=first["claim"])
    # Whose connection ends is not waited for.
    silent.connection._connection.close()
    claim(deleter, "write", "document", timeoutMilliseconds=4000)


def changes():
    os.mkdir(at("folder"))
    store("folder/document", "x")
    item = Presenter("work/folder/document")
    above = Presenter("work")
    path = "work/folder/document"
    by_others("echo changed >folder/document")
    item.next("changed")
    item.next("versionGained")
    above.next("subitemChanged", path=path)
    by_others("mv folder/document folder/other")
    item.next("moved", path="work/folder/other")
    above.next("subitemMoved", path=path, newPath="work/folder/other")
    by_others("mv folder moved")
    item.next("moved", path="work/moved/other")
    above.next("subitemMoved", path="work/folder", newPath="work/moved")
    by_others("chmod 600 moved/other")
    item.next("changed")
    above.next("subitemChanged", path="work/moved/other")
    # A save by way of a temporary file.
    last = time.monotonic()
    by_others("echo saved >moved/temporary")
    above.next("subitemAppeared", path="work/moved/temporary")
    above.next("subitemChanged", path="work/moved/temporary")
    by_others("mv moved/temporary moved/other")
    item.next("changed")
    item.next("versionGained")
    above.next("subitemDeleted", path="work/moved/temporary")
    above.next("subitemChanged", path="work/moved/other")
    # Of two saves less than two seconds apart the first goes; a busy machine may need several.
    together = False
    while not together:
        before, last = last, time.monotonic()
        by_others("echo again >moved/other")
        together = time.monotonic() - before < 2
        item.next("changed")
        item.next("versionGained")
        above.next("subitemChanged", path="work/moved/other")
    item.next("versionLost")
    by_others("rm moved/other")
    item.next("deleted")
    above.next("subitemDeleted", path="work/moved/other")
    by_others("mkdir moved/new")
    above.next("subitemAppeared", path="work/moved/new")
    # What is shown before it is there comes by a rename.
    early = Presenter("work/early")
    by_others("echo x >temporary; mv temporary early")
    early.next("changed")
    above.next("subitemAppeared", path="work/temporary")
    above.next("subitemChanged", path="work/temporary")
    above.next("subitemMoved", path="work/temporary", newPath="work/early")
    # A save by an exchange of names.
    line = 'open("saving", "w").write("y"); import ctypes; '
    line += 'ctypes.CDLL(None).renameat2(-100, b"saving", -100, b"early", 2)'
    by_others(f"{sys.executable} -c '{line}'; rm saving")
    early.next("changed")
    early.next("versionGained")
    above.next("subitemAppeared", path="work/saving")
    above.next("subitemChanged", path="work/saving")
    above.next("subitemChanged", path="work/early")
    above.next("subitemChanged", path="work/saving")
    above.next("subitemDeleted", path="work/saving")
    # A folder that takes the name of an empty one has moved there.
    by_others("mkdir taken; mkdir full; echo x >full/inner; mv -T full taken")
    above.next("subitemAppeared", path="work/taken")
    above.next("subitemAppeared", path="work/full")
    above.next("subitemAppeared", path="work/full/inner")
    above.next("subitemChanged", path="work/full/inner")
    above.next("subitemMoved", path="work/full", newPath="work/taken")
    # Who caused a change is not told: this process does something, then another does.
    os.mkdir(at("own"))
    store("own/file", "x")
    os.rename(at("own/file"), at("own/renamed"))
    by_others("mkdir last")
    above.next("subitemAppeared", path="work/last")


def registering():
    """What happens just then is told after the presenter's number, which comes first."""
    import json
    import socket

    line = "while :; do : >busy; rm busy; done"
    others = [subprocess.Popen(["sh", "-c", line], cwd=FOLDER, stderr=subprocess.DEVNULL) for _ in range(3)]
    try:
        call = {"method": f"{INTERFACE}.Present", "parameters": {"path": "work"}, "more": True}
        end = time.monotonic() + 10
        while time.monotonic() < end:
            with socket.socket(socket.AF_UNIX) as raw:
                raw.connect(SOCKET)
                raw.sendall(json.dumps(call).encode() + b"\0")
                answer = b""
                while b"\0" not in answer:
                    piece = raw.recv(65536)
                    assert piece, "the connection was closed"
                    answer += piece
            message = json.loads(answer.split(b"\0")[0])["parameters"]["message"]
            assert message["kind"] == "registered", message
    finally:
        for other in others:
            other.kill()
            other.wait()


def moved():
    store("document", "x")
    mover, reader = connect(), connect()
    own = claim(mover, "writeMoving", "document")
    answer = {}
    thread = threading.Thread(
        target=lambda: answer.update(claim(reader, "read", "document")))
    thread.start()
    while not any(
        item["claimant"]["state"] == "waiting" for item in mover.Claims()["claims"]
    ):
        pass
    os.rename(at("document"), at("renamed"))
    mover.Release(claim=own["claim"])
    thread.join(PATIENCE)
    assert answer["paths"] == ["work/renamed"], answer


def writing():
    store("document", "x")
    connection = connect()
    with open(at("document"), "r+") as file:
        file.write("y")
        file.flush()
        # The program's own writing is not in the way of its claim.
        own = claim(connection, "write", "document")
        connection.Release(claim=own["claim"])
    by_others("echo changed >document")
    claim(connection, "write", "document")


class Followed:
    """A query: the list as the replies make it, by indices alone."""

    def __init__(self, query):
        self.connection = connect()
        self.replies = self.connection.Query(query=query, _more=True)
        self.list = []
        self.batches = 0
        part = self.part()
        assert set(part) <= {"results", "complete"}, part.keys()
        self.list = part.get("results", [])

    def part(self):
        """What all replies up to the one that is complete have."""
        whole = {}
        for reply in self.replies:
            for name, value in reply.items():
                if isinstance(value, list):
                    whole[name] = whole.get(name, []) + value
            if reply["complete"]:
                return whole
        raise AssertionError("the replies end")

    def follow(self):
        """Takes over a batch."""
        part = self.part()
        self.batches += 1
        moved = part.get("moved") or []
        before = list(self.list)
        going = (part.get("removed") or []) + [move["from"] for move in moved]
        for index in sorted(going, reverse=True):
            del self.list[index]
        coming = [(new["index"], new["result"]) for new in part.get("added") or []]
        coming += [(move["to"], before[move["from"]]) for move in moved]
        for index, result in sorted(coming, key=lambda new: new[0]):
            self.list.insert(index, result)
        for new in part.get("updated") or []:
            self.list[new["index"]] = new["result"]

    def becomes(self, *names):
        while [result["path"] for result in self.list] != [f"work/{name}" for name in names]:
            self.follow()


def queries():
    for name in ["b", "c", "a"]:
        store(name, name)
    alarm = threading.Timer(PATIENCE, lambda: os._exit(3))
    alarm.start()
    found = Followed("folder=work&sort=size")
    found.becomes("a", "b", "c")
    (first, *_) = found.list
    assert first["size"] == 1 and not first["folder"] and first["item"] == os.stat(at("a")).st_ino
    assert first["document"] == os.getxattr(at("a"), "user.shapeedit.id").decode()
    store("a", "longest")
    found.becomes("b", "c", "a")
    os.rename(at("b"), at("x"))
    found.becomes("c", "x", "a")
    os.remove(at("c"))
    found.becomes("x", "a")
    os.mkdir(at("folder"))
    os.rename(at("x"), at("folder/x"))
    found.becomes("folder/x", "a")
    os.rename(at("folder"), at("other"))
    found.becomes("other/x", "a")
    # Many at once are few batches.
    before = found.batches
    for number in range(200):
        store(f"m{number:03}", "much longer")
    found.becomes("other/x", "a", *[f"m{number:03}" for number in range(200)])
    assert found.batches - before < 30, found.batches
    # What the query does not find is not told.
    only = Followed("folder=work&name=m00*&sort=name&limit=2")
    only.becomes("m000", "m001")
    store("unrelated", "x")
    os.remove(at("m000"))
    only.becomes("m001", "m002")
    # Queries that cannot begin, and others that end, are nothing to those that go on.
    for _ in range(5):
        other = connect()
        fails(f"{INTERFACE}.NoSuchFolder",
              lambda: list(other.Query(query="folder=none", _more=True)))
        other._connection.close()
        Followed("folder=work&name=m00*").connection._connection.close()
    time.sleep(0.5)
    os.remove(at("m001"))
    only.becomes("m002", "m003")
    alarm.cancel()
    wrong = "org.varlink.service.InvalidParameter"
    for query in ["x", "sort=none", "limit=0", "name=" + "x" * 65_536]:
        fails(wrong, lambda: list(connect().Query(query=query, _more=True)))
    fails("org.varlink.service.ExpectedMore", lambda: connect().Query(query="sort=path"))


def many():
    """More results than a message takes."""
    count = 3000
    for number in range(count):
        store(f"{number:05}" + "x" * 100, "")
    found = Followed("folder=work&sort=path")
    assert len(found.list) == count
    by_others("mkdir d; mv 0* d")
    while not all(result["path"].startswith("work/d/") for result in found.list):
        found.follow()
    assert [result["path"][7:12] for result in found.list] == [f"{n:05}" for n in range(count)]


def events():
    store("first", "x")
    seen = []
    replies = connect().Events(_more=True)

    def until(kind, path):
        while True:
            for event in seen:
                if event["kind"] == kind and event.get("path") == path:
                    return event
            seen.extend(next(replies)["events"])

    # It has begun when it tells of something.
    ready = threading.Event()

    def knock():
        while not ready.wait(0.05):
            os.utime(at("first"))

    thread = threading.Thread(target=knock)
    thread.start()
    until("attributes", "work/first")
    ready.set()
    thread.join()
    store("second", "x")
    made = until("created", "work/second")
    published = until("published", "work/second")
    assert made["item"] == os.stat(at("second")).st_ino and made["process"] == os.getpid()
    os.rename(at("second"), at("third"))
    assert until("renamed", "work/third")["from"] == "work/second"
    # From a place in the past.
    seen.clear()
    replies = connect().Events(after=made["sequence"], _more=True)
    assert until("renamed", "work/third")["sequence"] > published["sequence"]
    assert seen[0]["sequence"] > made["sequence"] and published in seen
    wrong = "org.varlink.service.InvalidParameter"
    for after in [1 << 60, -1]:
        fails(wrong, lambda: list(connect().Events(after=after, _more=True)))


def progress():
    first = next(connect().Progress(_more=True))
    assert first == {"downloads": [], "uploads": 0, "uploadBytes": 0}, first
    fails("org.varlink.service.ExpectedMore", lambda: connect().Progress())


def uploads():
    """What waits while the store is not there, and goes when it is again."""
    store_folder = MORE[0]
    os.rename(store_folder, store_folder + ".away")
    replies = connect().Progress(_more=True)
    assert next(replies) == {"downloads": [], "uploads": 0, "uploadBytes": 0}
    for name in ["one", "two"]:
        with open(at(name), "wb") as file:
            file.write(os.urandom(3_000_000))
        by_others(f"sync {name}")
    while (told := next(replies))["uploads"] < 2:
        pass
    assert told["uploadBytes"] == 6_000_000, told
    os.rename(store_folder + ".away", store_folder)
    while (told := next(replies))["uploads"] > 0:
        pass
    assert told["uploadBytes"] == 0, told


globals()[SCENARIO]()
print("passed")
