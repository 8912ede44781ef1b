"""Looks for what it was told of, at once.

Arguments: how it is told (events, presenter), the mount's root, how many times. Run in the mount's folder
`work`. Prints how often what was told was not to be seen yet.
"""

import json
import os
import select
import socket
import subprocess
import sys

way, root, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
top = root + "/.shapeedit/"

# Another process changes names: one whenever it is told so.
changer = """
import os, sys
for line in sys.stdin:
    kind, *names = line.split()
    if kind == 'make':
        with open(names[0], 'w') as file: file.write(names[1])
    else:
        os.rename(*names)
    print(flush=True)
"""
other = subprocess.Popen(
    [sys.executable, "-c", changer], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)


def ask(line):
    other.stdin.write(line + "\n")
    other.stdin.flush()


def perform(line):
    ask(line)
    other.stdout.readline()


def calls(method, parameters):
    """The replies to a call that has many."""
    control = socket.socket(socket.AF_UNIX)
    control.connect(json.load(open(top + "status.json"))["control"])
    control.settimeout(60)
    call = {"method": "org.shapeedit.Control." + method, "more": True, "parameters": parameters}
    control.sendall(json.dumps(call).encode() + b"\0")
    rest = b""
    while True:
        while b"\0" not in rest:
            rest += control.recv(65536)
        text, _, rest = rest.partition(b"\0")
        yield json.loads(text)["parameters"]


def lines():
    """What `.shapeedit/events` tells, after nothing when it is open."""
    events = os.open(top + "events", os.O_RDONLY)
    yield None
    while True:
        assert select.select([events], [], [], 60)[0]
        for line in os.read(events, 65536).splitlines():
            yield json.loads(line)


def text(name):
    try:
        with open(name) as file:
            return file.read()
    except FileNotFoundError:
        return None


perform("make document first")
if way == "events":
    news = lines()
    next(news)

    def told():
        while next(news)["kind"] != "renamed":
            pass

else:
    news = calls("Present", {"path": "work/document"})
    next(news)

    def told():
        while next(news)["message"]["kind"] != "changed":
            pass


early = 0
for number in range(times):
    perform(f"make document.new {number}")
    ask("rename document.new document")
    told()
    if text("document") != str(number) or text("document.new") is not None:
        early += 1
    other.stdout.readline()
print(early)
