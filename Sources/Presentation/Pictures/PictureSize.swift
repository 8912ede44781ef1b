/// The sizes that pictures are kept in: the longest side is at most this many pixels.
package enum PictureSize: Int, CaseIterable, Sendable, Comparable {
    case small = 128
    case medium = 256
    case large = 512
    case huge = 1_024

    /// The size by what it is called below `.shapeedit/thumbnails`.
    package init?(folderName: some StringProtocol) {
        guard let found = Self.allCases.first(where: { String($0.rawValue) == folderName }) else {
            return nil
        }
        self = found
    }

    /// Those that are published with a document. The largest takes three quarters of the time of all
    /// and is looked at least: it follows.
    package static let published: [PictureSize] = [.small, .medium, .large]

    package var pixels: Int { rawValue }

    package static func < (left: PictureSize, right: PictureSize) -> Bool {
        left.rawValue < right.rawValue
    }
}
