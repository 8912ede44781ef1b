/// What is known of a photo that is not all here: parts of it, wherever they are.
package struct PhotoParts {
    /// Bytes that lie side by side.
    package struct Part {
        fileprivate var place: Int
        fileprivate var bytes: [UInt8]

        /// - Parameter place: where they are in the photo.
        package init(at place: Int, _ bytes: [UInt8]) {
            self.place = place
            self.bytes = bytes
        }
    }

    /// Nothing can be said before these bytes are known, of which one at least is not.
    package struct Missing: Error {
        /// Where they are; within the photo, and not empty.
        package var range: Range<Int>
    }

    private let size: Int
    private let parts: [Part]

    /// - Parameter size: of the photo, in bytes.
    package init(size: Int, _ parts: [Part]) {
        self.size = size
        self.parts = parts
    }

    /// Bytes of the photo; nil if it ends before them.
    ///
    /// - Parameter ahead: if they are missing, so many are asked for, as others will be wanted then.
    func bytes(_ range: Range<Int>, ahead: Int = 0) throws(Missing) -> [UInt8]? {
        guard range.upperBound <= size else { return nil }
        var found: [UInt8] = []
        while case let place = range.lowerBound + found.count, place < range.upperBound {
            let known = parts.first { $0.place <= place && place < $0.place + $0.bytes.count }
            guard let known else {
                let end = min(size, max(range.upperBound, place + ahead))
                let next = parts.map { $0.place }.filter { $0 > place }.min() ?? end
                throw Missing(range: place..<min(end, next))
            }
            let end = min(known.bytes.count, range.upperBound - known.place)
            found += known.bytes[(place - known.place)..<end]
        }
        return found
    }
}
