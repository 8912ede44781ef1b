"""Reads a .stl, .obj or .glb file, checks it and prints: triangles, open edges, volume, solids.

Written from the specifications of the formats alone, as a second reader of what ShapeEdit writes.
"""

import json
import struct
import sys


def stl(data):
    (count,) = struct.unpack_from("<I", data, 80)
    assert len(data) == 84 + 50 * count, "length"
    for index in range(count):
        numbers = struct.unpack_from("<12f", data, 84 + 50 * index)
        yield [numbers[3:6], numbers[6:9], numbers[9:12]]


def obj(data):
    places, triangles = [], []
    for line in data.decode().splitlines():
        words = line.split()
        if words[0] == "v":
            assert len(words) == 7 and all(0 <= float(word) <= 1 for word in words[4:]), line
            places.append(tuple(float(word) for word in words[1:4]))
        elif words[0] == "f":
            corners = [[int(part) for part in word.split("//")] for word in words[1:]]
            triangles.append([places[corner[0] - 1] for corner in corners])
    return triangles


def glb(data):
    magic, version, length, size, kind = struct.unpack_from("<4sII I4s", data)
    assert (magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON")
    root = json.loads(data[20 : 20 + size])
    binary_size, binary_kind = struct.unpack_from("<I4s", data, 20 + size)
    assert binary_kind == b"BIN\0" and binary_size >= root["buffers"][0]["byteLength"]
    binary = data[28 + size :]

    def accessor(number, code, width):
        entry = root["accessors"][number]
        view = root["bufferViews"][entry["bufferView"]]
        assert view["byteOffset"] % 4 == 0
        values = struct.unpack_from(f"<{entry['count'] * width}{code}", binary, view["byteOffset"])
        return [values[i : i + width] for i in range(0, len(values), width)]

    for node in root["nodes"]:
        if "mesh" not in node:
            assert len(node["matrix"]) == 16 and root["cameras"][node["camera"]]
            continue
        for primitive in root["meshes"][node["mesh"]]["primitives"]:
            assert len(root["materials"][primitive["material"]]["pbrMetallicRoughness"]["baseColorFactor"]) == 4
            places = accessor(primitive["attributes"]["POSITION"], "f", 3)
            bounds = root["accessors"][primitive["attributes"]["POSITION"]]
            for axis in range(3):
                column = [place[axis] for place in places]
                assert min(column) == bounds["min"][axis] and max(column) == bounds["max"][axis]
            normals = accessor(primitive["attributes"]["NORMAL"], "f", 3)
            assert len(normals) == len(places)
            assert all(abs(sum(x * x for x in normal) - 1) < 1e-5 for normal in normals)
            indices = [value[0] for value in accessor(primitive["indices"], "I", 1)]
            for i in range(0, len(indices), 3):
                yield [places[index] for index in indices[i : i + 3]]


def main(path):
    with open(path, "rb") as file:
        data = file.read()
    reader = {"stl": stl, "obj": obj, "glb": glb}[path.rsplit(".", 1)[1]]
    triangles, volume, edges = 0, 0.0, {}
    for a, b, c in reader(data):
        triangles += 1
        volume += (
            a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
        ) / 6
        for edge in ((a, b), (b, c), (c, a)):
            key = tuple(tuple(x + 0.0 for x in place) for place in edge)
            edges[key] = edges.get(key, 0) + 1
    unpaired = sum(1 for (a, b), count in edges.items() if edges.get((b, a)) != count)
    print(triangles, unpaired, f"{volume:.6f}")


main(sys.argv[1])
