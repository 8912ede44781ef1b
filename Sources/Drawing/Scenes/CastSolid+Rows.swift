extension CastSolid {
    /// Draws a row of an opaque solid where it is nearer than what is there.
    ///
    /// - Parameter isAlone: no other solid is in these columns of the row; then not every pixel
    ///   needs a ray of its own.
    func cast(_ y: Double, _ view: View, surface: UInt32, isAlone: Bool, into row: SampleRow) {
        let near = View.near
        // Chosen once for the row, so that each loop is made for one kind of body.
        switch body {
        case .sphere(let radius):
            cast(y, view, surface, isAlone, row) { Round.sphere($0, .zero, radius, near) }
        case .box(let half, let edge):
            cast(y, view, surface, isAlone, row) { Boxes.entry($0, half, edge, near) }
        case .cylinder(let radius, let height):
            cast(y, view, surface, isAlone, row) { Round.frustum($0, radius, radius, height, near) }
        case .cone(let top, let bottom, let height):
            cast(y, view, surface, isAlone, row) { Round.frustum($0, top, bottom, height, near) }
        case .torus(let ring, let pipe):
            cast(y, view, surface, isAlone, row) { Torus.entry($0, ring, pipe, near) }
        case .pyramid(let width, let height, let length):
            cast(y, view, surface, isAlone, row) {
                Pyramid.entry($0, width, height, length, near)
            }
        }
    }

    @inline(__always)
    private func cast(
        _ y: Double, _ view: View, _ surface: UInt32, _ isAlone: Bool, _ row: SampleRow,
        _ enter: (Ray) -> Entry?
    ) {
        let columns = cover.pixels.x
        guard !columns.isEmpty else { return }
        if isAlone, Stretch.longest(in: columns) >= Stretch.shortest {
            stretch(y, view, surface, row, enter)
            return
        }
        row.update(columns) { x, depth in
            guard cover.nearest <= depth, let met = meet(Double(x) + 0.5, y, view, enter),
                met.distance < depth
            else { return nil }
            let sample = Sample(color: color(met.light), surfaces: surface | UInt32(met.face))
            return (sample, met.distance)
        }
    }

    /// Draws a row of which nothing else is seen: where the surface is so smooth that the pixels
    /// between two rays can be told from them and one more in the middle, they are.
    @inline(__always)
    private func stretch(
        _ y: Double, _ view: View, _ surface: UInt32, _ row: SampleRow, _ enter: (Ray) -> Entry?
    ) {
        let columns = cover.pixels.x
        let longest = Stretch.longest(in: columns)
        func put(_ x: Int, _ light: Double, _ face: UInt8) {
            row.put(x, Sample(color: color(light), surfaces: surface | UInt32(face)))
        }
        // Ends of stretches to the right that have their ray already, the nearest one last.
        withUnsafeTemporaryAllocation(of: (x: Int, met: Meeting?).self, capacity: 8) { ends in
            var left = columns.lowerBound
            var atLeft = meet(Double(left) + 0.5, y, view, enter)
            if let atLeft { put(left, atLeft.light, atLeft.face) }
            var count = 0
            while left < columns.upperBound - 1 || count > 0 {
                if count == 0 {
                    let x = min(left + longest, columns.upperBound - 1)
                    ends.initializeElement(
                        at: 0, to: (x, meet(Double(x) + 0.5, y, view, enter)))
                    count = 1
                }
                let (right, atRight) = ends[count - 1]
                let length = right - left
                let isEmpty = atLeft == nil && atRight == nil
                if length >= Stretch.shortest, !isEmpty || longestGap >= Stretch.shortest {
                    let middle = left + length / 2
                    let atMiddle = meet(Double(middle) + 0.5, y, view, enter)
                    if let atLeft, let atMiddle, let atRight,
                        let stretch = Stretch(
                            atLeft, atMiddle, atRight, length: length, pixel: view.pixel)
                    {
                        for x in left + 1..<right {
                            put(x, stretch.light(x - left), atLeft.face)
                        }
                    } else if !isEmpty || atMiddle != nil || length > longestGap {
                        ends.initializeElement(at: count, to: (middle, atMiddle))
                        count += 1
                        continue
                    }
                } else {
                    for x in left + 1..<max(right, left + 1) {
                        if let met = meet(Double(x) + 0.5, y, view, enter) {
                            put(x, met.light, met.face)
                        }
                    }
                }
                if let atRight { put(right, atRight.light, atRight.face) }
                (left, atLeft) = (right, atRight)
                count -= 1
            }
        }
    }
}
