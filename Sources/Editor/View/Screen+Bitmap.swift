package import Drawing
package import Terminal

extension Screen {
    /// A picture of two pixels in each cell.
    package mutating func put(_ bitmap: Bitmap, at place: Layout.Area, within area: Layout.Area) {
        for row in 0..<place.rows {
            for column in 0..<place.columns {
                let (x, y) = (place.column + column, place.row + row)
                guard column < bitmap.size.width, area.contains(column: x, row: y) else { continue }
                func color(_ line: Int) -> Style.Paint {
                    let (red, green, blue) = bitmap[column, min(line, bitmap.size.height - 1)]
                    return .exact(UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue))
                }
                let style = Style(text: color(2 * row), ground: color(2 * row + 1))
                self[x, y] = Cell("\u{2580}", style)
            }
        }
    }
}
