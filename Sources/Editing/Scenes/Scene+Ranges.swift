import Documents

/// A value of a solid or group that a file may hold and that counts as another one, so that an
/// edit does not bring it in.
private enum Offence: Hashable {
    /// A cube whose edges are rounded by more than half of its smallest side.
    case edge(SolidShape, edge: Double, most: Double)
    /// A turn about an axis of length 0.
    case axis(Rotation)

    /// The key and what would be right.
    var error: EditError {
        switch self {
        case .edge(_, let edge, let most):
            EditError(
                .outOfRange, at: "roundedEdge",
                "\(ValueText.text(edge)) where at most \(ValueText.text(most)) is expected, half "
                    + "of the smallest side; set it together with the sides")
        case .axis: EditError(.outOfRange, at: "rotation", Rotation.needsAxis)
        }
    }
}

extension Rotation {
    fileprivate static let needsAxis =
        "an axis of length 0 turns nothing; x,y,z,degrees such as 0,1,0,45 is expected, or none"

    fileprivate var lacksAxis: Bool { degrees != 0 && axis.length == 0 }
}

extension SceneNode {
    fileprivate var offences: [Offence] {
        var offences: [Offence] = []
        if case .solid(let solid) = self,
            case .cube(let width, let height, let depth, let edge) = solid.shape
        {
            let most = min(width, height, depth) / 2
            if edge > most { offences.append(.edge(solid.shape, edge: edge, most: most)) }
        }
        if transform.rotation.lacksAxis { offences.append(.axis(transform.rotation)) }
        return offences
    }

    /// Whether it or anything in it has such a value.
    fileprivate var offends: Bool { !offences.isEmpty || children.contains(where: \.offends) }
}

extension Scene {
    /// An error if an edit brought in a value that counts as another one. Those that were in the
    /// scene before do not keep it from being edited.
    func checkRanges(after old: Scene) throws(EditError) {
        try camera.checkRanges(after: old.camera)
        guard nodes.contains(where: \.offends) else { return }
        let parts = SceneParts(self)
        var known: Set<Offence>?
        for (index, entry) in parts.entries.enumerated() {
            for offence in entry.node.offences {
                let former = known ?? Set(SceneParts(old).entries.flatMap(\.node.offences))
                known = former
                guard !former.contains(offence) else { continue }
                var error = offence.error
                error.place = "\(parts.index.path(of: index)).\(error.place)"
                throw error
            }
        }
    }
}

extension Camera {
    /// An error if a change left the camera where nothing can be seen from.
    func checkRanges(after old: Camera) throws(EditError) {
        guard position != old.position || orientation != old.orientation else { return }
        let (least, most) = (Limits.cameraDistance.lowerBound, Limits.cameraDistance.upperBound)
        switch orientation {
        case .rotation(let rotation) where rotation.lacksAxis && orientation != old.orientation:
            throw EditError(.outOfRange, at: "camera.rotation", Rotation.needsAxis)
        case .target(let target) where (position - target).length < least:
            throw EditError(
                .outOfRange, at: "camera.target",
                "where the camera is, so it looks nowhere; a point at least "
                    + "\(ValueText.text(least)) away is expected")
        default: break
        }
        guard reach <= most || reach <= old.reach else {
            throw EditError(
                .outOfRange, at: "camera.position",
                "\(ValueText.text(reach)) away where at most \(ValueText.text(most)) is expected")
        }
    }

    /// How far it is from the origin or what it moves about, whichever is more.
    private var reach: Double { max(position.length, distance) }
}
