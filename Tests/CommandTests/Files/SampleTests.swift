import Probing
import TestSupport
import Testing

/// The documents of a new default container.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount")) struct SampleTests {
    /// `Snowman.shape` once had a solid of a kind that does not exist, and `Ring.shapeFile` no
    /// camera.
    @Test func `every sample is a document without a fault`() throws {
        try withDesk(.plain) { desk in
            try desk.shell("mkdir mount")
            let program = try desk.newcomer()
            try desk.shell("\(program) mount mount")
            defer { _ = try? desk.shell("\(program) unmount mount") }
            let files = try desk.shell("find mount -type f").split(separator: "\n").map(String.init)
            let documents = files.filter { !$0.hasSuffix(".md") }
            #expect(files.count > documents.count, "\(files)")
            for kind in ["shape", "shapeFile", "slide", "list"] {
                let ofKind = documents.filter { $0.hasSuffix(".\(kind)") }
                #expect(ofKind.count >= 2, "\(kind): \(ofKind)")
            }
            let result = try desk.shapeedit(["validate"] + documents)
            #expect(result.status == 0, "\(result)")
            for document in documents {
                let shown = try desk.shapeedit(["show", "--graphics", "none", document])
                #expect(shown.status == 0 && shown.errors.isEmpty, "\(document): \(shown)")
                #expect(!shown.output.isEmpty)
            }
        }
    }

    /// Which is `shapeedit mount ~/Shapes`, and there is no `~/Shapes` yet.
    @Test func `the first command needs no folder, and leaves none where it fails`() throws {
        try withDesk(.plain) { desk in
            let program = try desk.newcomer()
            try desk.shell("\(program) mount Shapes")
            defer { _ = try? desk.shell("\(program) unmount Shapes") }
            try desk.shell("test -s Shapes/Shapes/Snowman.shape")
            // The container is mounted already; nothing leads to the other.
            for folder in ["second", "no/folder"] {
                let failed = try desk.shell("\(program) mount \(folder) 2>&1 || echo refused $?")
                #expect(failed.contains("refused") && failed.contains("shapeedit: "), "\(failed)")
                try desk.shell("test ! -e \(folder)")
            }
            let named = try desk.shell("\(program) mount default 2>&1 || echo refused $?")
            #expect(named.contains("default is a container") && named.contains("refused 66"))
            try desk.shell("test ! -e default")
        }
    }

    /// Killed between making and filling the container, it once left one without samples for good.
    @Test(arguments: [0, 2, 5, 10, 20, 40])
    func `a first mount that is killed leaves no container without samples`(
        milliseconds: Int
    ) throws {
        try withDesk(.plain) { desk in
            try desk.shell("mkdir mount")
            let program = try desk.newcomer()
            defer { _ = try? desk.shell("\(program) unmount mount") }
            try desk.shell(
                """
                env \(program) mount --foreground mount 2> first &
                tries=0
                until test -e data/shapeedit/containers/default/catalog.sqlite; do
                    sleep 0.001; tries=$((tries + 1)); test $tries -lt 10000 || exit 1
                done
                sleep \(Double(milliseconds) / 1_000); kill -9 $!; wait $! || true
                \(program) mount mount
                """)
            let samples = try desk.shell("cd mount && find . -type f -size +0 | wc -l")
            #expect(Int(samples.filter(\.isNumber)) == 9, "\(samples)")
            try desk.shell("rm mount/Welcome.md && \(program) unmount mount")
            try desk.shell("\(program) mount mount && test ! -e mount/Welcome.md")
        }
    }

    /// A blank is no part of a container's name, and `new` is a command.
    @Test(arguments: ["My Shapes", "new"])
    func `the folder of the first command may be called as no container can be`(
        name: String
    ) throws {
        try withDesk(.plain) { desk in
            let program = try desk.newcomer()
            try desk.shell("\(program) mount '\(name)'")
            defer { _ = try? desk.shell("\(program) unmount '\(name)'") }
            try desk.shell("test -s '\(name)/Welcome.md'")
        }
    }
}

extension Desk {
    /// The program for somebody who has no container yet.
    fileprivate func newcomer() throws -> String {
        try shell("mkdir data")
        let environment = ["DATA_HOME", "CACHE_HOME", "RUNTIME_DIR"]
            .map { "XDG_\($0)=\(folder)/data" }.joined(separator: " ")
        return "\(environment) \(try BuiltPrograms.shapeedit())"
    }
}
