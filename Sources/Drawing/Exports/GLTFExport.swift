import Documents

extension ExportedSolids {
    /// A binary glTF file.
    func writeGLB<Problem: Error>(to take: ([UInt8]) throws(Problem) -> Void) throws(Problem) {
        let parts = bufferParts
        let buffer = parts.last.map { $0.offset + $0.length } ?? 0
        // How long the JSON is stands before it. It is made twice, since names can make it very long.
        var length = 0
        describe(parts) { length += $0.count }
        let filler = (4 - length % 4) % 4
        try take(Self.head(length + filler, buffer))
        try describe(parts, to: take)
        try take(Self.bufferHead(after: filler, buffer))
        try forEach { (solid) throws(Problem) in
            let mesh = solid.mesh
            var bytes: [UInt8] = []
            bytes.reserveCapacity((mesh.positions.count * 6 + mesh.triangles.count * 3) * 4)
            for position in mesh.positions { bytes.append(little: position) }
            for normal in mesh.normals { bytes.append(little: normal) }
            for (a, b, c) in mesh.triangles { for i in [a, b, c] { bytes.append(little: i) } }
            try take(bytes)
        }
    }

    /// Numbers of four bytes that stand together in the buffer.
    private struct BufferPart {
        enum Kind { case positions, normals, indices }
        var kind: Kind
        /// In bytes.
        var offset: Int
        /// In bytes.
        var length: Int
    }

    /// Three for each solid, one behind the other.
    private var bufferParts: [BufferPart] {
        var parts: [BufferPart] = []
        parts.reserveCapacity(3 * summaries.count)
        for solid in summaries {
            let counts: [(BufferPart.Kind, Int)] = [
                (.positions, solid.places), (.normals, solid.places), (.indices, solid.triangles),
            ]
            for (kind, count) in counts {
                let offset = parts.last.map { $0.offset + $0.length } ?? 0
                parts.append(BufferPart(kind: kind, offset: offset, length: count * 3 * 4))
            }
        }
        return parts
    }

    /// Hands out the file's JSON, part by part.
    private func describe<Problem: Error>(
        _ parts: [BufferPart], to take: ([UInt8]) throws(Problem) -> Void
    ) throws(Problem) {
        var text = JSONObjectText()
        text.add("asset", .object(["version": .string("2.0"), "generator": .string("ShapeEdit")]))
        text.add("scene", .integer(0))
        let nodes = JSONValue.array((0...summaries.count).map { .integer($0) })
        text.add("scenes", .array([.object(["nodes": nodes])]))
        try text.add("nodes", count: summaries.count + 1, to: take) { index in
            index < summaries.count
                ? .object(["name": .string(summaries[index].name), "mesh": .integer(index)])
                : cameraNode
        }
        text.add(
            "cameras",
            .array([
                .object([
                    "type": .string("perspective"),
                    "perspective": .object([
                        "yfov": .number(camera.fieldOfView * Trigonometry.radiansPerDegree),
                        "znear": .number(View.near),
                    ]),
                ])
            ]))
        // Arrays that would be empty are not allowed.
        guard let last = parts.last else { return try take(text.end()) }
        try text.add("materials", count: summaries.count, to: take) { Self.material(summaries[$0]) }
        try text.add("meshes", count: summaries.count, to: take) {
            Self.mesh(summaries[$0], at: $0)
        }
        try text.add("accessors", count: parts.count, to: take) { index in
            Self.accessor(parts[index], at: index, summaries[index / 3])
        }
        try text.add("bufferViews", count: parts.count, to: take) { index in
            .object([
                "buffer": .integer(0), "byteOffset": .integer(parts[index].offset),
                "byteLength": .integer(parts[index].length),
                // Of vertices, of indices.
                "target": .integer(parts[index].kind == .indices ? 34963 : 34962),
            ])
        }
        text.add(
            "buffers", .array([.object(["byteLength": .integer(last.offset + last.length)])]))
        try take(text.end())
    }

    private var cameraNode: JSONValue {
        let (forward, right, up) = View.axes(camera)
        return .object([
            "name": .string("Camera"), "camera": .integer(0),
            "matrix": .array(
                Self.column(right, 0) + Self.column(up, 0) + Self.column(-forward, 0)
                    + Self.column(Vector(camera.position), 1)),
        ])
    }

    private static func material(_ solid: Summary) -> JSONValue {
        let channels = [solid.color.red, solid.color.green, solid.color.blue]
        let factor = channels.map { JSONValue.number(linear($0)) }
        var material: JSONObject = [
            "pbrMetallicRoughness": .object([
                "baseColorFactor": .array(factor + [.number(solid.opacity)]),
                "metallicFactor": .integer(0), "roughnessFactor": .number(0.8),
            ])
        ]
        if solid.opacity < 1 { material["alphaMode"] = .string("BLEND") }
        return .object(material)
    }

    private static func mesh(_ solid: Summary, at index: Int) -> JSONValue {
        .object([
            "name": .string(solid.name),
            "primitives": .array([
                .object([
                    "attributes": .object([
                        "POSITION": .integer(3 * index), "NORMAL": .integer(3 * index + 1),
                    ]),
                    "indices": .integer(3 * index + 2), "material": .integer(index),
                ])
            ]),
        ])
    }

    private static func accessor(_ part: BufferPart, at index: Int, _ solid: Summary) -> JSONValue {
        // 32-bit reals, 32-bit whole numbers.
        var accessor: JSONObject =
            part.kind == .indices
            ? ["componentType": .integer(5125), "type": .string("SCALAR")]
            : ["componentType": .integer(5126), "type": .string("VEC3")]
        if part.kind == .positions {
            accessor["min"] = .array(reals(solid.low))
            accessor["max"] = .array(reals(solid.high))
        }
        accessor["bufferView"] = .integer(index)
        accessor["count"] = .integer(part.kind == .indices ? solid.triangles * 3 : solid.places)
        return .object(accessor)
    }

    /// What comes before JSON of so many bytes, behind which there are so many of the buffer.
    private static func head(_ length: Int, _ buffer: Int) -> [UInt8] {
        var head = Array("glTF".utf8)
        head.append(little: UInt32(2))
        head.append(little: UInt32(12 + 8 + length + (buffer == 0 ? 0 : 8 + buffer)))
        head.append(little: UInt32(length))
        return head + Array("JSON".utf8)
    }

    /// What comes between the JSON and so many bytes of the buffer: it is padded to four bytes, as the
    /// buffer is by itself.
    private static func bufferHead(after filler: Int, _ buffer: Int) -> [UInt8] {
        var head = [UInt8](repeating: UInt8(ascii: " "), count: filler)
        if buffer > 0 {
            head.append(little: UInt32(buffer))
            head += Array("BIN\0".utf8)
        }
        return head
    }

    /// Numbers as they will be read: 32-bit reals.
    private static func reals(_ vector: Vector) -> [JSONValue] {
        [vector.x, vector.y, vector.z].map { .number(Double(Float($0))) }
    }

    private static func column(_ vector: Vector, _ last: Int) -> [JSONValue] {
        reals(vector) + [.integer(last)]
    }

    /// An sRGB channel as light from 0 to 1: the power of 2.4, by a fifth root found with Newton's
    /// method, so that it is the same on every machine.
    private static func linear(_ channel: UInt8) -> Double {
        let value = Double(channel) / 255
        if value <= 0.04045 { return value / 12.92 }
        let base = (value + 0.055) / 1.055
        let square = base * base
        var root = 1.0
        for _ in 0..<30 { root -= (root - square / (root * root * root * root)) / 5 }
        return square * root
    }
}

/// The text of a JSON object in one line, whose long arrays are made a value at a time: as values all at
/// once they would take ten times the memory of their text.
private struct JSONObjectText {
    /// In bytes; so many are handed out at once, or a few more.
    private static let part = 64 << 10

    private var bytes: [UInt8] = []
    private var isEmpty = true

    mutating func add(_ key: String, _ value: JSONValue) {
        begin(key)
        bytes += value.line
    }

    mutating func add<Problem: Error>(
        _ key: String, count: Int, to take: ([UInt8]) throws(Problem) -> Void,
        _ value: (Int) -> JSONValue
    ) throws(Problem) {
        begin(key)
        for index in 0..<count {
            bytes.append(UInt8(ascii: index == 0 ? "[" : ","))
            bytes += value(index).line
            if bytes.count >= Self.part {
                try take(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
        }
        bytes += (count == 0 ? "[]" : "]").utf8
    }

    /// What has not been handed out, and the end.
    consuming func end() -> [UInt8] {
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private mutating func begin(_ key: String) {
        bytes.append(UInt8(ascii: isEmpty ? "{" : ","))
        isEmpty = false
        bytes += JSONValue.string(key).line
        bytes.append(UInt8(ascii: ":"))
    }
}
