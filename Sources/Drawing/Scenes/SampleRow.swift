/// What one ray sees.
struct Sample: Equatable {
    /// 0xFFRRGGBB.
    var color: UInt32
    /// Which smooth surfaces were met; 0 for none. Pixels with different ones need more rays.
    var surfaces: UInt32

    /// The brightest of the three channels: it tells shades of one surface apart.
    @inline(__always)
    var brightness: UInt8 {
        UInt8(truncatingIfNeeded: max(color >> 16 & 0xFF, max(color >> 8 & 0xFF, color & 0xFF)))
    }
}

/// The samples through the middles of a row's pixels.
///
/// Memory by hand: this is the innermost loop of all, where counting references and checking
/// bounds took a third of the time. Every column that is written lies within `width`.
final class SampleRow {
    let colors: UnsafeMutablePointer<UInt32>
    // Of these two, index 0 stands for a pixel left of the picture and there is one to the right.
    private let surfaces: UnsafeMutablePointer<UInt32>
    private let brightness: UnsafeMutablePointer<UInt8>
    private let depths: UnsafeMutablePointer<Double>
    private let width: Int
    private let empty: Sample
    /// Everything outside of these columns is empty.
    private(set) var used: Range<Int>

    /// Neighbours of one surface whose brightest channels differ by more count as different.
    private static let steep: UInt8 = 20

    init(width: Int, empty: Sample) {
        self.width = width
        self.empty = empty
        colors = .allocate(capacity: width)
        surfaces = .allocate(capacity: width + 2)
        brightness = .allocate(capacity: width + 2)
        depths = .allocate(capacity: width)
        colors.initialize(repeating: empty.color, count: width)
        surfaces.initialize(repeating: empty.surfaces, count: width + 2)
        brightness.initialize(repeating: empty.brightness, count: width + 2)
        depths.initialize(repeating: .infinity, count: width)
        used = width..<width
    }

    deinit {
        colors.deallocate()
        surfaces.deallocate()
        brightness.deallocate()
        depths.deallocate()
    }

    /// Empties the row; only these columns, which lie within the picture, will be written.
    func reset(using columns: Range<Int>) {
        update(used) { _, _ in (empty, .infinity) }
        used = columns.clamped(to: 0..<width)
    }

    /// Replaces samples and depths of columns, where there is a new one.
    @inline(__always)
    func update(_ columns: Range<Int>, _ new: (Int, Double) -> (Sample, Double)?) {
        for x in columns {
            guard let (sample, depth) = new(x, depths[x]) else { continue }
            depths[x] = depth
            colors[x] = sample.color
            surfaces[x + 1] = sample.surfaces
            brightness[x + 1] = sample.brightness
        }
    }

    /// Replaces the sample of a column, where no depth is asked for any more.
    @inline(__always)
    func put(_ x: Int, _ sample: Sample) {
        colors[x] = sample.color
        surfaces[x + 1] = sample.surfaces
        brightness[x + 1] = sample.brightness
    }

    /// Repeats the outermost pixels beyond the picture, where nothing is to differ from them.
    func extendEdges() {
        (surfaces[0], brightness[0]) = (surfaces[1], brightness[1])
        (surfaces[width + 1], brightness[width + 1]) = (surfaces[width], brightness[width])
    }

    /// Whether each of the columns differs from one of its eight neighbours, from 0 on in `result`.
    func compare(_ columns: Range<Int>, above: SampleRow, below: SampleRow, _ result: inout [Bool])
    {
        let start = columns.lowerBound
        let (s0, s1, s2) = (above.surfaces + start, surfaces + start, below.surfaces + start)
        let (b0, b1, b2) = (above.brightness + start, brightness + start, below.brightness + start)
        result.withUnsafeMutableBufferPointer { result in
            for x in 0..<min(columns.count, result.count) {
                let own = s1[x &+ 1]
                let upper = (own ^ s0[x]) | (own ^ s0[x &+ 1]) | (own ^ s0[x &+ 2])
                let lower = (own ^ s2[x]) | (own ^ s2[x &+ 1]) | (own ^ s2[x &+ 2])
                let sides = (own ^ s1[x]) | (own ^ s1[x &+ 2])
                let upperLow = min(b0[x], min(b0[x &+ 1], b0[x &+ 2]))
                let middleLow = min(b1[x], min(b1[x &+ 1], b1[x &+ 2]))
                let lowerLow = min(b2[x], min(b2[x &+ 1], b2[x &+ 2]))
                let upperHigh = max(b0[x], max(b0[x &+ 1], b0[x &+ 2]))
                let middleHigh = max(b1[x], max(b1[x &+ 1], b1[x &+ 2]))
                let lowerHigh = max(b2[x], max(b2[x &+ 1], b2[x &+ 2]))
                let light = b1[x &+ 1]
                let low = min(upperLow, min(middleLow, lowerLow))
                let high = max(upperHigh, max(middleHigh, lowerHigh))
                let step = max(high &- light, light &- low)
                result[x] = (upper | lower | sides) != 0 || step > Self.steep
            }
        }
    }
}
