/// The light along some pixels of a row in which one smooth piece of a surface is seen: the
/// parabola through both ends and the middle.
struct Stretch {
    private let start: Double
    private let slope: Double
    private let bend: Double

    /// In fewer pixels each has a ray of its own.
    static let shortest = 4
    /// How much the light may be bent over a stretch: so little that the parabola is wrong by less
    /// than one of 255 shades nearly everywhere.
    private static let mostBend = 3.0 / 255
    /// How much the distance may be bent, in pixels: there are no folds and ridges in between.
    private static let mostFold = 0.25

    /// Pixels of the longest stretch that is tried: fewer of a small solid, so that none of its
    /// parts falls between two rays.
    static func longest(in columns: Range<Int>) -> Int {
        columns.count >= 256 ? 16 : columns.count >= 128 ? 8 : columns.count >= 64 ? 4 : 1
    }

    /// Pixels of the longest gap beside an outline of a radius, in pixels: what may be lost in it
    /// is no higher than a quarter of a pixel, at the top and bottom of the outline.
    static func longestGap(besides radius: Double) -> Int {
        radius >= 32 ? 16 : radius >= 16 ? 8 : 0
    }

    /// Nil where the pixels between have to be looked at. `pixel` is the width of a pixel on the
    /// plane 1 away.
    @inline(__always)
    init?(_ left: Meeting, _ middle: Meeting, _ right: Meeting, length: Int, pixel: Double) {
        guard left.part == middle.part, middle.part == right.part, length % 2 == 0 else {
            return nil
        }
        let bend = left.light - 2 * middle.light + right.light
        guard abs(bend) <= Stretch.mostBend else { return nil }
        // The inverse of the distance: on a plane that is not bent.
        let fold = 1 / left.distance - 2 / middle.distance + 1 / right.distance
        let half = Double(length / 2) * pixel * middle.distance
        guard abs(fold) * middle.distance * middle.distance <= Stretch.mostFold * half else {
            return nil
        }
        let step = 1 / Double(length)
        start = left.light
        slope = (4 * middle.light - 3 * left.light - right.light) * step
        self.bend = 2 * bend * step * step
    }

    /// The light so many pixels from the left end.
    @inline(__always)
    func light(_ offset: Int) -> Double {
        let t = Double(offset)
        return start + t * (slope + t * bend)
    }
}
