import Documents
import Testing

/// What is written is understood by readers that others wrote.
@Suite struct SecondReaderTests {
    private static let hasPropertyLists = SecondReader.hasPython("plistlib")
    private static let hasArchives = SecondReader.hasPython("bpylist2", of: "bpylist2")

    private let list = TaskList(
        items: [TaskItem("milk"), TaskItem("caf\u{e9} \u{1F4D6}", isComplete: true)], color: .red)

    @Test(.enabled(if: hasPropertyLists, "no Python with plistlib"))
    func `plistlib reads lists`() throws {
        let output = try SecondReader.python(
            """
            import plistlib, sys
            archive = plistlib.load(open(sys.argv[1], "rb"))
            objects = archive["$objects"]
            root = objects[archive["$top"]["root"].data]
            print(objects[root["$class"].data]["$classname"], root["color"])
            for item in objects[root["items"].data]["NS.objects"]:
                item = objects[item.data]
                uuid = objects[item["uuid"].data]["NS.uuidbytes"]
                text = objects[item["text"].data]
                print(ascii(text), item["completed"], len(uuid))
            """, with: try list.archived())
        #expect(
            output
                == """
                AAPLList 5
                "milk" False 16
                "caf\\xe9 \\U0001f4d6" True 16

                """.replacing("\"", with: "'"))
    }

    @Test(.enabled(if: hasPropertyLists, "no Python with plistlib"))
    func `plistlib reads shape files and their cameras`() throws {
        let file = ShapeFile(
            kind: .pyramid, camera: CameraState(position: SIMD3(1, 2, 3), angle: 0.5))
        let output = try SecondReader.python(
            """
            import plistlib, sys
            file = plistlib.load(open(sys.argv[1], "rb"))
            camera = plistlib.loads(file["cameraState"])["$objects"][1]
            print(file["shape"], [camera[key] for key in "x y z rx ry rz rw".split()])
            """, with: try file.binary())
        #expect(output == "5 [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.5]\n")
    }

    @Test(.enabled(if: hasPropertyLists, "no Python with plistlib"))
    func `plistlib reads every type of value`() throws {
        let values = PropertyList.array([
            .integer(-1), .integer(.max), .integer(70_000), .real(0.1), .real32(0.5),
            .boolean(true), .data([1, 2]), .string(String(repeating: "x", count: 20)), .date(0),
            .dictionary([PropertyList.Entry("b", .uid(300)), PropertyList.Entry("a", .array([]))]),
        ])
        let output = try SecondReader.python(
            "import plistlib, sys; print(plistlib.load(open(sys.argv[1], \"rb\")))",
            with: try values.binary())
        #expect(
            output == "[-1, 9223372036854775807, 70000, 0.1, 0.5, True, b'\\x01\\x02', "
                + "'xxxxxxxxxxxxxxxxxxxx', datetime.datetime(2001, 1, 1, 0, 0), "
                + "{'b': UID(300), 'a': []}]\n")
    }

    @Test(.enabled(if: hasArchives, "no Python with bpylist2"))
    func `bpylist2 unarchives lists`() throws {
        let output = try SecondReader.python(
            """
            import sys
            from bpylist2 import archiver
            def plain(keys):
                return type("Plain", (), {"decode_archive": staticmethod(
                    lambda archive: {key: archive.decode(key) for key in keys})})
            archiver.update_class_map({
                "AAPLList": plain(["items", "color"]),
                "AAPLListItem": plain(["text", "completed"])})
            print(ascii(archiver.unarchive(open(sys.argv[1], "rb").read())))
            """, of: "bpylist2", with: try list.archived())
        #expect(output.contains("'text': 'caf\\xe9 \\U0001f4d6', 'completed': True"))
        #expect(output.contains("'color': 5"))
    }

    @Test(.enabled(if: hasPropertyLists, "no Python"))
    func `json reads slides and scenes`() throws {
        let slide = try Slide.read(try Samples.read("repairs.slide")).slide
        let script = "import json, sys; print(sorted(json.load(open(sys.argv[1]))))"
        #expect(try SecondReader.python(script, with: slide.text()) == "['elements', 'title']\n")
        let scene = Scene(nodes: [.solid(Solid(name: "\u{1}\"\\", shape: SolidShape(.cone)))])
        #expect(try SecondReader.python(script, with: scene.text()) == "['nodes', 'version']\n")
    }
}
