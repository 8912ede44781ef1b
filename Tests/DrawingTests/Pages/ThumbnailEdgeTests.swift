import Documents
import Drawing
import Testing

/// The edge of the pictures that stand for documents.
@Suite struct ThumbnailEdgeTests {
    @Test(arguments: [16, 128, 256, 512, 1024])
    func `a picture of white paper can be told from the white window it is shown in`(
        _ side: Int
    ) throws {
        _ = PinnedFonts.arePinned
        let square = try PixelSize(width: side, height: side)
        for picture in [
            Picture.page(Page("Hello")), .list(TaskList(items: [TaskItem("Milk")]), title: nil),
            .slide(Slide(elements: []), .app),
        ] {
            let edged = try #require(DecodedPNG(picture.thumbnail(within: square)))
            let plain = try #require(DecodedPNG(picture.png(fitting: square)))
            #expect((edged.width, edged.height) == (plain.width, plain.height))
            let plainGray = plain.gray
            let (right, bottom) = (edged.width - 1, edged.height - 1)
            for (place, gray) in edged.gray.enumerated() {
                let (row, column) = place.quotientAndRemainder(dividingBy: edged.width)
                if row == 0 || row == bottom || column == 0 || column == right {
                    if gray >= 225 { Issue.record("no edge: \(column), \(row)") }
                } else if gray != plainGray[place] {
                    Issue.record("not the edge: \(column), \(row)")
                }
            }
        }
    }

    @Test func `a coloured slide is told from a white window by its colour`() throws {
        var slide = Slide(elements: [])
        slide.background = Color(red: 255, green: 150, blue: 0)
        let picture = Picture.slide(slide, .app)
        let square = try PixelSize(width: 256, height: 256)
        #expect(try picture.thumbnail(within: square) == picture.png(fitting: square))
    }

    @Test func `the smallest pictures are all edge, and have none`() throws {
        let square = try PixelSize(width: 2, height: 2)
        let page = Picture.page(Page(""))
        #expect(try page.thumbnail(within: square) == page.png(fitting: square))
    }
}
