/// Why a picture could not be made.
public enum DrawingError: Error, Sendable, Equatable {
    /// A side is below 1 or above ``PictureLimits/side``.
    case size(width: Int, height: Int)
    /// The whole picture would take more than ``PictureLimits/bitmapPixels``; as a PNG it can be
    /// written in strips.
    case tooLargeForMemory(width: Int, height: Int)
    /// The document has more parts than ``PictureLimits`` allows to draw.
    case tooManyParts(count: Int, limit: Int)
    /// The parts of the document would be painted over each other more often than
    /// ``PictureLimits/overdraw`` allows.
    case tooMuchOverdraw
    /// The document is sound, but a file of the format asked for cannot hold it; with where that is
    /// and why.
    case notRepresentable(String)
    /// The receiver of the bytes did not take them.
    case refusedBySink
    /// The graphics library gave up, with its own words.
    case library(String)
}

extension DrawingError: CustomStringConvertible {
    /// One line for people.
    public var description: String {
        switch self {
        case .size(let width, let height):
            "a picture of \(width) x \(height) pixels cannot be made; "
                + "each side is 1 to \(PictureLimits.side) pixels"
        case .tooLargeForMemory(let width, let height):
            "a picture of \(width) x \(height) pixels is too large to be held in memory; "
                + "it can be written as a PNG"
        case .tooManyParts(let count, let limit):
            "the document has \(count) parts to draw; \(limit) is the limit"
        case .tooMuchOverdraw:
            "the parts of the document cover each other more than \(PictureLimits.overdraw) times"
        case .notRepresentable(let words): words
        case .refusedBySink: "the picture could not be written"
        case .library(let words): "the picture could not be drawn: \(words)"
        }
    }
}
