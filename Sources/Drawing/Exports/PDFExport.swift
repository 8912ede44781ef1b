import CPangoCairo

extension Picture {
    /// The picture as a PDF file of one page: slides and lists as shapes and real text, scenes and emoji
    /// that are pictures in their font as pixels. A pixel of the size asked for is a point (1/72 inch) of the page.
    ///
    /// - Throws: ``DrawingError``.
    public func pdf(fitting size: PixelSize) throws(DrawingError) -> [UInt8] {
        var file: [UInt8] = []
        try writePDF(fitting: size) { bytes in
            file.append(contentsOf: bytes)
            return true
        }
        return file
    }

    /// The picture as such a file whose bytes are handed out in order, a layer at a time.
    ///
    /// - Throws: ``DrawingError/refusedBySink`` if `take` returns false.
    public func writePDF(fitting size: PixelSize, to take: (UnsafeRawBufferPointer) -> Bool)
        throws(DrawingError)
    {
        let size = self.size(fitting: size)
        if case .scene = self {
            var file = PDFPicture(size)
            try file.begin(take)
            try writePNG(fitting: size) { bytes in
                do throws(DrawingError) { try file.add(bytes, take) } catch { return false }
                return true
            }
            return try file.end(take)
        }
        let sheet = try sheet(size)
        var layers = SheetLayers(sheet, size: size)
        let first = try layers.next(isPlain: false)
        guard layers.hasMore else {
            guard first.withUnsafeBytes(take) else { throw .refusedBySink }
            return
        }
        // The library keeps all that is painted until the page is whole, so much is painted on pages
        // of its own, which lie over each other in the end. Only plain files can be read for that.
        layers = SheetLayers(sheet, size: size)
        var file = PDFLayers(size)
        while layers.hasMore { try file.add(layers.next(isPlain: true), take) }
        try file.end(take)
    }
}

/// The marks of a sheet, in parts that each take little memory while they are painted.
private struct SheetLayers {
    private let sheet: Sheet
    private let size: PixelSize
    private var marks: AnySequence<Mark>.Iterator
    /// The next marks, of which those that are painted were taken away.
    private var following: ArraySlice<Mark> = []
    /// Glyphs of the next that are painted; nil if it is not begun.
    private var glyphs: Int?
    private var work: Painter.Overdraw
    private var isFirst = true

    init(_ sheet: Sheet, size: PixelSize) {
        self.sheet = sheet
        self.size = size
        work = Painter.Overdraw(pixels: Double(size.width) * Double(size.height))
        marks = sheet.marks.makeIterator()
        fill()
    }

    var hasMore: Bool { !following.isEmpty }

    /// Takes about as many marks as a part has.
    private mutating func fill() {
        var bytes = following.reduce(0) { $0 + $1.recordedBytes }
        while bytes < PictureLimits.layerBytes, let mark = marks.next() {
            bytes += mark.recordedBytes
            following.append(mark)
        }
    }

    /// The next part as a file, the first over the background.
    mutating func next(isPlain: Bool) throws(DrawingError) -> [UInt8] {
        var page: [UInt8] = []
        try PDFPage.write(size, isPlain: isPlain) { bytes in
            page.append(contentsOf: bytes)
            return true
        } _: { context throws(DrawingError) in
            try paint(on: context)
        }
        fill()
        return page
    }

    private mutating func paint(on context: OpaquePointer) throws(DrawingError) {
        let painter = Painter(
            context: context, scaleX: Double(size.width) / sheet.width,
            scaleY: Double(size.height) / sheet.height, width: Double(size.width),
            height: Double(size.height), rows: 0..<Double(size.height),
            fonts: sheet.fonts.areMany(at: Double(size.height) / sheet.height)
                ? .shared(asOutlines: false) : .ofEachHeight)
        if isFirst { painter.paint(sheet.background) }
        isFirst = false
        let progress = try painter.paint(following, &work, after: glyphs)
        following = following.dropFirst(progress.marks)
        glyphs = progress.glyphs
    }
}

extension Mark {
    /// About how many bytes cairo keeps of it until a page is whole.
    fileprivate var recordedBytes: Int {
        switch self {
        case .outline(let outline): 2_048 + 16 * outline.path.steps.count
        case .text(let block): 4_096 + 64 * min(block.text.utf8.count, PictureLimits.characters)
        }
    }
}
