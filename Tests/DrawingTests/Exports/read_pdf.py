"""Follows a PDF file of one page from its table and prints how many objects lie over each other on it,
how many paths they fill, and how many texts and pictures they have; of a picture, its size and first pixel."""

import re
import sys
import zlib

data = open(sys.argv[1], "rb").read()
start = int(re.search(rb"startxref\s+(\d+)\s+%%EOF\s*$", data).group(1))
lines = data[start:].split(b"\n")
assert lines[0] == b"xref"
first, count = map(int, lines[1].split())
assert first == 0
offsets = {}
for number, line in enumerate(lines[2 : 2 + count]):
    offset, _, kind = line.split()
    if kind == b"n":
        offsets[number] = int(offset)
        assert data[int(offset) :].startswith(b"%d 0 obj" % number), number


def dictionary(number):
    text = data[offsets[number] :]
    return text[: min(text.find(mark) for mark in (b"endobj", b"stream") if mark in text)]


def reference(text, key):
    return int(re.search(key + rb"\s*\[?\s*(\d+) 0 R", text).group(1))


def stream(number):
    text = dictionary(number)
    length = re.search(rb"/Length (\d+)( 0 R)?", text)
    size = int(length.group(1))
    if length.group(2):
        size = int(dictionary(size).split(b"obj")[1])
    begin = data.index(b"stream\n", offsets[number]) + len(b"stream\n")
    content = data[begin : begin + size]
    assert data[begin + size :].lstrip().startswith(b"endstream")
    return zlib.decompress(content) if b"/FlateDecode" in text else content


for number in offsets:
    for other in re.findall(rb"\b(\d+) 0 R\b", dictionary(number)):
        assert int(other) in offsets, (number, other)
trailer = b"\n".join(lines[2 + count :])
pages = dictionary(reference(dictionary(reference(trailer, b"/Root")), b"/Pages"))
assert b"/Count 1" in pages
page = dictionary(reference(pages, b"/Kids"))
content = stream(reference(page, b"/Contents"))
# A page of the library's own has its pictures within.
joined = b"BT" not in content and b" f" not in content
layers = [int(number) for number in re.findall(rb"/x(\d+) Do", content) if joined] or [
    reference(page, b"/Contents")
]
image = dictionary(layers[0])
if b"/Columns" in image:
    width, height = (int(re.search(key + rb" (\d+)", image).group(1)) for key in (b"/Width", b"/Height"))
    assert b"/Columns %d" % width in image
    rows = stream(layers[0])
    assert len(rows) == height * (1 + 3 * width) and set(rows[:: 1 + 3 * width]) == {0}
    print(f"{width}x{height} {rows[1:4].hex()}")
    sys.exit()
fills = sum(len(re.findall(rb"(?m)(?:^| )f\*?$", stream(layer))) for layer in layers)
texts = sum(stream(layer).count(b"BT") for layer in layers)
pictures = sum(len(re.findall(rb"/x\d+ Do", stream(layer))) for layer in layers)
print(f"{len(layers)} layers, {fills} fills, {texts} texts, {pictures} pictures")
