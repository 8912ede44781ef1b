extension Picture {
    /// Width and height of the original app's pictures of solids, in pixels.
    private static let solidsProportions = (width: 834.0, height: 1_024.0)

    /// The size to draw the picture in that stands for the document within another size: a scene has
    /// the proportions of the original app's pictures, whether it is a `.shape` or a `.shapeFile`; all
    /// else fits itself into what is asked for.
    public func thumbnailSize(within size: PixelSize) -> PixelSize {
        guard case .scene = self else { return size }
        let (width, height) = Self.solidsProportions
        return size.fitting(width: width, height: height)
    }
}
