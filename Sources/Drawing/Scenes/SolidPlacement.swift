import Documents

/// A solid of a scene in space, with the transforms of all groups around it applied.
struct SolidPlacement {
    var name: String
    /// Its place among all solids of the scene, counted from 1, by which edits call it.
    var number: Int
    var body: Body
    /// From the solid's space to the scene's.
    var place: Affine
    var color: Color
    /// 0 clear to 1 opaque, the colour's alpha included.
    var opacity: Double
}

extension Scene {
    /// All visible solids in the order of the document, and how many solids there are in all.
    func placements() throws(DrawingError) -> (visible: [SolidPlacement], count: Int) {
        var visible: [SolidPlacement] = []
        var count = 0
        func add(_ nodes: [SceneNode], _ around: Affine, _ isShown: Bool) {
            for node in nodes {
                let place = around.after(Affine(node.transform))
                switch node {
                case .group(let group):
                    add(group.children, place, isShown && group.isVisible)
                case .solid(let solid):
                    count += 1
                    guard isShown, solid.isVisible, let body = Body(solid.shape) else { continue }
                    let opacity =
                        min(max(solid.opacity, 0), 1) * Double(solid.effectiveColor.alpha) / 255
                    guard opacity > 0 else { continue }
                    visible.append(
                        SolidPlacement(
                            name: solid.name, number: count, body: body, place: place,
                            color: solid.effectiveColor, opacity: opacity))
                }
            }
        }
        add(nodes, .identity, true)
        guard count <= PictureLimits.solids else {
            throw .tooManyParts(count: count, limit: PictureLimits.solids)
        }
        return (visible, count)
    }

    /// The colour behind the solids, opaque: that of the document; else, for a single solid, its
    /// colour at 30 % over white as in the original app; else grey at 30 % over white.
    func backdrop(of solids: [SolidPlacement], count: Int) -> Color {
        if let background { return background.over(.white) }
        var tint = count == 1 ? solids.first?.color ?? .gray : .gray
        tint.alpha = 77
        return tint.over(.white)
    }
}

extension Color {
    /// This colour painted over an opaque one.
    func over(_ below: Color) -> Color {
        func blend(_ top: UInt8, _ bottom: UInt8) -> UInt8 {
            let sum = Int(top) * Int(alpha) + Int(bottom) * (255 - Int(alpha))
            return UInt8((sum + 127) / 255)
        }
        return Color(
            red: blend(red, below.red), green: blend(green, below.green),
            blue: blend(blue, below.blue))
    }

    /// 0xFFRRGGBB.
    var pixel: UInt32 { 0xFF00_0000 | UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue) }
}

extension Body {
    /// The shape of a solid; nil if a length is not finite or nothing is left of it.
    init?(_ shape: SolidShape) {
        guard shape.dimensions.allSatisfy({ $0.allows($0.value) }) else { return nil }
        switch shape {
        case .sphere(let radius): self = .sphere(radius: radius)
        case .cube(let width, let height, let depth, let edge):
            let half = Vector(width, height, depth) / 2
            self = .box(half: half, edge: min(edge, half.min()))
        case .cylinder(let radius, let height):
            self = .cylinder(radius: radius, halfHeight: height / 2)
        case .cone(let top, let bottom, let height):
            guard max(top, bottom) > 0 else { return nil }
            self = .cone(top: top, bottom: bottom, halfHeight: height / 2)
        case .torus(let ring, let pipe): self = .torus(ring: ring, pipe: pipe)
        case .pyramid(let width, let height, let depth):
            self = .pyramid(halfWidth: width / 2, height: height, halfLength: depth / 2)
        }
    }
}

extension Affine {
    /// Scale, then turn, then move.
    init(_ transform: Transform) {
        self.init(
            move: Vector(transform.position), axis: Vector(transform.rotation.axis),
            angle: transform.rotation.degrees * Trigonometry.radiansPerDegree,
            scale: Vector(transform.scale))
    }
}
