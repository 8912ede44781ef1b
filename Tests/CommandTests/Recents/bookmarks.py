"""Reads and writes a list of recently used files with GLib's own GBookmarkFile.

bookmarks.py list FILE                     a line for each entry: address, type, applications
bookmarks.py add FILE ADDRESS TYPE NAME    registers an application for an address
"""
import ctypes
import sys

glib = ctypes.CDLL("libglib-2.0.so.0")
text = ctypes.c_char_p
pointer = ctypes.c_void_p
for name, result, arguments in [
    ("new", pointer, []),
    ("load_from_file", ctypes.c_int, [pointer, text, pointer]),
    ("to_file", ctypes.c_int, [pointer, text, pointer]),
    ("get_uris", ctypes.POINTER(text), [pointer, pointer]),
    ("get_mime_type", text, [pointer, text, pointer]),
    ("get_applications", ctypes.POINTER(text), [pointer, text, pointer, pointer]),
    ("set_mime_type", None, [pointer, text, text]),
    ("add_application", None, [pointer, text, text, text]),
]:
    function = getattr(glib, "g_bookmark_file_" + name)
    function.restype = result
    function.argtypes = arguments


def strings(array):
    found = []
    while array and array[len(found)] is not None:
        found.append(array[len(found)].decode())
    return found


command, path = sys.argv[1], sys.argv[2].encode()
bookmarks = glib.g_bookmark_file_new()
loaded = glib.g_bookmark_file_load_from_file(bookmarks, path, None)
if command == "list":
    if not loaded:
        sys.exit("GLib cannot read it")
    for uri in strings(glib.g_bookmark_file_get_uris(bookmarks, None)):
        key = uri.encode()
        kind = glib.g_bookmark_file_get_mime_type(bookmarks, key, None)
        names = strings(glib.g_bookmark_file_get_applications(bookmarks, key, None, None))
        print(uri, (kind or b"-").decode(), ",".join(sorted(names)))
else:
    uri, kind, name = (word.encode() for word in sys.argv[3:6])
    glib.g_bookmark_file_set_mime_type(bookmarks, uri, kind)
    glib.g_bookmark_file_add_application(bookmarks, uri, name, b"'" + name + b" %u'")
    if not glib.g_bookmark_file_to_file(bookmarks, path, None):
        sys.exit("GLib cannot write it")
