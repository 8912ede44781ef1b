import Documents

/// A value that was accepted and did not come back the same.
struct Mismatch: Error {
    let reason: String
}

extension FuzzRun {
    /// Gives an input to every reader; tells whether one accepted it.
    static func feed(_ input: [UInt8], number: Int) throws(Mismatch) -> Bool {
        let accepted = [
            try json(input), try scene(input), try slide(input), try propertyList(input),
            try list(input), try shapeFile(input),
        ]
        _ = try? DocumentType(content: input)
        _ = try? DocumentType.allCases[number % DocumentType.allCases.count].facts(of: input)
        let text = String(decoding: input, as: UTF8.self)
        _ = Color(text)
        if let items = try? TaskList.items(from: text) {
            let again = try? TaskList.items(from: TaskList(items: items).taskLines)
            let isSame = again?.map(\.text) == items.map(\.text)
            guard isSame, again?.map(\.isComplete) == items.map(\.isComplete) else {
                throw Mismatch(reason: "task lines do not come back")
            }
        }
        return accepted.contains(true)
    }

    private static func json(_ input: [UInt8]) throws(Mismatch) -> Bool {
        guard let (value, repairs) = try? JSONValue.readTolerantly(input) else { return false }
        for text in [value.text(), value.text(replacing: input)]
        where (try? JSONValue.read(text)) != value {
            throw Mismatch(reason: "JSON does not come back")
        }
        if repairs.isEmpty, value.text(replacing: input) != input {
            throw Mismatch(reason: "JSON that did not change is not written as it was")
        }
        return true
    }

    private static func scene(_ input: [UInt8]) throws(Mismatch) -> Bool {
        guard case (var scene, let repairs)? = try? Scene.repaired(input) else { return false }
        let same = try? scene.text(replacing: input)
        let isSame =
            repairs.contains { $0.kind == .otherEncoding }
            ? same.flatMap { try? Scene.read($0) } == scene : same == input.withoutByteOrderMark
        guard isSame else {
            throw Mismatch(reason: "a scene that did not change is not written as it was")
        }
        scene.title = "changed"
        scene.nodes.append(.solid(Solid(shape: SolidShape(.torus))))
        guard let text = try? scene.text(replacing: input), let again = try? Scene.read(text),
            again.title == scene.title, again.nodes.count == scene.nodes.count
        else { throw Mismatch(reason: "a changed scene does not come back") }
        if let converted = try? ShapeFile.converted(from: scene).file,
            (try? ShapeFile.read(converted.binary()).camera) != converted.camera
        {
            throw Mismatch(reason: "a converted scene does not come back")
        }
        return true
    }

    private static func slide(_ input: [UInt8]) throws(Mismatch) -> Bool {
        if let bulk = try? SlideBulkFile.read(input).file { _ = bulk.fileName(1) }
        guard var slide = try? Slide.read(input).slide else { return false }
        _ = slide.problems
        if !slide.elements.isEmpty { slide.elements.swapAt(0, slide.elements.count - 1) }
        slide.elements.append(SlideElement(["shapeType": .string("line")]))
        guard let text = try? slide.text(replacing: input),
            let again = try? Slide.read(text), again.slide == slide, again.repairs.isEmpty
        else { throw Mismatch(reason: "a slide does not come back") }
        return true
    }

    private static func propertyList(_ input: [UInt8]) throws(Mismatch) -> Bool {
        guard let list = try? PropertyList.read(input) else { return false }
        guard let bytes = try? list.binary() else { return true }
        // By its bytes, because what is not a number does not even equal itself.
        guard let again = try? PropertyList.read(bytes), (try? again.binary()) == bytes else {
            throw Mismatch(reason: "a property list does not come back")
        }
        return true
    }

    private static func list(_ input: [UInt8]) throws(Mismatch) -> Bool {
        guard var list = try? TaskList.read(input) else { return false }
        if !list.items.isEmpty { _ = try? list.toggle(at: list.items.count / 2) }
        guard let bytes = try? list.archived() else { return true }
        guard let again = try? TaskList.read(bytes), (try? again.archived()) == bytes else {
            throw Mismatch(reason: "a list does not come back")
        }
        return true
    }

    private static func shapeFile(_ input: [UInt8]) throws(Mismatch) -> Bool {
        guard let file = try? ShapeFile.read(input) else { return false }
        guard let bytes = try? file.binary(), let again = try? ShapeFile.read(bytes),
            again.kind == file.kind, again.camera == file.camera, again.cameraProblem == nil,
            let converted = try? ShapeFile.converted(from: Scene.converted(from: file).scene),
            converted.losses.isEmpty, converted.file.camera == file.camera
        else { throw Mismatch(reason: "a shape file does not come back") }
        return true
    }
}
