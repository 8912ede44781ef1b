"""Reads two documents whose names are exchanged while one process writes them in place.

Arguments: a folder, and how many seconds. Prints what was torn; the exit status says whether anything was.
"""

import ctypes
import json
import multiprocessing
import os
import random
import sys
import time

EXCHANGE = 2
HERE = -100

folder, seconds = sys.argv[1], float(sys.argv[2])
names = [os.path.join(folder, name) for name in ("one", "two")]
end = time.monotonic() + seconds
torn = multiprocessing.Value("i", 0)
reads = multiprocessing.Value("i", 0)


def write(number):
    random.seed(number)
    text = json.dumps({"number": number, "filling": "x" * random.choice((0, 10, 3_000))}).encode()
    file = os.open(random.choice(names), os.O_WRONLY | os.O_CREAT, 0o644)
    os.write(file, text)
    os.ftruncate(file, len(text))
    os.close(file)


def writer():
    number = 0
    while time.monotonic() < end:
        number += 1
        write(number)
        time.sleep(random.random() * 0.01)


def exchanger():
    library = ctypes.CDLL(None)
    while time.monotonic() < end:
        one, two = (name.encode() for name in names)
        library.renameat2(HERE, one, HERE, two, EXCHANGE)
        time.sleep(random.random() * 0.01)


def reader():
    while time.monotonic() < end:
        for name in names:
            with open(name, "rb", buffering=0) as file:
                text = file.read(9_999)
            with reads.get_lock():
                reads.value += 1
            try:
                json.loads(text)
            except ValueError:
                with torn.get_lock():
                    torn.value += 1
                print("torn:", len(text), text[:40], text[-20:], flush=True)


for name in names:
    with open(name, "w") as file:
        file.write("{}")
processes = [multiprocessing.Process(target=work) for work in (writer, exchanger, reader, reader)]
for process in processes:
    process.start()
for process in processes:
    process.join()
print(reads.value, "reads")
sys.exit(torn.value > 0 or reads.value == 0 or any(p.exitcode for p in processes))
