/// A `.shapeFile` document: one solid of the original geometry and the camera that looks at it.
public struct ShapeFile: Hashable, Sendable {
    /// Which solid.
    public var kind: SolidKind
    /// Who looks at it.
    public var camera: CameraState
    /// Why `camera` is the standard one instead of one read; nil if there was nothing wrong. As in
    /// the original app, such a document counts as changed.
    public internal(set) var cameraProblem: DocumentError?
    /// The entries it was read from, for those nobody here knows and for the order of all. Where
    /// they disagree with the other properties, those count.
    public internal(set) var source: [PropertyList.Entry]

    /// A document of a solid and a camera.
    public init(kind: SolidKind, camera: CameraState = CameraState()) {
        self.kind = kind
        self.camera = camera
        cameraProblem = nil
        source = []
    }
}

/// The camera as `.shapeFile` documents archive it, in 32-bit reals, all of them finite.
public struct CameraState: Hashable, Sendable {
    /// Where it is: x, y, z.
    public var position: SIMD3<Float>
    /// The axis it is turned about: rx, ry, rz; of any length.
    public var axis: SIMD3<Float>
    /// How far it is turned, in radians: rw.
    public var angle: Float

    /// A camera; without arguments the original app's.
    public init(
        position: SIMD3<Float> = SIMD3(0, 0, 4), axis: SIMD3<Float> = .zero, angle: Float = 0
    ) {
        self.position = position
        self.axis = axis
        self.angle = angle
    }
}
