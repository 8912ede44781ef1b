import Documents
import Terminal

// What the mouse does: a click selects, dragging goes round a scene or moves an element, the wheel
// zooms or goes through the list.
extension EditorState {
    mutating func take(_ event: MouseEvent, _ now: Int) {
        guard !isHelping, prompt == nil, choice == nil else { return }
        let layout = Layout(self)
        let isInList = layout.list.contains(column: event.column, row: event.row)
        let area = wantedRendering.flatMap { pictureArea($0) }
        let isInPicture = area?.contains(column: event.column, row: event.row) == true
        switch event.action {
        case .press:
            drag = isInPicture ? event : nil
            if isInList {
                let index = firstListed + event.row - layout.list.row
                guard index < parts.count else { break }
                let box = layout.list.column + 1..<layout.list.column + 4
                let isAgain = selection == index
                selection = index
                if type == .list, box.contains(event.column) {
                    toggle(now)
                } else if isAgain, type == .list {
                    startTyping()
                }
            } else if isInPicture, let area {
                let x = (Double(event.column - area.column) + 0.5) / Double(area.columns)
                let y = (Double(event.row - area.row) + 0.5) / Double(area.rows)
                if let index = pick(x, y) {
                    selection = index
                } else if !hasCamera {
                    // What is dragged then is the paper, and not what was selected elsewhere.
                    drag = nil
                }
            }
        case .drag:
            guard let last = drag, let area else { break }
            drag = event
            drag(event.column - last.column, event.row - last.row, area, now)
        case .release: drag = nil
        case .wheelUp, .wheelDown:
            let isUp = event.action == .wheelUp
            if isInPicture, hasCamera {
                zoom(isUp ? 1.1 : 1 / 1.1, now)
            } else {
                moveSelection(by: isUp ? -1 : 1)
            }
        }
    }

    /// By so many cells.
    private mutating func drag(_ columns: Int, _ rows: Int, _ area: Layout.Area, _ now: Int) {
        guard columns != 0 || rows != 0 else { return }
        if case .slide(let slide) = document {
            let x = Double(columns) / Double(area.columns) * Double(slide.canvas.width)
            let y = Double(rows) / Double(area.rows) * Double(slide.canvas.height)
            let by = "by=\(text(x.rounded())),\(text(y.rounded()))"
            edit(["move"], [by], as: "Move", isGathered: true, now: now)
        } else if hasCamera {
            // What is in front goes with the mouse: the camera the other way.
            orbit(Double(-columns) * 3, Double(rows) * 6, now)
        }
    }

    /// The part at a place of the picture, from 0 to 1 to the right and down.
    private func pick(_ x: Double, _ y: Double) -> Int? {
        switch document {
        case .scene(let scene):
            guard let size = wantedRendering?.size else { return nil }
            let aspect = Double(size.width) / Double(size.height)
            return ScenePicking.part(of: scene, at: (x * 2 - 1, 1 - y * 2), aspect: aspect)
        case .slide(let slide):
            return SlidePicking.part(
                of: slide, atX: x * Double(slide.canvas.width), y: y * Double(slide.canvas.height))
        case .shapeFile, .list: return nil
        }
    }
}
