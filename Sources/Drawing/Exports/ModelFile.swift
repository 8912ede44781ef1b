public import Documents

/// A scene as a file for other programs, made a solid at a time: the whole can take hundreds of megabytes.
public struct ModelFile {
    /// Which programs are to read it.
    public enum Format: String, CaseIterable, Sendable {
        /// Binary glTF 2.0: a node, mesh and material for each solid, and the camera.
        case glb
        /// Binary STL, for printers: triangles without colours, in units of the scene, y up.
        case stl
        /// OBJ: an object for each solid, colours beside the places (as most programs read them,
        /// without a second file), normals, y up.
        case obj
    }

    private let solids: ExportedSolids
    private let format: Format

    /// - Throws: ``DrawingError/tooManyParts(count:limit:)``, and ``DrawingError/notRepresentable(_:)`` for a solid
    ///   that is larger or farther away than the file can say, and for such a camera if it is in the file.
    public init(_ scene: Scene, as format: Format) throws(DrawingError) {
        solids = try ExportedSolids(scene)
        guard format != .glb || ExportedSolids.isWithinReals(Vector(scene.camera.position)) else {
            throw .notRepresentable(
                "camera.position: beyond the 32-bit numbers of such files")
        }
        self.format = format
    }

    /// Hands out the file's bytes, part by part; ends with what `take` throws.
    public func write<Problem: Error>(
        to take: ([UInt8]) throws(Problem) -> Void
    ) throws(Problem) {
        switch format {
        case .glb: try solids.writeGLB(to: take)
        case .stl: try solids.writeSTL(to: take)
        case .obj: try solids.writeOBJ(to: take)
        }
    }
}
