import Documents

/// A solid of a scene as triangles in the scene's space.
struct ExportedSolid {
    let name: String
    let color: Color
    let opacity: Double
    let mesh: Mesh

    /// Every visible solid; those that transforms press flat are left out. An error for one that is
    /// larger or farther away than 32-bit reals say.
    static func all(of scene: Scene) throws(DrawingError) -> [ExportedSolid] {
        let solids = try scene.placements().visible
        // Many solids are made coarser, or the files would take gigabytes.
        let pieces = solids.count <= 200 ? 64 : solids.count <= 2_000 ? 32 : 16
        var exported: [ExportedSolid] = []
        for solid in solids {
            guard let mesh = solid.body.mesh(pieces: pieces).moved(solid.place) else { continue }
            // Programs cannot read a file with infinite numbers in it.
            guard mesh.positions.allSatisfy(isWithinReals) else {
                throw .library(
                    "the solid '\(solid.name)' reaches beyond the 32-bit numbers of such files")
            }
            exported.append(
                ExportedSolid(
                    name: solid.name, color: solid.color, opacity: solid.opacity, mesh: mesh))
        }
        return exported
    }

    private static func isWithinReals(_ place: Vector) -> Bool {
        Float(place.x).isFinite && Float(place.y).isFinite && Float(place.z).isFinite
    }
}

extension [UInt8] {
    /// Appends a number, least significant byte first.
    mutating func append(little number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    /// Appends a 32-bit real, least significant byte first.
    mutating func append(little number: Double) {
        append(little: Float(number).bitPattern)
    }

    /// Appends a vector as three 32-bit reals.
    mutating func append(little vector: Vector) {
        append(little: vector.x)
        append(little: vector.y)
        append(little: vector.z)
    }
}
