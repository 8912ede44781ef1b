"""Reads a .shapeFile, .slide or .list with Python's own readers and prints what it says.

A second reader of the documents of the original apps, which knows nothing of ShapeEdit.
"""

import json
import plistlib
import sys


def resolved(archive):
    """The lists's title words of a keyed archive: colour, then each item with its mark."""
    assert archive["$archiver"] == "NSKeyedArchiver" and archive["$version"] == 100000
    objects = archive["$objects"]
    root = objects[archive["$top"]["root"].data]
    assert objects[root["$class"].data]["$classname"] == "AAPLList"
    yield f"color {root['color']}"
    for item in objects[root["items"].data]["NS.objects"]:
        item = objects[item.data]
        assert objects[item["$class"].data]["$classname"] == "AAPLListItem"
        assert len(objects[item["uuid"].data]["NS.uuidbytes"]) == 16
        yield f"{'x' if item['completed'] else '-'} {objects[item['text'].data]}"


path = sys.argv[1]
with open(path, "rb") as file:
    data = file.read()
if path.endswith(".slide"):
    root = json.loads(data)
    print(root.get("title"))
    print(len(root["elements"]))
    for element in root["elements"]:
        print(json.dumps(element, sort_keys=True))
elif path.endswith(".list"):
    assert data.startswith(b"bplist00")
    print("\n".join(resolved(plistlib.loads(data))))
else:
    root = plistlib.loads(data)
    assert data.startswith(b"bplist00")
    print(f"shape {root['shape']}")
    if "cameraState" in root:
        camera = plistlib.loads(root["cameraState"])
        state = camera["$objects"][camera["$top"]["root"].data]
        print(" ".join(f"{key}={state[key]:g}" for key in ("x", "y", "z")))
