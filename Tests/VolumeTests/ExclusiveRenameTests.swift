import Glibc
import SystemCalls
import Testing

/// Renaming without replacing anything, where the file system cannot do that in one step.
@Suite(.serialized) struct ExclusiveRenameTests {
    /// Renames as on NFS, which refuses the flag.
    private func rename(_ from: String, _ to: String) throws(Errno) {
        FaultInjection.arm(after: 1, error: EINVAL)
        defer { FaultInjection.arm(after: 0, error: 0) }
        try Directories.renameExclusively(from, to)
    }

    @Test func `files and folders get a free name, and keep theirs where it is taken`() throws {
        try InsideContainer.withFolder { path in
            for folder in ["", "/folder", "/other"] { try Directories.make(path + folder) }
            for name in ["a", "b"] {
                _ = try OwnedDescriptor.open("\(path)/\(name)", O_RDWR | O_CREAT, mode: 0o600)
                    .write(Array(name.utf8), at: 0)
            }
            try rename(path + "/a", path + "/c")
            try rename(path + "/folder", path + "/free")
            #expect(throws: Errno(EEXIST)) { try rename(path + "/b", path + "/c") }
            #expect(throws: Errno(EEXIST)) { try rename(path + "/free", path + "/other") }
            #expect(throws: Errno(ENOENT)) { try rename(path + "/a", path + "/d") }
            #expect(try Directories.names(in: path).sorted() == ["b", "c", "free", "other"])
            let moved = try WholeFile.read(try OwnedDescriptor.open(path + "/c", O_RDONLY))
            #expect(moved == Array("a".utf8))
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"))
    func `a file whose old name cannot go has no other one afterwards`() throws {
        try InsideContainer.withFolder { path in
            try Directories.make(path + "/kept")
            _ = try OwnedDescriptor.open(path + "/kept/a", O_RDWR | O_CREAT, mode: 0o600)
            try #require(system("chattr +a '\(path)/kept'") == 0)
            defer { system("chattr -a '\(path)/kept'") }
            #expect(throws: Errno(EPERM)) { try rename(path + "/kept/a", path + "/b") }
            #expect(try Directories.names(in: path) == ["kept"])
            #expect(try Directories.names(in: path + "/kept") == ["a"])
        }
    }
}
