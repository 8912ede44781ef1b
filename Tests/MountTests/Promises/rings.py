"""Uses a file by io_uring; FLAGS are O_ names joined by a bar. Exit code 77: there is no io_uring.

rings.py read FILE FLAGS SIZE OFFSET...: prints for each offset how many bytes were read, and their SHA-256.
rings.py write FILE FLAGS WORD...: writes each word where the one before ended, as write(2) does.
"""
import ctypes
import hashlib
import mmap
import os
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
SETUP, ENTER, READ, WRITE, GET_EVENTS = 425, 426, 22, 23, 1


class Ring:
    def __init__(self):
        parameters = ctypes.create_string_buffer(120)
        self.file = libc.syscall(SETUP, 4, parameters)
        if self.file < 0:
            sys.exit(77)
        entries, answers = struct.unpack_from("II", parameters.raw, 0)
        self.submitted = struct.unpack_from("10I", parameters.raw, 40)
        self.completed = struct.unpack_from("10I", parameters.raw, 80)
        size = max(self.submitted[6] + entries * 4, self.completed[5] + answers * 16)
        self.ring = mmap.mmap(self.file, size, offset=0)
        self.entries = mmap.mmap(self.file, entries * 64, offset=0x10000000)

    def word(self, place, value=None):
        if value is None:
            return struct.unpack_from("I", self.ring, place)[0]
        struct.pack_into("I", self.ring, place, value)

    def run(self, operation, file, buffer, size, offset):
        address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
        struct.pack_into(
            "=BBHiQQIIQHHIQQ", self.entries, 0,
            operation, 0, 0, file, offset % (1 << 64), address, size, 0, 0, 0, 0, 0, 0, 0)
        tail, mask = self.word(self.submitted[1]), self.word(self.submitted[2])
        self.word(self.submitted[6] + 4 * (tail & mask), 0)
        self.word(self.submitted[1], tail + 1)
        if libc.syscall(ENTER, self.file, 1, 1, GET_EVENTS, None, 0) < 0:
            sys.exit(os.strerror(ctypes.get_errno()))
        head, mask = self.word(self.completed[0]), self.word(self.completed[2])
        place = self.completed[5] + 16 * (head & mask) + 8
        result = struct.unpack_from("i", self.ring, place)[0]
        self.word(self.completed[0], head + 1)
        return result


kind, path, names = sys.argv[1:4]
flags = 0
for name in names.split("|"):
    flags |= getattr(os, name)
ring = Ring()
file = os.open(path, flags, 0o666)
if kind == "write":
    for word in sys.argv[4:]:
        buffer = mmap.mmap(-1, mmap.PAGESIZE)
        buffer.write(word.encode())
        count = ring.run(WRITE, file, buffer, len(word), -1)
        assert count == len(word), count
else:
    size = int(sys.argv[4])
    for offset in sys.argv[5:]:
        buffer = mmap.mmap(-1, max(size, mmap.PAGESIZE))
        count = ring.run(READ, file, buffer, size, int(offset))
        print(count, hashlib.sha256(buffer[: max(count, 0)]).hexdigest())
