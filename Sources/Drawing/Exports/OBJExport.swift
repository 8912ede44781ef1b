extension ExportedSolids {
    /// An OBJ file.
    func writeOBJ<Problem: Error>(to take: ([UInt8]) throws(Problem) -> Void) throws(Problem) {
        try take(Array("# ShapeEdit; y up\n".utf8))
        var first = 1
        var index = 0
        try forEach { (solid) throws(Problem) in
            var text = "o \(Self.objectName(solid.name, index))\n"
            let color = [solid.color.red, solid.color.green, solid.color.blue]
                .map { "\((Double($0) / 255 * 1000).rounded() / 1000)" }.joined(separator: " ")
            for p in solid.mesh.positions {
                text += "v \(Float(p.x)) \(Float(p.y)) \(Float(p.z)) \(color)\n"
            }
            for n in solid.mesh.normals {
                text += "vn \(Float(n.x)) \(Float(n.y)) \(Float(n.z))\n"
            }
            for (a, b, c) in solid.mesh.triangles {
                let corners = [a, b, c].map { "\(Int($0) + first)//\(Int($0) + first)" }
                text += "f \(corners.joined(separator: " "))\n"
            }
            first += solid.mesh.positions.count
            index += 1
            try take(Array(text.utf8))
        }
    }

    /// A name of one word without control characters; blanks and line ends would end it.
    private static func objectName(_ name: String, _ index: Int) -> String {
        let word = String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { $0.properties.isWhitespace || $0.value < 33 ? "_" : $0 }))
        return word.isEmpty ? "solid\(index + 1)" : word
    }
}
