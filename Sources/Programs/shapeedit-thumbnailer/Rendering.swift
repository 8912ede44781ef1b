import Documents
import Drawing
import Thumbnailing

/// Draws documents.
enum Rendering {
    /// Why a document has no picture; one sentence.
    struct Problem: Error, CustomStringConvertible {
        var description: String
    }

    /// The longest side, in pixels, that is drawn.
    static let sides = 1...1_024

    /// The bytes of a document that its picture depends on, from its start: of a text those of the first
    /// page, however long it is.
    static func part(of type: DrawnType) -> Int {
        switch type {
        case .shape, .shapeFile, .slide, .list: .max
        case .text, .markdown: Page.textBytes
        }
    }

    /// The picture of a document as a PNG file that fits into a square.
    static func png(_ bytes: [UInt8], type: DrawnType, size: Int, title: String) throws(Problem)
        -> [UInt8]
    {
        let square = try square(size)
        let picture = try picture(bytes, type: type, title: title)
        do throws(DrawingError) {
            return try picture.thumbnail(within: square)
        } catch {
            throw Problem(description: error.description)
        }
    }

    /// The picture that another program drew as one that fits into a square, over white where it is clear.
    /// Dark bars beside what has the proportions `width` to `height` are left out, if these are not 0.
    static func fitted(
        _ picture: [UInt8], size: Int, width: Int, height: Int
    ) throws(Problem) -> [UInt8] {
        let square = try square(size)
        do throws(DrawingError) {
            return try Bitmap(png: picture, side: PictureLimits.side)
                .withoutBars(width: width, height: height).fitted(into: square).png()
        } catch {
            throw Problem(description: error.description)
        }
    }

    private static func square(_ size: Int) throws(Problem) -> PixelSize {
        guard sides.contains(size), let square = try? PixelSize(width: size, height: size) else {
            throw Problem(description: "sizes are 1 to \(sides.upperBound) pixels")
        }
        return square
    }

    private static func picture(_ bytes: [UInt8], type: DrawnType, title: String) throws(Problem)
        -> Picture
    {
        do throws(DocumentError) {
            switch type {
            case .shape: return .scene(try Scene.read(bytes))
            case .shapeFile:
                return .scene(Scene.converted(from: try ShapeFile.read(bytes)).scene)
            case .slide: return .slide(try Slide.read(bytes).slide, .app)
            case .list:
                return .list(try TaskList.read(bytes), title: title.isEmpty ? nil : title)
            case .text, .markdown:
                let markup: Page.Markup = type == .markdown ? .markdown : .plain
                guard let page = Page(bytes: bytes, markup: markup) else {
                    throw DocumentError(.otherFormat, "not a text")
                }
                return .page(page)
            }
        } catch {
            throw Problem(description: error.description)
        }
    }
}
