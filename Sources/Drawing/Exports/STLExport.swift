public import Documents

extension Scene {
    /// The visible solids as a binary STL file, for printers: triangles without colours, in units
    /// of the scene, y up.
    ///
    /// - Throws: ``DrawingError/tooManyParts(count:limit:)``.
    public func stl() throws(DrawingError) -> [UInt8] {
        let meshes = try ExportedSolid.all(of: self).map(\.mesh)
        // Programs take a file that begins with "solid" for text.
        var file = Array("binary STL by ShapeEdit".utf8)
        file += [UInt8](repeating: UInt8(ascii: " "), count: 80 - file.count)
        file.append(little: UInt32(meshes.reduce(0) { $0 + $1.triangles.count }))
        for mesh in meshes {
            for (a, b, c) in mesh.triangles {
                let (p, q, r) = (
                    mesh.positions[Int(a)], mesh.positions[Int(b)], mesh.positions[Int(c)]
                )
                file.append(little: (q - p).cross(r - p).normalized ?? Vector(0, 0, 0))
                for corner in [p, q, r] { file.append(little: corner) }
                file.append(little: UInt16(0))
            }
        }
        return file
    }
}
