extension ExportedSolids {
    /// A binary STL file.
    func writeSTL<Problem: Error>(to take: ([UInt8]) throws(Problem) -> Void) throws(Problem) {
        // Programs take a file that begins with "solid" for text.
        var head = Array("binary STL by ShapeEdit".utf8)
        head += [UInt8](repeating: UInt8(ascii: " "), count: 80 - head.count)
        head.append(little: UInt32(summaries.reduce(0) { $0 + $1.triangles }))
        try take(head)
        try forEach { (solid) throws(Problem) in
            let mesh = solid.mesh
            var bytes: [UInt8] = []
            bytes.reserveCapacity(mesh.triangles.count * 50)
            for (a, b, c) in mesh.triangles {
                let (p, q, r) = (
                    mesh.positions[Int(a)], mesh.positions[Int(b)], mesh.positions[Int(c)]
                )
                bytes.append(little: (q - p).cross(r - p).normalized ?? Vector(0, 0, 0))
                for corner in [p, q, r] { bytes.append(little: corner) }
                bytes.append(little: UInt16(0))
            }
            try take(bytes)
        }
    }
}
