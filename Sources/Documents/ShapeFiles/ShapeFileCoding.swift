extension ShapeFile {
    private static let shapeKey = "shape"
    private static let cameraKey = "cameraState"

    /// Reads a `.shapeFile` document, binary or XML.
    ///
    /// A camera that is missing or does not decode is replaced by the standard one, and
    /// `cameraProblem` says why; one with impossible numbers makes the document an error.
    public static func read(_ bytes: [UInt8]) throws(DocumentError) -> ShapeFile {
        let list = try PropertyList.read(bytes)
        guard case .dictionary(let entries) = list else {
            throw DocumentError(.otherFormat, "not a property list with keys: \(list.typeName)")
        }
        guard let shape = list[shapeKey] else {
            throw DocumentError(.missing, at: .path(shapeKey), "no shape")
        }
        if case .unsigned(let number) = shape {
            throw DocumentError(.badValue, at: .path(shapeKey), "\(number) is not 0 to 5")
        }
        guard case .integer(let number) = shape else {
            throw DocumentError(
                .wrongType, at: .path(shapeKey), "\(shape.typeName) where 0 to 5 is expected")
        }
        guard let kind = Int(exactly: number).flatMap({ SolidKind(rawValue: $0) }) else {
            throw DocumentError(.badValue, at: .path(shapeKey), "\(number) is not 0 to 5")
        }
        var file = ShapeFile(kind: kind)
        file.source = entries
        do throws(DocumentError) {
            file.camera = try camera(list[cameraKey]).camera
        } catch {
            if error.kind == .badValue { throw error }
            file.cameraProblem = error
        }
        return file
    }

    /// The bytes of the document as a binary property list.
    public func binary() throws(DocumentError) -> [UInt8] {
        var entries = source
        func set(_ key: String, _ value: PropertyList) {
            if let index = entries.firstIndex(where: { $0.key == key }) {
                entries[index].value = value
            } else {
                entries.append(PropertyList.Entry(key, value))
            }
        }
        set(ShapeFile.shapeKey, .integer(Int64(kind.rawValue)))
        let archive = cameraArchive
        // One that says what it should stays as it is, with all it says besides.
        if archive?.camera != camera {
            let bytes = try camera.archived(
                as: archive?.className ?? CameraState.className, with: archive?.otherEntries ?? [])
            set(ShapeFile.cameraKey, .data(bytes))
        }
        return try PropertyList.dictionary(entries).binary()
    }

    /// What else is in the archived camera and is not written again when the camera changes.
    public var cameraLosses: [ArchiveLoss] { cameraArchive?.losses ?? [] }

    /// The camera in it if that cannot be read: whatever is changed, the document is written with
    /// the one that counts instead.
    public var unreadableCamera: ArchiveLoss? {
        guard cameraProblem != nil else { return nil }
        return source.first { $0.key == ShapeFile.cameraKey }.map { ArchiveLoss($0) }
    }

    /// What of that is lost when it is written: nothing if the camera is as it was read.
    var lossesInWriting: [ArchiveLoss] {
        guard let archive = cameraArchive, archive.camera != camera else { return [] }
        return archive.losses
    }

    /// Whether there is anything in it that nobody here knows.
    var holdsUnknown: Bool {
        if source.contains(where: { !ShapeFile.knownKeys.contains($0.key) }) { return true }
        return cameraArchive.map {
            !$0.otherEntries.isEmpty || !$0.losses.isEmpty
                || !$0.className.isExactly(CameraState.className)
        } ?? false
    }

    /// The archive it was read from, which is decoded for that.
    private var cameraArchive: CameraArchive? {
        try? ShapeFile.camera(PropertyList.dictionary(source)[ShapeFile.cameraKey])
    }

    private static func camera(_ value: PropertyList?) throws(DocumentError) -> CameraArchive {
        guard case .data(let archive) = value else {
            throw DocumentError(
                value == nil ? .missing : .wrongType, at: .path(cameraKey),
                value.map { "\($0.typeName) where data is expected" } ?? "no camera")
        }
        return try CameraArchive(archive)
    }
}

/// An archived camera as it was read.
private struct CameraArchive {
    let camera: CameraState
    /// The app's name for it, by which that one knows it again: it stays when the camera changes.
    let className: String
    /// Entries nobody knows that stay when the camera changes.
    let otherEntries: [ArchivedEntry]
    /// What does not stay.
    let losses: [ArchiveLoss]

    /// Reads an archived camera. As in the original, a key that is missing counts as 0. The kind
    /// of the error is `badValue` only for numbers that are infinite or none.
    init(_ bytes: [UInt8]) throws(DocumentError) {
        var archive = KeyedUnarchiver(try KeyedArchive(bytes))
        let root = try archive.rootInstance { $0.hasSuffix("CameraState") }
        func real(_ key: String) throws(DocumentError) -> Float {
            let value: Float
            switch root[key] {
            case nil: value = 0
            case .real32(let number): value = number
            case .real(let number): value = Float(number)
            case .integer(let number): value = Float(number)
            case .unsigned(let number): value = Float(number)
            default: throw root.error(.wrongType, "'\(key)' is not a number")
            }
            guard value.isFinite else {
                throw root.error(.badValue, "the camera's '\(key)' is infinite or not a number")
            }
            return value
        }
        camera = CameraState(
            position: SIMD3(try real("x"), try real("y"), try real("z")),
            axis: SIMD3(try real("rx"), try real("ry"), try real("rz")), angle: try real("rw"))
        className = root.className
        let known: Set = ["x", "y", "z", "rx", "ry", "rz", "rw"]
        let (kept, rest) = try archive.others(of: root, than: known)
        archive.lose(rest, at: "camera")
        otherEntries = kept
        losses = archive.losses
    }
}

extension CameraState {
    /// The class in the original app; others that end alike are read too.
    fileprivate static let className = "ShapeEdit.CameraState"

    /// The bytes of the archived camera, of the class of an earlier one and with entries that it had
    /// besides.
    fileprivate func archived(
        as className: String, with otherEntries: [ArchivedEntry]
    ) throws(DocumentError) -> [UInt8] {
        let numbers = [
            ("x", position.x), ("y", position.y), ("z", position.z), ("rx", axis.x),
            ("ry", axis.y), ("rz", axis.z), ("rw", angle),
        ]
        var table = ArchiveTable()
        let root = table.reserve()
        let others = table.append(otherEntries)
        table.objects[root] = .dictionary(
            numbers.map { PropertyList.Entry($0.0, .real32($0.1)) } + others + [
                PropertyList.Entry("$class", .uid(table.classRecord(className)))
            ])
        return try KeyedArchive.bytes(of: table.objects)
    }
}
