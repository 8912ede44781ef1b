import Glibc
import Model
import SystemCalls
import Testing

@testable import FileSystem

/// Where changes are repeated.
@Suite(.serialized) struct ReplayPlaceTests {
    @Test func `nothing is repeated in a folder whose mount is gone`() throws {
        var template = Array("/tmp/shapeedit-replay.XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { try? Directories.removeTree(folder) }
        // The process that repeats changes stands at the root of the machine between its calls.
        let before = try OwnedDescriptor.open(".", O_RDONLY | O_DIRECTORY)
        defer { _ = fchdir(before.number) }
        let calls: [ReplayCall] = [
            .folder(Array("./folder".utf8)), .file(path: Array("./file".utf8), size: 0),
            .unlink(Array("./kept".utf8)),
        ]
        let kept = folder + "/kept"
        try OwnedDescriptor.open(kept, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600).synchronizeData()
        for call in calls {
            #expect(throws: Errno(ENXIO)) {
                try ReplayPlace.stand(in: Array(folder.utf8)) { () throws(Errno) in
                    try call.perform()
                }
            }
        }
        #expect(try Directories.names(in: folder) == ["kept"])
    }
}
