"""Parses an SVG file and prints how often each element is there, then all text."""

import collections
import sys
import xml.etree.ElementTree

root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
assert root.tag == "{http://www.w3.org/2000/svg}svg"
counts = collections.Counter(element.tag.split("}")[1] for element in root.iter())
print(" ".join(f"{name}={count}" for name, count in sorted(counts.items())))
print("|".join(element.text or "" for element in root.iter() if element.tag.endswith("tspan")))
