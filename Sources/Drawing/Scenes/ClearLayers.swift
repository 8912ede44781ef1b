/// The surfaces of clear solids that one ray meets, the nearest first.
struct ClearLayers: ~Copyable {
    struct Layer {
        /// The solid's.
        var index: Int
        var meeting: Meeting
        var opacity: Double
        /// What it and all before it let through.
        var light = 1.0
    }

    /// What is seen of something through layers that let through less is less than a thousandth of a shade.
    private static let leastLight = 0x1p-20

    private var layers: [Layer] = []
    /// So far through the layers something can be seen: to the end of those that dim it.
    private(set) var reach = Double.infinity

    var isEmpty: Bool { layers.isEmpty }
    var fromBehind: ReversedCollection<[Layer]> { layers.reversed() }

    /// Keeps the memory for the next ray.
    mutating func removeAll() {
        layers.removeAll(keepingCapacity: true)
        reach = .infinity
    }

    /// Puts a surface in its place; of those at the same distance the first one stays the nearest.
    mutating func add(_ index: Int, _ meeting: Meeting, _ opacity: Double) {
        guard meeting.distance <= reach else { return }
        var place = layers.count
        while place > 0, layers[place - 1].meeting.distance > meeting.distance { place -= 1 }
        layers.insert(Layer(index: index, meeting: meeting, opacity: opacity), at: place)
        // Solids are asked about in the order in which they can be met: most surfaces come last.
        var light = place > 0 ? layers[place - 1].light : 1
        for place in place..<layers.count {
            light *= 1 - layers[place].opacity
            layers[place].light = light
            if light < Self.leastLight { reach = min(reach, layers[place].meeting.distance) }
        }
    }

    /// Leaves out what is as far away as something opaque, or farther.
    mutating func removeAll(from distance: Double) {
        while let last = layers.last, last.meeting.distance >= distance { layers.removeLast() }
    }
}
