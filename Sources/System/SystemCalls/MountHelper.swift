internal import Glibc
internal import PathText

/// fusermount3(1), with which those who may not call umount(2) take their mounts away.
package enum MountHelper {
    /// Where it is, in /usr/bin first, where libfuse looks for it to mount; `nil` if it is not installed.
    package static var path: String? {
        let search = getenv("PATH").map { String(cPath: $0) } ?? ""
        return (["/usr/bin"] + search.split(separator: ":").map(String.init))
            .map { $0 + "/fusermount3" }.first { access($0.cPath, X_OK) == 0 }
    }

    /// Takes a mount away.
    ///
    /// - Parameter detaching: out of sight also while it is in use.
    /// - Returns: why it could not, in the helper's words; `nil` if it has. Throws ENOENT where it is not
    ///   installed.
    package static func unmount(_ point: String, detaching: Bool) throws(Errno) -> String? {
        guard let path else { throw Errno(ENOENT) }
        let (reading, writing) = try Descriptors.socketPair()
        let answer = OwnedDescriptor(adopting: reading)
        let words = ["fusermount3", "-u"] + (detaching ? ["-z"] : []) + ["--", point]
        let child = try start(path, words, OwnedDescriptor(adopting: writing))
        var text = (try? WholeFile.read(answer)) ?? []
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        if status == 0 { return nil }
        while text.last == UInt8(ascii: "\n") { text.removeLast() }
        return String(path: text)
    }

    /// - Parameter errors: what it says goes there; closed here.
    private static func start(
        _ path: String, _ words: [String], _ errors: consuming OwnedDescriptor
    ) throws(Errno) -> Int32 {
        var start = ProgramStart(in: .group)
        start.give(nil, as: 0)
        start.give(nil, as: 1)
        start.give(errors.number, as: Descriptors.error)
        start.closeFrom(Descriptors.error + 1)
        return try start.run(path, words)
    }
}
