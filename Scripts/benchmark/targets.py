"""The figures ShapeEdit is meant to reach, checked against one run's own peers."""

PEERS = ("bindfs", "passthrough_ll", "rclone")
CACHED = 1.3  # times native, where the kernel answers from its caches
NEARLY = 0.9  # of passthrough_ll's speed
MOUNT_SECONDS = 2.0
BASE_BYTES, ITEM_BYTES = 64 * 2**20, 200


def check(report):
    """[(target, measured, reached)] for what was measured; nothing for what was not."""
    found = []
    for name in ("shapeedit", "shapeedit-nopt"):
        found += _timings(name, report["operations"])
        mount = report.get("mount", {}).get(name)
        if mount:
            seconds = mount.get("cold", mount["warm"]) / 1e9
            found.append((f"{name}: mount of {mount['items']:,} items <= {MOUNT_SECONDS:.0f} s",
                          f"{seconds:.2f} s", seconds <= MOUNT_SECONDS))
            allowed = BASE_BYTES + ITEM_BYTES * mount["items"]
            found.append((f"{name}: memory then <= 64 MiB + {ITEM_BYTES} B an item",
                          f"{mount['resident'] / 2**20:.0f} of {allowed / 2**20:.0f} MiB",
                          mount["resident"] <= allowed))
    return found


def _timings(name, results):
    def wall(operation, system):
        return results.get(operation, {}).get(system, {}).get("wall")

    found = []
    for operation in ("stat-warm", "seq-warm", "rand-warm", "mmap-warm"):
        ours, native = wall(operation, name), wall(operation, "native")
        if ours and native:
            found.append((f"{name}: {operation} <= {CACHED} x native", f"{ours / native:.2f}",
                          ours <= CACHED * native))
    for operation in ("ls-cold", "create", "read-warm", "read-cold"):
        peers = {peer: wall(operation, peer) for peer in PEERS if wall(operation, peer)}
        ours = wall(operation, name)
        if ours and peers:
            best = min(peers, key=peers.get)
            found.append((f"{name}: {operation} faster than every peer",
                          f"{ours / peers[best]:.2f} x {best}", ours < peers[best]))
    for operation in ("write-new", "write-again", "seq-warm"):
        ours, peer = wall(operation, name), wall(operation, "passthrough_ll")
        if ours and peer:
            found.append((f"{name}: {operation} >= {NEARLY} of passthrough_ll's speed",
                          f"{peer / ours:.2f}", peer / ours >= NEARLY))
    return found
