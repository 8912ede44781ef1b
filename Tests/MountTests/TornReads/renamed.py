"""Reads a document that another process saves as GLib does, which renames first and closes then.

Arguments: a folder, and how often to save. Prints what was torn; the exit status says whether anything was.
"""

import multiprocessing
import os
import sys
import time

folder, times = sys.argv[1], int(sys.argv[2])
document, temporary = (os.path.join(folder, name) for name in ("one", ".goutputstream-Q7K2PD"))
ended = multiprocessing.Event()
torn = multiprocessing.Value("i", 0)
reads = multiprocessing.Value("i", 0)


def save(number):
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(file, b"%d:" % number + b"x" * (number * 997 % 50_000) + b":end")
    os.rename(temporary, document)
    # Long enough for every reader to come, and far shorter than anybody waits.
    time.sleep(0.004)
    os.close(file)


def reader():
    while not ended.is_set():
        with open(document, "rb") as file:
            text = file.read()
        with torn.get_lock(), reads.get_lock():
            reads.value += 1
            torn.value += not text.endswith(b":end")


with open(document, "wb") as first:
    first.write(b"0::end")
readers = [multiprocessing.Process(target=reader) for _ in range(2)]
for process in readers:
    process.start()
for number in range(1, times + 1):
    save(number)
    time.sleep(0.004)
ended.set()
for process in readers:
    process.join()
print(f"{reads.value} reads, {torn.value} torn")
sys.exit(torn.value > 0 or reads.value < times)
