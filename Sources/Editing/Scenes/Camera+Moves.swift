import Documents
import Glibc

extension Camera {
    /// Moves the camera as a word says, with the words after it.
    mutating func move(_ action: String, _ words: inout Arguments) throws(EditError) {
        let place = "camera \(action)"
        switch action {
        case "orbit", "pan":
            let text = try words.next(action == "orbit" ? "RIGHT,UP in degrees" : "RIGHT,UP")
            try words.end()
            let parts = try located(place) { () throws(EditError) in
                try ValueText.numbers(text, count: 1...2, "RIGHT,UP")
            }
            let up = parts.count == 2 ? parts[1] : 0
            if action == "orbit" { orbit(right: parts[0], up: up) } else { pan(parts[0], up) }
        case "zoom":
            let text = try words.next("FACTOR")
            try words.end()
            let factor = try located(place) { () throws(EditError) in
                try ValueText.number(text, "a factor greater than 0") { $0 > 0 }
            }
            let range = Limits.cameraDistance
            let new = distance / factor
            // One that is beyond the range already can come nearer to it.
            guard factor > 1 ? new >= range.lowerBound : new <= range.upperBound else {
                throw EditError(
                    .outOfRange, at: place,
                    "\(ValueText.text(new)) from what it looks at, where "
                        + "\(ValueText.text(range.lowerBound)) to "
                        + "\(ValueText.text(range.upperBound)) is expected")
            }
            if factor != 1 { position = (pivot + (position - pivot) / factor).tidy }
        case "reset":
            try words.end()
            position = Camera.standardPosition
            orientation = .rotation(.none)
            fieldOfView = Camera.standardFieldOfView
        default:
            throw EditError(
                .usage, at: "camera",
                NearNames.unknown(
                    "movement", action, among: ["orbit", "pan", "zoom", "look-at", "reset"]))
        }
    }

    /// How it is turned.
    private var turn: Turn {
        switch orientation {
        case .rotation(let rotation): Turn(rotation)
        case .target(let target): Turn(Rotation(from: position, to: target))
        }
    }

    /// What it moves about: its target, or the point in front of it that is nearest to the origin
    /// of the scene. Where it looks away from the origin, as far in front as that is behind.
    private var pivot: Vector3 {
        if case .target(let target) = orientation { return target }
        let forward = turn(Vector3(0, 0, -1))
        let along = forward.dot(position) * -1
        let distance = along > 0 ? along : max(position.length, 1)
        return (position + forward * distance).tidy
    }

    /// How far it is from what it moves about.
    var distance: Double { (position - pivot).length }

    /// Goes round the pivot so that other sides are seen: to the right about the y axis, up about
    /// its own x axis. A camera with a target stops short of the poles, where up has no meaning.
    private mutating func orbit(right: Double, up: Double) {
        guard right != 0 || up != 0 else { return }
        let center = pivot
        var up = up
        if case .target = orientation {
            let arm = position - center
            let level = (arm.x * arm.x + arm.z * arm.z).squareRoot()
            let height = atan2(arm.y, level) * 180 / .pi
            up = min(max(height + up, -89), 89) - height
        }
        let side = turn(Vector3(1, 0, 0))
        let move =
            Turn(Rotation(axis: Vector3(0, 1, 0), degrees: right))
            * Turn(Rotation(axis: side, degrees: -up))
        position = (center + move(position - center)).tidy
        if case .rotation = orientation { orientation = .rotation((move * turn).rotation) }
    }

    /// Moves sideways and up, with its target.
    private mutating func pan(_ right: Double, _ up: Double) {
        guard right != 0 || up != 0 else { return }
        let offset = turn(Vector3(right, up, 0))
        if case .target(let target) = orientation {
            orientation = .target((target + offset).tidy)
        }
        position = (position + offset).tidy
    }
}
