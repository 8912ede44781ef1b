"""Reads a .png, .svg, .pdf, .glb, .stl or .obj file and prints its size or what it holds.

Written from the specifications of the formats alone, as a second reader of what ShapeEdit writes.
"""

import json
import re
import struct
import sys
import xml.etree.ElementTree
import zlib


def png(data):
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    place, kinds, pixels = 8, [], b""
    while place < len(data):
        length, kind = struct.unpack_from(">I4s", data, place)
        body = data[place + 8 : place + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, place + 8 + length)
        assert checksum == zlib.crc32(kind + body), kind
        if kind == b"IHDR":
            width, height, depth, colour, *_ = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            pixels += body
        kinds.append(kind)
        place += 12 + length
    assert kinds[0] == b"IHDR" and kinds[-1] == b"IEND"
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    assert len(zlib.decompress(pixels)) == height * (1 + width * channels * depth // 8)
    return f"{width}x{height}"


def svg(data):
    root = xml.etree.ElementTree.fromstring(data)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    words = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    words += [node.text for node in root.iter("{http://www.w3.org/2000/svg}tspan")]
    return " ".join(word.strip() for word in words if word and word.strip()) or "no text"


def pdf(data):
    assert data.startswith(b"%PDF-1.") and data.rstrip().endswith(b"%%EOF")
    start = int(re.search(rb"startxref\s+(\d+)\s+%%EOF", data).group(1))
    assert data[start:].startswith(b"xref") or b" obj" in data[start : start + 20]
    box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+)", data)
    return f"{float(box.group(1)):g}x{float(box.group(2)):g}"


def glb(data):
    magic, version, length, size, kind = struct.unpack_from("<4sII I4s", data)
    assert (magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON")
    root = json.loads(data[20 : 20 + size])
    return f"{sum('mesh' in node for node in root['nodes'])} solids"


def stl(data):
    (count,) = struct.unpack_from("<I", data, 80)
    assert len(data) == 84 + 50 * count and count > 0
    return "triangles"


def obj(data):
    lines = data.decode().splitlines()
    assert any(line.startswith("f ") for line in lines)
    return f"{sum(line.startswith('o ') for line in lines)} solids"


with open(sys.argv[2], "rb") as file:
    print(globals()[sys.argv[1]](file.read()))
