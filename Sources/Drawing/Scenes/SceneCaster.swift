import Documents

/// Draws a scene by following a ray through each pixel, and four more where the pixel or one of
/// its eight neighbours differ: at outlines, creases and steep shades. Where one smooth surface is
/// alone, rays are farther apart and the light between them is told from them (`Stretch`).
///
/// Only additions, multiplications, divisions and square roots of doubles are used, in a fixed
/// order, so the same scene has the same pixels on every machine. Three rows are held at a time.
struct SceneCaster: RowSource {
    let size: PixelSize
    private let view: View
    private let backdrop: Color
    /// Nearest first.
    private let solids: [CastSolid]

    /// Places of the four further rays in a pixel: one in each row and column of a 4 x 4 grid.
    private static let further = [
        (0.125, 0.375), (0.375, 0.875), (0.625, 0.125), (0.875, 0.625),
    ]

    init(_ scene: Scene, size: PixelSize) throws(DrawingError) {
        let (placements, count) = try scene.placements()
        self.size = size
        view = View(scene.camera, size: size)
        backdrop = scene.backdrop(of: placements, count: count)
        let view = view
        // Indices keep the order fixed among solids of the same depth.
        solids = placements.compactMap { CastSolid($0, view) }.enumerated()
            .sorted {
                ($0.element.cover.nearest, $0.offset) < ($1.element.cover.nearest, $1.offset)
            }
            .map(\.element)
        let covered = solids.reduce(0) { $0 + $1.cover.pixels.x.count * $1.cover.pixels.y.count }
        guard covered / PictureLimits.overdraw < size.width * size.height else {
            throw .tooMuchOverdraw
        }
    }

    func drawRows(_ take: (UnsafeBufferPointer<UInt32>) throws(DrawingError) -> Void)
        throws(DrawingError)
    {
        var above = SampleRow(width: size.width, empty: empty)
        var row = SampleRow(width: size.width, empty: empty)
        var below = SampleRow(width: size.width, empty: empty)
        var output = [UInt32](repeating: 0, count: size.width)
        var differing = [Bool](repeating: false, count: size.width)
        var clear = ClearLayers()
        cast(0, into: row, &clear)
        for y in 0..<size.height {
            if y + 1 < size.height { cast(y + 1, into: below, &clear) }
            // There is nothing to differ from beyond the first and the last row.
            refine(
                y, above: y > 0 ? above : row, row, y + 1 < size.height ? below : row, &differing,
                &output, &clear)
            var failure: DrawingError?
            output.withUnsafeBufferPointer { pixels in
                do throws(DrawingError) { try take(pixels) } catch { failure = error }
            }
            if let failure { throw failure }
            swap(&above, &row)
            swap(&row, &below)
        }
    }

    private var empty: Sample { Sample(color: backdrop.pixel, surfaces: 0) }

    private func cast(_ y: Int, into row: SampleRow, _ clear: inout ClearLayers) {
        let active = solids.indices.filter { solids[$0].cover.pixels.y.contains(y) }
        let first = active.map { solids[$0].cover.pixels.x.lowerBound }.min() ?? 0
        let last = active.map { solids[$0].cover.pixels.x.upperBound }.max() ?? 0
        row.reset(using: first..<last)
        let middle = Double(y) + 0.5
        if active.allSatisfy({ solids[$0].opacity >= 1 }) {
            // Each can be drawn by itself, the nearest surface winning.
            for index in active {
                solids[index].cast(
                    middle, view, surface: surface(index, 0), isAlone: isAlone(index, active),
                    into: row)
            }
        } else {
            let active = apart(active, in: row.used)
            row.update(row.used) { x, _ in
                (sample(Double(x) + 0.5, middle, column: x, active[x], &clear), 0)
            }
        }
        row.extendEdges()
    }

    /// Whether no other solid of the row has a column in common. Of many it is not asked.
    private func isAlone(_ index: Int, _ active: [Int]) -> Bool {
        let columns = solids[index].cover.pixels.x
        return active.count <= 16
            && !active.contains { $0 != index && solids[$0].cover.pixels.x.overlaps(columns) }
    }

    /// Writes the final pixels of a row.
    private func refine(
        _ y: Int, above: SampleRow, _ row: SampleRow, _ below: SampleRow,
        _ differing: inout [Bool], _ output: inout [UInt32], _ clear: inout ClearLayers
    ) {
        for x in 0..<size.width { output[x] = row.colors[x] }
        let rows = [above, row, below].filter { !$0.used.isEmpty }
        guard let first = rows.map(\.used.lowerBound).min(),
            let last = rows.map(\.used.upperBound).max()
        else { return }
        let columns = max(first - 1, 0)..<min(last + 1, size.width)
        // The further rays may meet solids that begin or end beside this row.
        let active = apart(
            solids.indices.filter { solids[$0].cover.pixels.y.overlaps(y - 1..<y + 2) },
            in: columns)
        row.compare(columns, above: above, below: below, &differing)
        for x in columns where differing[x - columns.lowerBound] {
            output[x] = refined(x, y, row.colors[x], active[x], &clear)
        }
    }

    /// The mean of five rays.
    private func refined(
        _ x: Int, _ y: Int, _ middle: UInt32, _ active: ArraySlice<Int>, _ clear: inout ClearLayers
    ) -> UInt32 {
        var (red, green, blue) = (middle >> 16 & 0xFF, middle >> 8 & 0xFF, middle & 0xFF)
        for (dx, dy) in Self.further {
            let color = sample(Double(x) + dx, Double(y) + dy, column: x, active, &clear).color
            red += color >> 16 & 0xFF
            green += color >> 8 & 0xFF
            blue += color & 0xFF
        }
        (red, green, blue) = ((red + 2) / 5, (green + 2) / 5, (blue + 2) / 5)
        return 0xFF00_0000 | red << 16 | green << 8 | blue
    }
}

extension SceneCaster {
    private func apart(_ active: [Int], in columns: Range<Int>) -> ActiveSolids {
        ActiveSolids(active, in: columns) { index in
            // One more on each side, for the rays beside the middle.
            let columns = solids[index].cover.pixels.x
            return columns.lowerBound - 1..<columns.upperBound + 1
        }
    }

    /// What the ray through a place of the picture sees.
    @inline(__always)
    private func sample(
        _ x: Double, _ y: Double, column: Int, _ active: ArraySlice<Int>, _ clear: inout ClearLayers
    ) -> Sample {
        var nearest: (index: Int, meeting: Meeting)?
        // Nothing farther away can be seen.
        var reach = Double.infinity
        clear.removeAll()
        for index in active {
            let cover = solids[index].cover
            if cover.nearest > reach { break }
            let columns = cover.pixels.x
            guard column >= columns.lowerBound - 1, column <= columns.upperBound,
                let meeting = solids[index].meet(x, y, view)
            else { continue }
            let opacity = solids[index].opacity
            if opacity < 1 {
                clear.add(index, meeting, opacity)
                if let behind = solids[index].meetBehind(meeting, x, y, view) {
                    clear.add(index, behind, opacity)
                }
                reach = min(reach, clear.reach)
            } else if nearest.map({ meeting.distance < $0.meeting.distance }) ?? true {
                nearest = (index, meeting)
                reach = min(reach, meeting.distance)
            }
        }
        var below = empty
        if let nearest {
            below.color = solids[nearest.index].color(nearest.meeting.light)
            below.surfaces = surface(nearest.index, nearest.meeting.face)
        }
        clear.removeAll(from: nearest?.meeting.distance ?? .infinity)
        return clear.isEmpty ? below : blended(clear, over: below)
    }

    @inline(__always)
    private func surface(_ solid: Int, _ face: UInt8) -> UInt32 {
        UInt32(truncatingIfNeeded: solid + 1) << 4 | UInt32(face)
    }

    /// What is below seen through clear solids.
    private func blended(_ clear: borrowing ClearLayers, over below: Sample) -> Sample {
        var (red, green, blue) = (
            Double(below.color >> 16 & 0xFF), Double(below.color >> 8 & 0xFF),
            Double(below.color & 0xFF)
        )
        var surfaces = below.surfaces
        for layer in clear.fromBehind {
            let solid = solids[layer.index]
            func mix(_ below: Double, _ own: Double) -> Double {
                below * (1 - solid.opacity) + own * layer.meeting.light * solid.opacity
            }
            red = mix(red, solid.red)
            green = mix(green, solid.green)
            blue = mix(blue, solid.blue)
            surfaces = surfaces &* 31 &+ surface(layer.index, layer.meeting.face)
        }
        let color =
            0xFF00_0000 | UInt32(red + 0.5) << 16 | UInt32(green + 0.5) << 8 | UInt32(blue + 0.5)
        return Sample(color: color, surfaces: surfaces)
    }
}
