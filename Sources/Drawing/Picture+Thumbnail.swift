internal import Documents

extension Picture {
    /// Width and height of the original app's pictures of solids, in pixels.
    private static let solidsProportions = (width: 834.0, height: 1_024.0)

    /// The size to draw the picture in that stands for the document within another size: a scene has
    /// the proportions of the original app's pictures, whether it is a `.shape` or a `.shapeFile`; all
    /// else fits itself into what is asked for.
    func thumbnailSize(within size: PixelSize) -> PixelSize {
        guard case .scene = self else { return size }
        let (width, height) = Self.solidsProportions
        return size.fitting(width: width, height: height)
    }
}

extension Sheet {
    /// How dark it is: white becomes a light grey.
    private static let edgeOpacity = 0.16

    /// Where a background is as light as this in all its parts, its own edge is not seen on white.
    private static let lightest: UInt8 = 230

    /// The same with an edge of one pixel within it, if it would be seen as nothing on white.
    func edged(in size: PixelSize) -> Sheet {
        let isLight = min(background.red, background.green, background.blue) >= Self.lightest
        guard isLight, size.width > 2, size.height > 2 else { return self }
        let (right, bottom) = (width / Double(size.width), height / Double(size.height))
        var edge = Path(Point(0, 0), Point(width, bottom))
        edge.append(Path(Point(0, height - bottom), Point(width, height)))
        edge.append(Path(Point(0, bottom), Point(right, height - bottom)))
        edge.append(Path(Point(width - right, bottom), Point(width, height - bottom)))
        let mark = Mark.outline(Outline(path: edge, fill: .black, opacity: Self.edgeOpacity))
        var sheet = self
        sheet.marks = AnySequence([AnySequence(marks), AnySequence([mark])].lazy.joined())
        return sheet
    }
}
