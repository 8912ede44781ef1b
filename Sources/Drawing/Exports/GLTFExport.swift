public import Documents

extension Scene {
    /// The visible solids as a binary glTF 2.0 file (.glb): a node, mesh and material for each,
    /// and the camera.
    ///
    /// - Throws: ``DrawingError/tooManyParts(count:limit:)``.
    public func glb() throws(DrawingError) -> [UInt8] {
        let solids = try ExportedSolid.all(of: self)
        var buffer: [UInt8] = []
        var views: [JSONValue] = []
        var accessors: [JSONValue] = []

        /// Adds numbers to the buffer and says the number of their accessor.
        func add(
            _ bytes: [UInt8], count: Int, _ accessor: JSONObject, target: Int
        ) -> JSONValue {
            views.append(
                .object([
                    "buffer": .integer(0), "byteOffset": .integer(buffer.count),
                    "byteLength": .integer(bytes.count), "target": .integer(target),
                ]))
            buffer += bytes
            var accessor = accessor
            accessor["bufferView"] = .integer(views.count - 1)
            accessor["count"] = .integer(count)
            accessors.append(.object(accessor))
            return .integer(accessors.count - 1)
        }

        var meshes: [JSONValue] = []
        for (index, solid) in solids.enumerated() {
            let mesh = solid.mesh
            let real: JSONObject = ["componentType": .integer(5126), "type": .string("VEC3")]
            var places = real
            let low = mesh.positions.reduce(mesh.positions[0]) { pointwiseMin($0, $1) }
            let high = mesh.positions.reduce(mesh.positions[0]) { pointwiseMax($0, $1) }
            places["min"] = .array(Self.reals(low))
            places["max"] = .array(Self.reals(high))
            let positions = add(
                mesh.positions.littleBytes, count: mesh.positions.count, places, target: 34962)
            let normals = add(
                mesh.normals.littleBytes, count: mesh.normals.count, real, target: 34962)
            var corners: [UInt8] = []
            for (a, b, c) in mesh.triangles { for i in [a, b, c] { corners.append(little: i) } }
            let indices = add(
                corners, count: mesh.triangles.count * 3,
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
        var root = description(of: solids)
        // Arrays that would be empty are not allowed.
        if !meshes.isEmpty {
            root["meshes"] = .array(meshes)
            root["accessors"] = .array(accessors)
            root["bufferViews"] = .array(views)
            root["buffers"] = .array([.object(["byteLength": .integer(buffer.count)])])
        }
        return Self.container(JSONValue.object(root).text(), buffer)
    }

    /// Nodes, materials and the camera.
    private func description(of solids: [ExportedSolid]) -> JSONObject {
        var nodes: [JSONValue] = solids.enumerated().map { index, solid in
            .object(["name": .string(solid.name), "mesh": .integer(index)])
        }
        let materials: [JSONValue] = solids.map { solid in
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

    /// A file of a header, the JSON and the buffer, each padded to four bytes.
    private static func container(_ json: [UInt8], _ buffer: [UInt8]) -> [UInt8] {
        func padded(_ bytes: [UInt8], with filler: UInt8) -> [UInt8] {
            bytes + [UInt8](repeating: filler, count: (4 - bytes.count % 4) % 4)
        }
        let json = padded(json, with: UInt8(ascii: " "))
        let buffer = padded(buffer, with: 0)
        var file = Array("glTF".utf8)
        file.append(little: UInt32(2))
        let chunks = buffer.isEmpty ? 8 + json.count : 16 + json.count + buffer.count
        file.append(little: UInt32(12 + chunks))
        file.append(little: UInt32(json.count))
        file += Array("JSON".utf8) + json
        if !buffer.isEmpty {
            file.append(little: UInt32(buffer.count))
            file += Array("BIN\0".utf8) + buffer
        }
        return file
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

extension [Vector] {
    /// All numbers as 32-bit reals, least significant byte first.
    fileprivate var littleBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * 12)
        for vector in self { bytes.append(little: vector) }
        return bytes
    }
}
