import FoundationEssentials
import Probing
import TestSupport
import Testing

/// Files that the original apps made.
enum Interop {
    static let folder = OutputSchema.packageRoot + "/../shared/interop"
}

@Suite(
    .oneAtATime,
    .enabled(
        if: FileManager.default.fileExists(atPath: Interop.folder),
        "the folder ../shared/interop is not there"),
    .enabled(if: isInstalled("python3"), "python3 is not installed"))
struct InteropTests {
    /// What a second reader says of a document, in lines.
    private static func read(_ desk: Desk, _ name: String) throws -> [String] {
        let reader = OutputSchema.packageRoot + "/Tests/CommandTests/Outputs/read_documents.py"
        let result = try Probing.run(["python3", reader, desk.path(name)])
        #expect(result.status == 0, "\(name): \(result)")
        return result.text.split(separator: "\n").map(String.init)
    }

    private static func copy(_ name: String, to desk: Desk) throws {
        try desk.write(
            Array(try Data(contentsOf: URL(filePath: "\(Interop.folder)/\(name)"))), to: name)
    }

    @Test(arguments: Desk.places)
    func `a real list is changed and read back`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let file = "Tech Toys.list"
            try Self.copy(file, to: desk)
            #expect(
                try Self.read(desk, file)
                    == ["color 1", "- iPad Air", "- Thunderbolt Display", "- Mac Pro"])
            try desk.run("list", "check", file, "1")
            try desk.run("list", "add", file, "Käse 🧀")
            try desk.run("list", "color", file, "red")
            #expect(
                try Self.read(desk, file) == [
                    "color 5", "- Käse 🧀", "- Thunderbolt Display", "- Mac Pro", "x iPad Air",
                ])
        }
    }

    @Test(arguments: Desk.places)
    func `a real shapeFile is changed and read back`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let file = "Template.shapeFile"
            try Self.copy(file, to: desk)
            try desk.run("set", file, "shape=torus")
            #expect(try Self.read(desk, file).first == "shape 4")
            try desk.run("set", file, "camera.position=1,2,3.5")
            #expect(try Self.read(desk, file) == ["shape 4", "x=1 y=2 z=3.5"])
        }
    }

    @Test(arguments: Desk.places)
    func `a real slide is changed and read back`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            let file = "Shape Element Drawing Demo.slide"
            try Self.copy(file, to: desk)
            let bytes = desk.bytes(file)
            let before = try Self.read(desk, file)
            try desk.run("set", file, "element.1.text=Lines & curves")
            let after = try Self.read(desk, file)
            #expect(after.count == before.count)
            let changed = zip(before, after).filter { $0 != $1 }
            // Only what was changed is different: other keys and their order stay.
            #expect(changed.count == 1 && changed.first?.1.contains("Lines & curves") == true)
            try desk.run("undo", file)
            #expect(desk.bytes(file) == bytes)
        }
    }
}
