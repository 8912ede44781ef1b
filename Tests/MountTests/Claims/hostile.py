"""What hostile clients do to the control socket; the mount and other clients must not notice.

    hostile.py SOCKET FOLDER

Prints "passed" if all was as it should be.
"""

import json
import os
import resource
import socket
import sys
import threading
import time

SOCKET, FOLDER = sys.argv[1:]
PATIENCE = 60


def connect():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(SOCKET)
    connection.settimeout(PATIENCE)
    return connection


def message(method, **parameters):
    return json.dumps({"method": method, "parameters": parameters}).encode() + b"\0"


def reply(connection):
    """The next reply; None at the end of the connection."""
    answer = b""
    while not answer.endswith(b"\0"):
        piece = connection.recv(1)
        if not piece:
            return None
        answer += piece
    return json.loads(answer[:-1])


def is_closed(connection):
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


def is_well():
    """A client that behaves is served, and so is the mount."""
    with connect() as connection:
        connection.sendall(message("org.varlink.service.GetInfo"))
        assert reply(connection)["parameters"]["product"] == "shapeedit"
    with open(os.path.join(FOLDER, "file"), "w") as file:
        file.write("x")
    with open(os.path.join(FOLDER, "file")) as file:
        assert file.read() == "x"


# What is no message, no call, or no JSON.
for text in [
    b"\0", b"garbage\0", b"{}\0", b"[]\0", b'{"method": 1}\0', b'{"method": "x", "parameters": 1}\0',
    b'{"method": "org.shapeedit.Control.Status", "more": "true"}\0',
    b'{"method": "org.shapeedit.Control.Status", "oneway": 1}\0',
    b"\xff\xfe\0", b"[" * 100_000 + b"\0", b'{"method": "' + b"\\ud800" + b'"}\0',
    os.urandom(10_000).replace(b"\0", b"x") + b"\0",
]:
    with connect() as connection:
        connection.sendall(text)
        assert is_closed(connection), text[:40]
is_well()

# Names that are none.
for method in ["", ".", "x", "org.varlink.service", "org.varlink.service.", ".GetInfo", "a.b.c.D"]:
    with connect() as connection:
        connection.sendall(message(method))
        assert "NotFound" in reply(connection)["error"], method

# Half a message, then nothing, then the end.
halves = [connect() for _ in range(20)]
for connection in halves:
    connection.sendall(message("org.varlink.service.GetInfo")[:-5])
is_well()
for connection in halves:
    connection.close()

# Byte by byte, and several in one piece, answered in order.
with connect() as connection:
    for byte in message("org.varlink.service.GetInfo"):
        connection.sendall(bytes([byte]))
    assert reply(connection)["parameters"]["version"]
    connection.sendall(
        message("org.varlink.service.GetInfo") * 500 + message("org.shapeedit.Control.Nothing"))
    for _ in range(500):
        assert "error" not in reply(connection)
    assert reply(connection)["error"].endswith("MethodNotFound")
    # Who has finished sending still gets the answer.
    connection.sendall(message("org.varlink.service.GetInfo"))
    connection.shutdown(socket.SHUT_WR)
    assert "error" not in reply(connection)
    assert reply(connection) is None

# Who takes no reply gets none, whatever else the call says; the next call is answered.
for method, parameters in [
    ("Query", {"query": "name=*"}), ("Events", {}), ("Progress", {}), ("Present", {"path": ""}),
    ("Status", {}), ("Nothing", {}),
]:
    with connect() as connection:
        call = json.loads(message("org.shapeedit.Control." + method, **parameters)[:-1])
        connection.sendall(json.dumps(call | {"more": True, "oneway": True}).encode() + b"\0")
        connection.sendall(message("org.shapeedit.Control.Last"))
        assert reply(connection)["parameters"]["method"].endswith("Last"), method
is_well()

# Many small calls in one piece are answered each. Who has long replies come and reads none is cut off.
with connect() as connection:
    sender = os.fork()
    if sender == 0:
        connection.sendall(b'{"method":"a.b"}\0' * 30_000)
        os._exit(0)
    ends = 0
    while ends < 30_000:
        piece = connection.recv(1 << 20)
        assert piece
        ends += piece.count(b"\0")
    assert os.waitpid(sender, 0)[1] == 0
with connect() as connection:
    call = message("org.varlink.service.GetInterfaceDescription", interface="org.shapeedit.Control")
    try:
        connection.sendall(call * 4_000)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    assert is_closed(connection)
is_well()

# Who sends thousands of calls with long replies, and reads them, holds nobody up: others are served
# between any two of them.
with connect() as holder, connect() as eager:
    for number in range(100):
        holder.sendall(
            message(
                "org.shapeedit.Control.Claim",
                targets=[{"path": f"eager{number}", "access": "write"}]))
        assert reply(holder)["parameters"]["paths"] == [f"eager{number}"]
    sender = os.fork()
    if sender == 0:
        try:
            eager.sendall(message("org.shapeedit.Control.Claims") * 20_000)
        except OSError:
            pass
        os._exit(0)
    answered = [0]

    def count():
        try:
            while piece := eager.recv(1 << 20):
                answered[0] += piece.count(b"\0")
        except OSError:
            pass

    counting = threading.Thread(target=count)
    counting.start()
    while answered[0] < 10:
        time.sleep(0.01)
    before = answered[0]
    is_well()
    assert answered[0] - before < 1_000, (before, answered[0])
    eager.shutdown(socket.SHUT_RDWR)
    counting.join()
    assert os.waitpid(sender, 0)[1] == 0
is_well()

# A message of 1 MB is read, a longer one is not.
with connect() as connection:
    connection.sendall(message("org.shapeedit.Control.Claims", text="x" * (1_000_000)))
    assert reply(connection)["parameters"]["claims"] == []
with connect() as connection:
    try:
        for _ in range(64):
            connection.sendall(b"x" * 65_536)
    except (BrokenPipeError, ConnectionResetError):
        pass
    assert is_closed(connection)
is_well()

# Thousands of connections: those beyond the limit are told so and closed, and the mount goes on.
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
limit = min(1024, most // 4)
many = []
for _ in range(limit + limit // 2):
    try:
        many.append(connect())
    except (BlockingIOError, ConnectionRefusedError):
        time.sleep(0.01)
with open(os.path.join(FOLDER, "file")) as file:
    assert file.read() == "x"
assert reply(many[-1]) == {
    "error": "org.shapeedit.Control.TooManyClients", "parameters": {"limit": limit}}
assert reply(many[-1]) is None
for connection in many:
    connection.close()
# The server sees their ends one after the other.
end = time.monotonic() + PATIENCE
while True:
    try:
        is_well()
        break
    except (AssertionError, ConnectionError, KeyError, TypeError):
        assert time.monotonic() < end
        time.sleep(0.05)

# A claim that is asked for and never waited for, many times.
for _ in range(200):
    with connect() as connection:
        connection.sendall(
            message(
                "org.shapeedit.Control.Claim",
                targets=[{"path": "work/file", "access": "write"}]))
is_well()

# A presenter that never reads is cut off, and nobody waits for it.
with connect() as connection:
    call = json.loads(message("org.shapeedit.Control.Present", path="")[:-1])
    connection.sendall(json.dumps(call | {"more": True}).encode() + b"\0")
    assert reply(connection)["parameters"]["message"]["kind"] == "registered"
    name = os.path.join(FOLDER, "n" * 255)
    child = os.fork()
    if child == 0:
        # Another process, because nobody is told of what he does himself.
        with open(name, "w"):
            pass
        for mode in range(16_000):
            os.chmod(name, 0o600 + (mode & 1))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    with connect() as other:
        other.sendall(
            message(
                "org.shapeedit.Control.Claim",
                targets=[{"path": "work/" + "n" * 255, "access": "writeDeleting"}]))
        # At once, if it was cut off; else after its lease: both are bounded.
        assert "error" not in reply(other)
    while connection.recv(1 << 20):
        pass
is_well()

# Queries whose results nobody reads: others are told, and the connection is closed after a while.
names = [os.path.join(FOLDER, f"{number:03}" + "q" * 250) for number in range(600)]
for name in names:
    with open(name, "w"):
        pass


def ask(connection):
    call = json.loads(message("org.shapeedit.Control.Query", query="name=*q")[:-1])
    connection.sendall(json.dumps(call | {"more": True}).encode() + b"\0")


stuck = [connect() for _ in range(20)]
for connection in stuck:
    ask(connection)
for round in range(4):
    for name in names:
        os.utime(name, (round, round))
    time.sleep(0.3)
with connect() as connection:
    ask(connection)
    while not reply(connection)["parameters"]["complete"]:
        pass
    start = time.monotonic()
    os.unlink(names[0])
    assert reply(connection)["parameters"]["removed"] == [0]
    # Long before the stuck ones are closed, after 30 s: it did not wait for them.
    assert time.monotonic() - start < 20
is_well()
time.sleep(35)
for connection in stuck:
    total = 0
    try:
        while piece := connection.recv(1 << 20):
            total += len(piece)
    except ConnectionResetError:
        pass
    # Not all was kept for it.
    assert total < 4 << 20, total
is_well()
print("passed")
