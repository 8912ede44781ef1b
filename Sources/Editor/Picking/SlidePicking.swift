import Documents

/// Which element of a slide is at a point.
enum SlidePicking {
    /// The element in front whose box has the point in it; of several, none larger than the rest.
    static func part(of slide: Slide, atX x: Double, y: Double) -> Int? {
        let reach = Double(slide.canvas.width) / 100
        var best: (index: Int, size: Double)?
        for (index, element) in slide.elements.enumerated() {
            guard let shape = element.interpreted().shape, let box = Box(shape),
                box.contains(x, y, reach)
            else { continue }
            // A background must not hide what is drawn on it.
            if best.map({ box.size <= $0.size }) ?? true { best = (index, box.size) }
        }
        return best?.index
    }

    private struct Box {
        var (left, top) = (Double.infinity, Double.infinity)
        var (right, bottom) = (-Double.infinity, -Double.infinity)

        var size: Double { (right - left) * (bottom - top) }

        func contains(_ x: Double, _ y: Double, _ reach: Double) -> Bool {
            (left - reach...right + reach).contains(x) && (top - reach...bottom + reach).contains(y)
        }

        init?(_ shape: SlideShape) {
            switch shape {
            case .line(let from, let to, _): add([from, to])
            case .rectangle(let box, _), .ellipse(let box, _): add(box)
            case .text(let text): add(text.box)
            case .circle(let center, let radius, _): add(center, radius)
            case .arc(let arc, _): add(arc.center, arc.radius)
            case .curve(let curve, _): add(curve)
            case .chain(let links):
                for link in links {
                    switch link {
                    case .line(let from, let to, _): add([from, to])
                    case .curve(let curve, _): add(curve)
                    }
                }
            }
            guard left <= right, top <= bottom, left.isFinite, right.isFinite, top.isFinite,
                bottom.isFinite
            else { return nil }
        }

        private mutating func add(_ points: [SlidePoint]) {
            for point in points {
                (left, right) = (min(left, point.x), max(right, point.x))
                (top, bottom) = (min(top, point.y), max(bottom, point.y))
            }
        }

        private mutating func add(_ box: SlideBox) {
            let corner = box.origin
            add([corner, SlidePoint(corner.x + box.width, corner.y + box.height)])
        }

        private mutating func add(_ center: SlidePoint, _ radius: Double) {
            add([
                SlidePoint(center.x - radius, center.y - radius),
                SlidePoint(center.x + radius, center.y + radius),
            ])
        }

        private mutating func add(_ curve: SlideCurve) {
            add([curve.start, curve.control1, curve.control2 ?? curve.control1, curve.end])
        }
    }
}
