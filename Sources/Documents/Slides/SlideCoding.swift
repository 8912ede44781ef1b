extension Slide {
    private static let elementsKey = "elements"

    /// Reads a `.slide` document as people write them; what had to be repaired is listed.
    public static func read(
        _ bytes: [UInt8]
    ) throws(DocumentError) -> (slide: Slide, repairs: [JSONRepair]) {
        let (value, repairs) = try JSONValue.readTolerantly(bytes)
        return (try Slide(value), repairs)
    }

    /// Reads the JSON of a `.slide` document. What its elements hold is not looked at: `problems`
    /// tells what is wrong there.
    public init(_ json: consuming JSONValue) throws(DocumentError) {
        let typeName = json.typeName
        // Taken over: it would be copied where it is changed, and a root can have very many keys.
        guard case .object(var root) = consume json else {
            throw DocumentError(.otherFormat, "not a slide: \(typeName)")
        }
        guard let value = root[Slide.elementsKey] else {
            throw DocumentError(.missing, at: .path(Slide.elementsKey), "missing")
        }
        guard let values = value.array else {
            throw DocumentError(
                .wrongType, at: .path(Slide.elementsKey),
                "\(value.typeName) where an array is expected")
        }
        var elements: [SlideElement] = []
        var count = values.count
        for (index, value) in values.enumerated() {
            guard let object = value.object else {
                throw DocumentError(
                    .wrongType, at: .path(SlideElement.path(at: index)),
                    "\(value.typeName) where an object is expected")
            }
            count += object[Slide.elementsKey]?.array?.count ?? 0
            elements.append(SlideElement(object))
        }
        guard count <= Limits.slideElements else {
            throw DocumentError(
                .tooLarge, at: .path(Slide.elementsKey),
                "\(count) elements, of which at most \(Limits.slideElements) are read")
        }
        root[Slide.elementsKey] = .array([])
        self.init(root: root, elements: elements)
    }

    /// The JSON of the document.
    public var json: JSONValue {
        var object = root
        object[Slide.elementsKey] = .array(elements.map { .object($0.json) })
        return .object(object)
    }

    /// The bytes of the document as strict JSON. With the bytes it was read from, what did not
    /// change stays as it is; see `JSONValue.text(replacing:)`.
    public func text(replacing original: [UInt8]? = nil) throws(DocumentError) -> [UInt8] {
        try json.document(replacing: original)
    }

    /// Every key of the slide and its elements that does not hold what it should, at most
    /// `Limits.listedRepairs` of them.
    public var problems: [SlideProblem] {
        var problems: [SlideProblem] = []
        if let color = root["bgcolor"], background == nil {
            problems.append(SlideProblem(path: "bgcolor", reason: SlideProblem.noColor(color)))
        }
        let sides = [root["canvasWidth"], root["canvasHeight"]]
        let isSized = sides.allSatisfy {
            $0?.integer.map { (1...Limits.canvasSide).contains($0) } == true
        }
        if sides.contains(where: { $0 != nil }), !isSized {
            problems.append(
                SlideProblem(
                    path: "canvasWidth",
                    reason: "canvasWidth and canvasHeight count only together, as whole numbers "
                        + "from 1 to \(Limits.canvasSide)"))
        }
        for (index, element) in elements.enumerated() {
            problems += element.interpreted(at: SlideElement.path(at: index)).problems
            if problems.count >= Limits.listedRepairs { break }
        }
        return Array(problems.prefix(Limits.listedRepairs))
    }
}
