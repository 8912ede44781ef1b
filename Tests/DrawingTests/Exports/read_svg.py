"""Parses an SVG file and prints how often each element is there, then all text, then the size of
each picture in it, as a reader of SVG 1.1 finds it."""

import base64
import collections
import struct
import sys
import xml.etree.ElementTree

root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
assert root.tag == "{http://www.w3.org/2000/svg}svg"
counts = collections.Counter(element.tag.split("}")[1] for element in root.iter())
print(" ".join(f"{name}={count}" for name, count in sorted(counts.items())))
print("|".join(element.text or "" for element in root.iter() if element.tag.endswith("tspan")))
for image in root.iter("{http://www.w3.org/2000/svg}image"):
    address = image.get("{http://www.w3.org/1999/xlink}href", "")
    png = base64.b64decode(address.partition("data:image/png;base64,")[2], validate=True)
    print("{}x{}".format(*struct.unpack(">II", png[16:24])) if png else "no picture")
