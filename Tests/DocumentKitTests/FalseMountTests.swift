import DocumentKit
import Glibc
import SystemCalls
import TestSupport
import Testing

/// A file system that is none of ShapeEdit, and in which somebody made the files of one.
@Suite(.oneAtATime, .enabled(if: geteuid() == 0, "only root mounts a tmpfs"))
struct FalseMountTests {
    /// Root asked the socket that it named, and waited for an answer that did not come.
    @Test func `a folder of a disk that says it is a mount is a folder`() throws {
        try withVolume(.plain) { volume in
            let disk = "\(volume.directory)/disk"
            #expect(mkdir(disk, 0o1777) == 0 && mkdir(disk + "-", 0o700) == 0)
            let mounted = try volume.run("mount", "-t", "tmpfs", "-o", "size=1m", "none", disk)
            #expect(mounted.status == 0, "\(mounted)")
            defer { _ = try? volume.run("umount", "-l", disk) }
            #expect(mkdir(disk + "/.shapeedit", 0o755) == 0)
            try store(
                disk + "/.shapeedit/status.json",
                #"{"control": "\#(disk)/none.varlink", "presenters": 1, "process": 1}"#)
            let document = Document<Text>(disk + "/note")
            try document.open(creating: Text("one"))
            try document.change { $0.text = "two" }
            try document.close()
            #expect(text(of: disk + "/note") == "two")
            try FileCoordinator().coordinate([FileIntent(disk + "/note", .write)]) { _ in }
        }
    }
}
