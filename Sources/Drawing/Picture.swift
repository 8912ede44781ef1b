public import Documents

/// What can be drawn of a document. A pure value: the same picture of a scene has the same pixels
/// on every machine; slides, lists and pages have texts, which depend on the fonts of the machine.
///
/// May be used from any thread.
public enum Picture: Sendable {
    /// A scene; its picture fills the size asked for.
    case scene(Scene)
    /// A slide; its picture has the proportions of the canvas.
    case slide(Slide, SlideMode)
    /// A list with the title to show on its card; the card fills the size asked for.
    case list(TaskList, title: String?)
    /// The first page of a text, in the proportions of A4 paper.
    case page(Page)

    /// The size of the picture that fits into another.
    public func size(fitting size: PixelSize) -> PixelSize {
        switch self {
        case .scene, .list: return size
        case .slide(let slide, _):
            return size.fitting(
                width: Double(slide.canvas.width), height: Double(slide.canvas.height))
        case .page: return size.fitting(width: PageSheet.width, height: PageSheet.height)
        }
    }

    /// The picture in memory.
    ///
    /// - Throws: ``DrawingError/tooLargeForMemory(width:height:)`` above
    ///   ``PictureLimits/bitmapPixels``, and what the document's parts cause.
    public func bitmap(fitting size: PixelSize) throws(DrawingError) -> Bitmap {
        let size = self.size(fitting: size)
        switch self {
        case .scene(let scene): return try SceneCaster(scene, size: size).bitmap()
        case .slide, .list, .page: return try SheetPainting(sheet: sheet(size), size: size).bitmap()
        }
    }

    /// The picture as a PNG file, made in strips: it takes little memory at any size, apart from
    /// the file itself.
    public func png(fitting size: PixelSize) throws(DrawingError) -> [UInt8] {
        var file: [UInt8] = []
        try writePNG(fitting: size) { bytes in
            file.append(contentsOf: bytes)
            return true
        }
        return file
    }

    /// The picture as a PNG file whose bytes are handed out in order as they are made.
    ///
    /// - Throws: ``DrawingError/refusedBySink`` if `take` returns false.
    public func writePNG(fitting size: PixelSize, to take: (UnsafeRawBufferPointer) -> Bool)
        throws(DrawingError)
    {
        let size = self.size(fitting: size)
        switch self {
        case .scene(let scene):
            try PNGEncoder.write(SceneCaster(scene, size: size), to: take)
        case .slide, .list, .page:
            try PNGEncoder.write(SheetPainting(sheet: sheet(size), size: size), to: take)
        }
    }

    /// The picture that stands for the document within another size, as a PNG file. Lists, pages and light
    /// slides have an edge: what they are shown on is often white, too.
    public func thumbnail(within size: PixelSize) throws(DrawingError) -> [UInt8] {
        let size = self.size(fitting: thumbnailSize(within: size))
        if case .scene = self { return try png(fitting: size) }
        return try PNGEncoder.bytes(SheetPainting(sheet: sheet(size).edged(in: size), size: size))
    }

    /// The marks of a slide, list or page; a scene has none.
    func sheet(_ size: PixelSize) throws(DrawingError) -> Sheet {
        switch self {
        case .scene: Sheet(width: 1, height: 1, background: .white, marks: AnySequence([]))
        case .slide(let slide, let mode): try Sheet(slide, mode: mode)
        case .list(let list, let title): Sheet(list, title: title, size: size)
        case .page(let page): try PageSheet.sheet(page)
        }
    }
}
