import Documents

/// Documents to be drawn, of usual size.
enum SampleDocuments {
    /// Shapes of all kinds and ten texts.
    static var slide: Slide {
        var elements: [JSONObject] = []
        let colors = ["#357EC7", "#FFA62F", "#56A5EC", "#FF0000", "#437C17", "#A1C935"]
        for index in 0..<24 {
            let color = JSONValue.string(colors[index % colors.count])
            let other = JSONValue.string(colors[(index + 2) % colors.count])
            let x = 150 + index % 6 * 640
            let y = 200 + index / 6 * 700
            var element: JSONObject = [
                "originx": .integer(x), "originy": .integer(y), "thickness": .integer(20),
                "strokeColor": color, "fillColor": other, "width": .integer(500),
                "height": .integer(300), "radius": .integer(200), "startAngle": .integer(0),
                "endAngle": .integer(160), "endx": .integer(x + 500), "endy": .integer(y + 300),
                "controlPoint1x": .integer(x + 200), "controlPoint1y": .integer(y + 600),
            ]
            let kinds = ["rectangle", "circle", "arc", "ellipse", "curve", "line"]
            element["shapeType"] = .string(kinds[index % kinds.count])
            elements.append(element)
        }
        for index in 0..<10 {
            elements.append([
                "shapeType": .string("text"), "originx": .integer(100 + index % 2 * 2000),
                "originy": .integer(100 + index / 2 * 550), "width": .integer(1800),
                "height": .integer(500), "fontHeight": .integer(110),
                "fillColor": .string("#222222"),
                "text": .string("Some interactive text, long enough to fill a second line."),
            ])
        }
        return Slide(title: "Sample", elements: elements.map { SlideElement($0) })
    }

    /// As many circles as a slide may have.
    static var fullSlide: Slide {
        Slide(
            elements: (0..<Limits.slideElements).map { index in
                SlideElement([
                    "shapeType": .string("circle"), "originx": .integer(index % 250 * 16),
                    "originy": .integer(index / 250 * 15), "radius": .integer(5 + index % 7),
                    "thickness": .integer(5), "strokeColor": .string("#357EC7"),
                ])
            })
    }

    /// A slide that takes as much memory as one may, nearly, read from its text: half of it by keys that
    /// nobody knows, half by curves.
    static func largestSlide() throws -> Slide {
        var text = "{"
        for index in 0..<260_000 { text += "\"k\(index)\":\(index)," }
        text += "\"elements\":["
        for index in 0..<28_000 {
            text += index == 0 ? "" : ","
            text += "{\"shapeType\":\"curve\",\"originx\":\(index % 4_000),\"originy\":2.5,"
            text += "\"endx\":300,\"endy\":40,\"controlPoint1x\":5.5,\"controlPoint1y\":9}"
        }
        return try Slide.read(Array((text + "]}").utf8)).slide
    }

    /// Texts of several hundred heights.
    static var manyFonts: Slide {
        let letters = String(
            String.UnicodeScalarView((0x21..<0x180).compactMap(Unicode.Scalar.init)))
        return Slide(
            elements: (0..<400).map { index in
                SlideElement([
                    "shapeType": .string("text"), "originx": .integer(0), "originy": .integer(0),
                    "width": .integer(4_000), "height": .integer(3_000), "text": .string(letters),
                    "fontHeight": .integer(100 + 2 * index),
                ])
            })
    }

    /// Twelve things to do.
    static var list: TaskList {
        let texts = ["Milk", "Bread", "A very long item that needs an ellipsis at its end", "Tea"]
        let items = (0..<12).map { TaskItem(texts[$0 % texts.count], isComplete: $0 > 7) }
        return TaskList(items: items, color: .green)
    }

    /// All six solids in a group, one of them clear.
    static var scene: Scene {
        let nodes = SolidKind.allCases.map { kind in
            let column = Double(kind.rawValue % 3 - 1)
            let row = Double(kind.rawValue / 3)
            return SceneNode.solid(
                Solid(
                    name: kind.name, shape: SolidShape(kind),
                    transform: Transform(position: Vector3(column * 2.2, 0, -row * 2.5)),
                    opacity: kind == .sphere ? 0.5 : 1))
        }
        let camera = Camera(position: Vector3(3, 4, 6), orientation: .target(.zero))
        return Scene(camera: camera, nodes: [.group(Group(name: "All", children: nodes))])
    }
}
