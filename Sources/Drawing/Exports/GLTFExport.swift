import Documents

extension ExportedSolids {
    /// A binary glTF file.
    func writeGLB<Problem: Error>(to take: ([UInt8]) throws(Problem) -> Void) throws(Problem) {
        var buffer = 0
        var views: [JSONValue] = []
        var accessors: [JSONValue] = []

        /// Makes room in the buffer for numbers of four bytes and says the number of their accessor.
        func add(_ numbers: Int, count: Int, _ accessor: JSONObject, target: Int) -> JSONValue {
            views.append(
                .object([
                    "buffer": .integer(0), "byteOffset": .integer(buffer),
                    "byteLength": .integer(numbers * 4), "target": .integer(target),
                ]))
            buffer += numbers * 4
            var accessor = accessor
            accessor["bufferView"] = .integer(views.count - 1)
            accessor["count"] = .integer(count)
            accessors.append(.object(accessor))
            return .integer(accessors.count - 1)
        }

        var meshes: [JSONValue] = []
        for (index, solid) in summaries.enumerated() {
            let real: JSONObject = ["componentType": .integer(5126), "type": .string("VEC3")]
            var places = real
            places["min"] = .array(Self.reals(solid.low))
            places["max"] = .array(Self.reals(solid.high))
            let positions = add(solid.places * 3, count: solid.places, places, target: 34962)
            let normals = add(solid.places * 3, count: solid.places, real, target: 34962)
            let indices = add(
                solid.triangles * 3, count: solid.triangles * 3,
                ["componentType": .integer(5125), "type": .string("SCALAR")], target: 34963)
            meshes.append(
                .object([
                    "name": .string(solid.name),
                    "primitives": .array([
                        .object([
                            "attributes": .object(["POSITION": positions, "NORMAL": normals]),
                            "indices": indices, "material": .integer(index),
                        ])
                    ]),
                ]))
        }
        var root = description
        // Arrays that would be empty are not allowed.
        if !meshes.isEmpty {
            root["meshes"] = .array(meshes)
            root["accessors"] = .array(accessors)
            root["bufferViews"] = .array(views)
            root["buffers"] = .array([.object(["byteLength": .integer(buffer)])])
        }
        try take(Self.head(JSONValue.object(root).text(), buffer))
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

    /// Nodes, materials and the camera.
    private var description: JSONObject {
        var nodes: [JSONValue] = summaries.enumerated().map { index, solid in
            .object(["name": .string(solid.name), "mesh": .integer(index)])
        }
        let materials: [JSONValue] = summaries.map { solid in
            let channels = [solid.color.red, solid.color.green, solid.color.blue]
            let factor = channels.map { JSONValue.number(Self.linear($0)) }
            var material: JSONObject = [
                "pbrMetallicRoughness": .object([
                    "baseColorFactor": .array(factor + [.number(solid.opacity)]),
                    "metallicFactor": .integer(0), "roughnessFactor": .number(0.8),
                ])
            ]
            if solid.opacity < 1 { material["alphaMode"] = .string("BLEND") }
            return .object(material)
        }
        let (forward, right, up) = View.axes(camera)
        nodes.append(
            .object([
                "name": .string("Camera"), "camera": .integer(0),
                "matrix": .array(
                    Self.column(right, 0) + Self.column(up, 0) + Self.column(-forward, 0)
                        + Self.column(Vector(camera.position), 1)),
            ]))
        var root: JSONObject = [
            "asset": .object(["version": .string("2.0"), "generator": .string("ShapeEdit")]),
            "scene": .integer(0),
            "scenes": .array([.object(["nodes": .array(nodes.indices.map { .integer($0) })])]),
            "nodes": .array(nodes),
            "cameras": .array([
                .object([
                    "type": .string("perspective"),
                    "perspective": .object([
                        "yfov": .number(camera.fieldOfView * Trigonometry.radiansPerDegree),
                        "znear": .number(View.near),
                    ]),
                ])
            ]),
        ]
        if !materials.isEmpty { root["materials"] = .array(materials) }
        return root
    }

    /// What comes before so many bytes of the buffer: a header and the JSON, padded to four bytes as the
    /// buffer is by itself.
    private static func head(_ json: [UInt8], _ buffer: Int) -> [UInt8] {
        let filler = [UInt8](repeating: UInt8(ascii: " "), count: (4 - json.count % 4) % 4)
        var head = Array("glTF".utf8)
        head.append(little: UInt32(2))
        let length = json.count + filler.count
        head.append(little: UInt32(12 + 8 + length + (buffer == 0 ? 0 : 8 + buffer)))
        head.append(little: UInt32(length))
        head += Array("JSON".utf8) + json + filler
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
