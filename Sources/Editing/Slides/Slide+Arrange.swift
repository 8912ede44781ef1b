import Documents
import PathText

extension Slide {
    mutating func align(_ words: inout Arguments) throws(EditError) {
        let edge = try words.last("left, center, right, top, middle or bottom").lowercased()
        guard ["left", "center", "right", "top", "middle", "bottom"].contains(edge) else {
            throw words.misuse("'\(edge.prefix(64))' is no edge")
        }
        let found = try find(&words)
        let boxes = try bounds(of: found)
        // One element alone is lined up with the canvas.
        let corners = boxes.flatMap {
            [SlidePoint($0.minX, $0.minY), SlidePoint($0.maxX, $0.maxY)]
        }
        let paper = [
            SlidePoint(0, 0), SlidePoint(Double(canvas.width), Double(canvas.height)),
        ]
        let around = Bounds(found.count == 1 ? paper : corners)
        for (index, box) in zip(found, boxes) {
            var offset = SlidePoint(0, 0)
            switch edge {
            case "left": offset.x = around.minX - box.minX
            case "center": offset.x = around.midX - box.midX
            case "right": offset.x = around.maxX - box.maxX
            case "top": offset.y = around.minY - box.minY
            case "middle": offset.y = around.midY - box.midY
            default: offset.y = around.maxY - box.maxY
            }
            try shift(index, by: offset)
        }
    }

    mutating func distribute(_ words: inout Arguments) throws(EditError) {
        let direction = try words.last("horizontally or vertically").lowercased()
        guard ["horizontally", "vertically"].contains(direction) else {
            throw words.misuse("'\(direction.prefix(64))' is no direction")
        }
        let found = try find(&words)
        guard found.count >= 3 else {
            throw EditError(
                .data, at: "distribute",
                "\(Count.words(found.count, "element")) where at least 3 are expected")
        }
        let isAcross = direction == "horizontally"
        let middles = try bounds(of: found).map { isAcross ? $0.midX : $0.midY }
        let order = found.indices.sorted { (middles[$0], $0) < (middles[$1], $1) }
        let first = middles[order[0]]
        let step = (middles[order[order.count - 1]] - first) / Double(order.count - 1)
        for (place, part) in order.enumerated().dropFirst().dropLast() {
            let way = first + step * Double(place) - middles[part]
            try shift(found[part], by: isAcross ? SlidePoint(way, 0) : SlidePoint(0, way))
        }
    }

    private func bounds(of indices: [Int]) throws(EditError) -> [Bounds] {
        var boxes: [Bounds] = []
        for index in indices {
            boxes.append(
                // Which path that is takes a pass over all elements, and only errors tell it.
                try located(SlideParts(elements).index.path(of: index)) { () throws(EditError) in
                    try elements[index].bounds()
                })
        }
        return boxes
    }

    private mutating func shift(_ index: Int, by offset: SlidePoint) throws(EditError) {
        // What is left of rounding would be a change where there is none.
        let offset = SlidePoint(offset.x.tidy, offset.y.tidy)
        guard offset != SlidePoint(0, 0) else { return }
        try elements[index].changePoints { SlidePoint($0.x + offset.x, $0.y + offset.y) }
    }
}
