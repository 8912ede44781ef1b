import Documents

/// The visible solids of a scene as triangles, without those that transforms press flat.
///
/// Each is made when it is its turn, and again for each passage: all at once they would take more memory
/// than anything else.
struct ExportedSolids {
    /// A solid of a scene as triangles in the scene's space.
    struct Solid {
        let name: String
        let color: Color
        let opacity: Double
        let mesh: Mesh
    }

    /// What is to be known of all of them before the first is written.
    struct Summary {
        var name: String
        var color: Color
        var opacity: Double
        /// Numbers of places and of triangles.
        var places: Int
        var triangles: Int
        /// Where it begins and ends along each axis.
        var low: Vector
        var high: Vector
    }

    let camera: Camera
    let summaries: [Summary]
    private let placements: [SolidPlacement]
    private let pieces: Int

    /// An error for a solid that is larger or farther away than 32-bit reals say.
    init(_ scene: Scene) throws(DrawingError) {
        let visible = try scene.placements().visible
        // Many solids are made coarser, or the files would take gigabytes.
        let pieces = visible.count <= 200 ? 64 : visible.count <= 2_000 ? 32 : 16
        var placements: [SolidPlacement] = []
        var summaries: [Summary] = []
        for place in visible {
            guard let solid = Self.solid(place, pieces) else { continue }
            let mesh = solid.mesh
            // Programs cannot read a file with infinite numbers in it.
            guard mesh.positions.allSatisfy(Self.isWithinReals) else {
                throw .notRepresentable(
                    "solid.\(place.number): it reaches beyond the 32-bit numbers of such files")
            }
            placements.append(place)
            summaries.append(
                Summary(
                    name: solid.name, color: solid.color, opacity: solid.opacity,
                    places: mesh.positions.count, triangles: mesh.triangles.count,
                    low: mesh.positions.reduce(mesh.positions[0]) { pointwiseMin($0, $1) },
                    high: mesh.positions.reduce(mesh.positions[0]) { pointwiseMax($0, $1) }))
        }
        camera = scene.camera
        self.summaries = summaries
        self.placements = placements
        self.pieces = pieces
    }

    /// Calls `body` with each, in the order of the summaries.
    func forEach<Problem: Error>(_ body: (Solid) throws(Problem) -> Void) throws(Problem) {
        for place in placements {
            if let solid = Self.solid(place, pieces) { try body(solid) }
        }
    }

    private static func solid(_ placement: SolidPlacement, _ pieces: Int) -> Solid? {
        guard let mesh = placement.body.mesh(pieces: pieces).moved(placement.place) else {
            return nil
        }
        return Solid(
            name: placement.name, color: placement.color, opacity: placement.opacity, mesh: mesh)
    }

    /// Whether 32-bit reals say where a place is.
    static func isWithinReals(_ place: Vector) -> Bool {
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
