import Glibc
import Probing
import TestSupport
import Testing

/// Mappings of descriptors that were opened again through /proc to write, in a mount with promises, where the
/// kernel allows them.
@Suite(
    .oneAtATime,
    .enabled(if: KernelVersion.isAtLeast(6, 6), "needs FUSE_DIRECT_IO_ALLOW_MMAP"),
    .enabled(if: isInstalled("python3"), "needs python3"))
struct DirectMappingTests {
    /// Maps, and writes when it is told to.
    private static let mapper = """
        import mmap, os, sys
        path = os.open("document", os.O_PATH)
        file = os.open(f"/proc/self/fd/{path}", os.O_RDWR)
        mapped = mmap.mmap(file, 0, mmap.MAP_SHARED)
        print("mapped", flush=True)
        sys.stdin.readline()
        mapped[:5] = b"HELLO"
        """
    private static let reader = """
        import os, subprocess, sys, time
        mapper = subprocess.Popen(
            [sys.executable, "mapper.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            assert mapper.stdout.readline().strip() == b"mapped"
            before = os.open("document", os.O_RDONLY)
            assert os.pread(before, 5, 0) == b"aaaaa"
            mapper.stdin.close()
            assert mapper.wait(60) == 0
        finally:
            mapper.kill()
        def becomes(read, wanted):
            for _ in range(200):
                if read() == wanted: return True
                time.sleep(0.05)
        assert becomes(lambda: open("document", "rb").read(5), b"HELLO")
        assert becomes(lambda: os.pread(before, 5, 0), b"aaaaa")
        """

    @Test(arguments: [4_000, 300_000])
    func `what somebody maps can be read by others, and stays as it was for who has it open`(
        _ size: Int
    ) throws {
        try withVolume(.passthrough, store: "folder") { volume in
            let agent = try volume.agent()
            agent.store("document", ByteString(repeating: "a", count: size))
            agent.store("mapper.py", ByteString(Self.mapper))
            agent.store("reader.py", ByteString(Self.reader))
            try volume.settle()
            agent.shell("timeout 120 python3 reader.py")
        }
    }
}
