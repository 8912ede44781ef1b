public import Documents

/// Makes random documents of every kind.
public struct DocumentGenerator {
    /// Where the randomness comes from.
    public var random: SeededGenerator

    /// A generator from a source of randomness.
    public init(_ random: SeededGenerator) { self.random = random }

    /// A scene with groups, unknown keys not among it.
    public mutating func scene() -> Scene {
        let nodes = (0..<random.below(4)).map { _ in node(depth: 0) }
        var scene = Scene(title: random.chance(50) ? text() : nil, nodes: nodes)
        if random.chance(50) { scene.background = color() }
        if random.chance(70) {
            scene.camera = Camera(
                position: vector(),
                orientation: random.chance(50) ? .target(vector()) : .rotation(rotation()),
                fieldOfView: Double(1 + random.below(179)))
        }
        return scene
    }

    private mutating func node(depth: Int) -> SceneNode {
        if depth < 4, random.chance(25) {
            let children = (0..<random.below(3)).map { _ in node(depth: depth + 1) }
            return .group(
                Group(
                    name: text(), transform: transform(), children: children,
                    isVisible: random.chance(80)))
        }
        var shape = SolidShape(random.one(of: SolidKind.allCases))
        for dimension in shape.dimensions where random.chance(30) {
            shape = shape.setting(dimension.name, to: Double(1 + random.below(50)) / 8) ?? shape
        }
        return .solid(
            Solid(
                name: text(), shape: shape, transform: transform(),
                color: random.chance(50) ? color() : nil,
                opacity: random.chance(70) ? 1 : Double(random.below(101)) / 100,
                isVisible: random.chance(80)))
    }

    private mutating func transform() -> Transform {
        Transform(
            position: random.chance(60) ? vector() : .zero,
            rotation: random.chance(40) ? rotation() : .none,
            scale: random.chance(30) ? Vector3(0.5, 2, Double(1 + random.below(4))) : .one)
    }

    private mutating func vector() -> Vector3 { Vector3(number(), number(), number()) }
    private mutating func rotation() -> Rotation { Rotation(axis: vector(), degrees: number()) }

    /// A number as people use it, or now and then any that scenes can hold.
    private mutating func number() -> Double {
        if random.chance(90) { return Double(random.below(2_000) - 1_000) / 16 }
        let any = Double(bitPattern: random.next())
        return any.magnitude <= 1e41 ? any : 0.1
    }

    private mutating func color() -> Color {
        Color(
            red: UInt8(random.below(256)), green: UInt8(random.below(256)),
            blue: UInt8(random.below(256)), alpha: random.chance(70) ? 255 : 77)
    }

    /// A text with some of what makes trouble.
    public mutating func text() -> String {
        let words = [
            "Ball", "milk", "\u{e9}", "\u{1F4D6}", "\"", "\\", "\n", "&<", " ", "$null", "",
        ]
        return (0..<random.below(4)).map { _ in random.one(of: words) }.joined()
    }

    /// A list of things to do.
    public mutating func list() -> TaskList {
        var list = TaskList(color: random.one(of: ListColor.allCases))
        for _ in 0..<random.below(8) {
            list.items.append(
                TaskItem(text(), isComplete: random.chance(40), id: .random(using: &random)))
        }
        return list
    }

    /// A shape file with any finite camera.
    public mutating func shapeFile() -> ShapeFile {
        func real(_ random: inout SeededGenerator) -> Float {
            let any = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
            return random.chance(50) && any.isFinite ? any : Float(random.below(100)) / 8 - 6
        }
        let camera = CameraState(
            position: SIMD3(real(&random), real(&random), real(&random)),
            axis: SIMD3(real(&random), real(&random), real(&random)), angle: real(&random))
        return ShapeFile(kind: random.one(of: SolidKind.allCases), camera: camera)
    }

    /// Any JSON.
    public mutating func json(depth: Int = 0) -> JSONValue {
        switch random.below(depth > 5 ? 5 : 8) {
        case 0: return .null
        case 1: return .boolean(random.chance(50))
        case 2: return .integer(random.below(1_000) - 500)
        case 3: return .number(number())
        case 4: return .string(text())
        case 5, 6: return .array((0..<random.below(5)).map { _ in json(depth: depth + 1) })
        default:
            var object = JSONObject()
            for _ in 0..<random.below(6) { object[text()] = json(depth: depth + 1) }
            return .object(object)
        }
    }

    /// Any property list.
    public mutating func propertyList(depth: Int = 0) -> PropertyList {
        switch random.below(depth > 5 ? 8 : 11) {
        case 0: return .boolean(random.chance(50))
        case 1:
            let bits = random.next()
            return bits & 7 == 0 ? .unsigned(bits | 1 << 63) : .integer(Int64(bitPattern: bits))
        case 2: return .integer(Int64(random.below(70_000)))
        case 3: return .real(number())
        case 4: return .real32(Float(number()))
        case 5: return .data((0..<random.below(40)).map { _ in UInt8(random.below(256)) })
        case 6: return .string(text())
        case 7: return .uid(random.below(300))
        case 8, 9: return .array((0..<random.below(5)).map { _ in propertyList(depth: depth + 1) })
        default:
            let keys = Set((0..<random.below(6)).map { _ in text() }).sorted()
            return .dictionary(
                keys.map { PropertyList.Entry($0, propertyList(depth: depth + 1)) })
        }
    }
}
