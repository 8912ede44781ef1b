import Drawing
import Terminal

/// Where things are on the screen: a line for the name above, one for messages below, and between
/// them the picture with the list at its right. Where there is little room, only the list.
package struct Layout: Hashable, Sendable {
    /// A rectangle of cells.
    package struct Area: Hashable, Sendable {
        package var column: Int
        package var row: Int
        package var columns: Int
        package var rows: Int

        package init(column: Int, row: Int, columns: Int, rows: Int) {
            self.column = column
            self.row = row
            self.columns = columns
            self.rows = rows
        }

        package func contains(column: Int, row: Int) -> Bool {
            (self.column..<self.column + columns).contains(column)
                && (self.row..<self.row + rows).contains(row)
        }
    }

    /// The least room for a picture.
    private static let least = (columns: 60, rows: 14)

    package let columns: Int
    package let rows: Int
    /// Nil if there is none.
    package let picture: Area?
    package let list: Area
    /// Rows of the list.
    package var listRows: Int { list.rows }

    package init(_ state: EditorState) {
        let shape = state.shape
        columns = min(max(shape.columns, 1), Screen.limit)
        rows = min(max(shape.rows, 1), Screen.limit)
        let body = max(0, rows - 2)
        let hasRoom = columns >= Self.least.columns && rows >= Self.least.rows
        guard hasRoom, shape.graphics != .none else {
            picture = nil
            list = Area(column: 0, row: 1, columns: columns, rows: body)
            return
        }
        let listColumns = min(36, max(24, columns / 3))
        picture = Area(column: 0, row: 1, columns: columns - listColumns - 1, rows: body)
        list = Area(column: columns - listColumns, row: 1, columns: listColumns, rows: body)
    }
}

extension EditorState {
    /// The picture that the screen should have now; nil if it has none.
    package var wantedRendering: RenderingRequest? {
        guard let area = Layout(self).picture, !isHelping, area.rows > 0 else { return nil }
        let width: Int
        let height: Int
        if shape.graphics == .blocks {
            (width, height) = (area.columns, area.rows * 2)
        } else {
            width = area.columns * shape.cell.width
            // Sixels come in bands of six rows, the last of which must not reach the next cells.
            height = area.rows * shape.cell.height - (shape.graphics == .sixel ? 6 : 0)
        }
        // A large terminal far away: more pixels would only be slow.
        let scale = min(1, 1_280 / Double(max(width, 1)), 960 / Double(max(height, 1)))
        let isBlocks = shape.graphics == .blocks || shape.graphics == .sixel
        let factor = isBlocks ? 1 : scale
        do throws(DrawingError) {
            var request = RenderingRequest(
                document: document,
                size: try PixelSize(
                    width: Int(Double(width) * factor), height: Int(Double(height) * factor)),
                graphics: shape.graphics, columns: area.columns, rows: area.rows)
            // What the picture really takes, in the middle of its area.
            let fitted = request.picture.size(fitting: request.size)
            request.columns = max(1, fitted.width * area.columns / max(1, request.size.width))
            request.rows = max(
                1,
                (fitted.height * area.rows + request.size.height - 1) / max(1, request.size.height))
            request.rows = min(request.rows, area.rows)
            return request
        } catch {
            return nil
        }
    }

    /// Where a picture of this request is.
    package func pictureArea(_ request: RenderingRequest) -> Layout.Area? {
        guard let area = Layout(self).picture else { return nil }
        return Layout.Area(
            column: area.column + max(0, area.columns - request.columns) / 2,
            row: area.row + max(0, area.rows - request.rows) / 2, columns: request.columns,
            rows: request.rows)
    }
}
