import Glibc
import Probing
import TestSupport
import Testing

@Suite(.oneAtATime, .enabled(if: isInstalled("python3"), "python3 is not installed"))
struct RenderingTests {
    private static let font = "/usr/share/fonts/truetype/liberation/LiberationSerif-Regular.ttf"

    /// What a second reader says of a picture.
    static func read(_ desk: Desk, _ name: String) throws -> String {
        let kind = name.split(separator: ".").last.map(String.init) ?? ""
        let reader = OutputSchema.packageRoot + "/Tests/CommandTests/Outputs/read_pictures.py"
        let result = try Probing.run(["python3", reader, kind, desk.path(name)])
        #expect(result.status == 0, "\(name): \(result)")
        return String(result.text.dropLast())
    }

    @Test(.enabled(if: access(Self.font, R_OK) == 0, "needs fonts-liberation"))
    func `a thumbnail is set in fonts wherever they are`() throws {
        try withDesk(.plain) { desk in
            try desk.shell("mkdir fonts elsewhere && cp '\(Self.font)' elsewhere/f.ttf")
            try desk.shell("ln -s ../elsewhere/f.ttf fonts/f.ttf")
            try desk.write(
                """
                <?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
                <fontconfig>
                  <dir>\(desk.path("fonts"))</dir><cachedir>\(desk.path("cache"))</cachedir>
                </fontconfig>
                """, to: "fonts.conf")
            try desk.write(
                """
                {"bgcolor": "#ffcc00", "elements": [{"shapeType": "text", "text": "Quay", "originx": 0, "originy": 0,
                  "width": 4000, "height": 3000, "fontHeight": 900}]}
                """, to: "s.slide")
            let program = try BuiltPrograms.shapeedit()
            try desk.shell(
                """
                export FONTCONFIG_FILE=$PWD/fonts.conf
                '\(program)' render s.slide -o a.png --size 256x192
                '\(program)' thumbnail s.slide -o b.png --size 256
                cmp a.png b.png
                """)
        }
    }

    @Test(arguments: Desk.places)
    func `every format of every document can be read by others`(_ place: DataPath) throws {
        try withDesk(place) { desk in
            try desk.run("new", "scene.shape")
            try desk.run("add", "scene.shape", "cube", "Box", "position=2,0,0")
            try desk.run("new", "solid.shapeFile")
            try desk.run("new", "page.slide", "--template", "empty")
            try desk.run("add", "page.slide", "text", "Label")
            try desk.run("text", "page.slide", "Label", "Hello")
            try desk.run("new", "things.list")
            try desk.run("list", "add", "things.list", "milk")
            for file in ["scene.shape", "solid.shapeFile", "page.slide", "things.list"] {
                for format in ["png", "svg", "pdf"] {
                    let report = try JSONValue.read(
                        try desk.run(
                            "render", file, "-o", "out.\(format)", "--size", "200x150", "--json"))
                    #expect(
                        report["bytes"]
                            == .number(Double(desk.bytes("out.\(format)")?.count ?? -1)))
                    let said = try Self.read(desk, "out.\(format)")
                    if format == "svg" {
                        let word = ["page.slide": "Hello", "things.list": "milk"][file]
                        #expect(said.contains(word ?? "no text"), "\(file): \(said)")
                    } else {
                        let sides = said.split(separator: "x").compactMap { Double($0) }
                        let fits = sides.count == 2 && sides[0] <= 200 && sides[1] <= 150
                        #expect(fits, "\(file) \(format): \(said)")
                    }
                }
            }
            for (file, count) in [("scene.shape", 2), ("solid.shapeFile", 1)] {
                for format in ["glb", "stl", "obj"] {
                    try desk.run("render", file, "-o", "out.\(format)")
                    let said = try Self.read(desk, "out.\(format)")
                    #expect(said == (format == "stl" ? "triangles" : "\(count) solids"))
                }
            }
            try desk.fail(65, "render", "page.slide", "-o", "page.glb")
            try desk.run("render", "page.slide", "-o", "app.png")
            try desk.run("render", "page.slide", "-o", "web.png", "--mode", "web")
            #expect(desk.bytes("app.png") != desk.bytes("web.png"))
        }
    }

    @Test func `a picture is written to what its name means`() throws {
        try withDesk(.plain) { desk in
            try desk.run("new", "s.shape")
            try desk.shell("mkdir kept && echo old > kept/real.png && chmod 640 kept/real.png")
            try desk.shell("ln -s kept/real.png link.png && mkfifo pipe.png")
            try desk.run("render", "s.shape", "-o", "link.png", "--size", "40x40")
            #expect(try desk.shell("readlink link.png") == "kept/real.png\n")
            #expect(try desk.shell("stat -c %a kept/real.png") == "640\n")
            #expect(try Self.read(desk, "kept/real.png") == "40x40")
            let reader = try RunningProgram(
                ["sh", "-c", "cat pipe.png > copy.png"].map { Array($0.utf8) },
                directory: desk.folder)
            try desk.run("render", "s.shape", "-o", "pipe.png", "--size", "40x40")
            #expect(reader.wait(seconds: 20).status == 0)
            #expect(desk.bytes("copy.png") == desk.bytes("kept/real.png"))
        }
    }
}
