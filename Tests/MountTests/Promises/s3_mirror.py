"""Makes what is below a URL of an S3 server what a folder holds: IDENTITY SECRET URL FOLDER.
FOLDER.put has what it put there the last time. Folders with nothing in them are empty objects."""

import json, os, sys
# Files that the package does not know are a warning of its next build.
sys.dont_write_bytecode = True
from s3_request import send

identity, secret, url, folder = sys.argv[1:]
try:
    before = json.load(open(folder + ".put"))
except FileNotFoundError:
    before = {}
now = {}
for path, folders, files in os.walk(folder):
    key = os.path.relpath(path, folder) + "/"
    if key == "./": key = ""
    for name in files: now[key + name] = open(os.path.join(path, name), "rb").read().decode("latin1")
    if key and not folders and not files: now[key] = ""
for key in set(before) - set(now): send(identity, secret, "DELETE", url + "/" + key)
for key, body in now.items():
    if before.get(key) != body: send(identity, secret, "PUT", url + "/" + key, body.encode("latin1"))
json.dump(now, open(folder + ".put", "w"))
