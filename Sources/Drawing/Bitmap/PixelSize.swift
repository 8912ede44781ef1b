/// The size of a picture in pixels, both sides at least 1.
public struct PixelSize: Sendable, Hashable {
    /// Pixels from left to right.
    public let width: Int
    /// Pixels from top to bottom.
    public let height: Int

    /// A size within ``PictureLimits``.
    ///
    /// - Throws: ``DrawingError/size(width:height:)`` if a side is below 1 or above
    ///   ``PictureLimits/side``.
    public init(width: Int, height: Int) throws(DrawingError) {
        let allowed = 1...PictureLimits.side
        guard allowed.contains(width), allowed.contains(height) else {
            throw .size(width: width, height: height)
        }
        self.width = width
        self.height = height
    }

    /// For sizes that are within the limits by their making.
    private init(clampedWidth: Int, clampedHeight: Int) {
        width = min(max(clampedWidth, 1), PictureLimits.side)
        height = min(max(clampedHeight, 1), PictureLimits.side)
    }

    /// The largest size of the proportions `width` to `height` that fits into this one. Proportions
    /// that are not positive and finite give this size itself.
    func fitting(width proportionWidth: Double, height proportionHeight: Double) -> PixelSize {
        let scale = min(Double(width) / proportionWidth, Double(height) / proportionHeight)
        guard proportionWidth > 0, proportionHeight > 0, scale > 0, scale.isFinite else {
            return self
        }
        return PixelSize(
            clampedWidth: min(Int((proportionWidth * scale).rounded()), width),
            clampedHeight: min(Int((proportionHeight * scale).rounded()), height))
    }
}
