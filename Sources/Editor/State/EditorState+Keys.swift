import Documents
import Terminal

// What keys do while nothing is being typed or chosen.
extension EditorState {
    /// Takes what was typed. While undo or redo is under way it is held, in its order: a step made on what
    /// is being undone would meet that as if it was another's edit. What leaves or concerns the screen
    /// only does not wait.
    mutating func take(_ input: InputEvent, _ now: Int, _ effects: inout [EditorEffect]) {
        let leaves = held.isEmpty && input == .key(.character("Q"), [])
        let waits = isStepping && !leaves && !Self.urgent.contains(input)
        if waits { held.append(input) } else { act(on: input, now, &effects) }
    }

    private static let urgent: [InputEvent] = ["c", "l", "z"].map {
        .key(.character($0), .control)
    }

    /// Takes what was typed during undo or redo, when that is over.
    mutating func release(_ now: Int, _ effects: inout [EditorEffect]) {
        while !isStepping, !held.isEmpty { act(on: held.removeFirst(), now, &effects) }
    }

    private mutating func act(
        on input: InputEvent, _ now: Int, _ effects: inout [EditorEffect]
    ) {
        if case .mouse(let event) = input {
            take(event, now)
            return
        }
        if !isLoud { say("") }
        isLoud = false
        if input == .key(.character("z"), .control) {
            if !isGone { save(&effects) }
            effects.append(.suspend)
        } else if input == .key(.character("l"), .control) {
            effects.append(.redraw)
        } else if case .oversizedPaste(let bytes) = input {
            refusePaste("\(bytes) bytes, more than \(InputParser.pasteLimit)")
        } else if case .paste = input, isHelping || choice != nil {
            sayWherePastesGo()
        } else if isHelping {
            isHelping = false
            effects.append(.redraw)
        } else if prompt != nil {
            takeTyped(input, now, &effects)
        } else if choice != nil {
            takeChoice(input, now)
        } else {
            takeKey(input, now, &effects)
        }
    }

    private mutating func takeKey(
        _ input: InputEvent, _ now: Int, _ effects: inout [EditorEffect]
    ) {
        guard case .key(let key, let modifiers) = input else {
            if case .paste(let text) = input { paste(text, now) }
            return
        }
        switch key {
        case .up, .down, .left, .right:
            takeArrow(key, isShifted: modifiers.contains(.shift), now)
        case .pageUp, .pageDown:
            if tool == .move, type == .shape {
                move(0, 0, key == .pageUp ? -1 : 1, now)
            } else {
                let distance = max(1, Layout(self).listRows - 1)
                moveSelection(by: key == .pageUp ? -distance : distance)
            }
        case .home: selection = 0
        case .end: selection = parts.count - 1
        case .tab:
            guard !parts.isEmpty else { break }
            let step = modifiers.contains(.shift) ? -1 : 1
            let isAtEnd = selection == (step > 0 ? parts.count - 1 : 0)
            moveSelection(by: isAtEnd ? -step * parts.count : step)
        case .escape:
            tool = Self.usualTool(type)
            marks = []
        case .enter: startTyping()
        case .delete: remove(now)
        case .insert: startAdding()
        case .backspace, .function: break
        case .character("r") where modifiers.contains(.control): step(isUndo: false, &effects)
        case .character("c") where modifiers.contains(.control): quit(&effects)
        case .character("s") where modifiers.contains(.control): saveNow(&effects)
        case .character(let character) where modifiers.isEmpty:
            takeCharacter(character, now, &effects)
        case .character: break
        }
    }

    private mutating func takeCharacter(
        _ character: Character, _ now: Int, _ effects: inout [EditorEffect]
    ) {
        switch character {
        case "q": quit(&effects)
        case "Q": effects.append(.quit)
        case "?": isHelping = true
        case ":": prompt = LinePrompt(.command, label: ":")
        case "u": step(isUndo: true, &effects)
        case "U": step(isUndo: false, &effects)
        case "w": saveNow(&effects)
        case "e": startTyping()
        case "x": remove(now)
        case "n", "a": startAdding()
        case "d": duplicate(now)
        case "c": startColoring()
        case "g": startGrouping()
        case "G": ungroup(now)
        case "h": toggleVisibility(now)
        case " ": if type == .list { toggle(now) } else { toggleMark() }
        case "J": reorder(1, now)
        case "K": reorder(-1, now)
        case "j": moveSelection(by: 1)
        case "k": moveSelection(by: -1)
        case "m": use(.move)
        case "r": use(.rotate)
        case "s": use(.scale)
        case "o": use(.orbit)
        case "z": use(.zoom)
        case "+", "=": if hasCamera { zoom(1.1, now) }
        case "-": if hasCamera { zoom(1 / 1.1, now) }
        case "0": if hasCamera { camera(["reset"], "Reset the camera", nil, now) }
        case "1"..."6":
            if let number = character.wholeNumberValue, let kind = SolidKind(rawValue: number - 1) {
                change(to: kind, now)
            }
        default: say("No key \"\(character)\"; ? shows the keys")
        }
    }

    private mutating func use(_ tool: Tool) {
        let isAllowed =
            switch tool {
            case .orbit, .zoom: hasCamera
            case .move, .rotate, .scale: type == .shape || type == .slide
            case .select: true
            }
        guard isAllowed else {
            say("A .\(type.fileExtension) has nothing to \(tool.rawValue)", .bad)
            return
        }
        self.tool = self.tool == tool && tool != Self.usualTool(type) ? Self.usualTool(type) : tool
    }

    var hasCamera: Bool { type == .shape || type == .shapeFile }

    private mutating func takeArrow(_ key: Key, isShifted: Bool, _ now: Int) {
        let x = key == .left ? -1.0 : key == .right ? 1 : 0
        let y = key == .down ? -1.0 : key == .up ? 1 : 0
        let isMoving = isShifted && tool == .select && type != .list
        switch isMoving ? .move : tool {
        case .select:
            if isShifted { reorder(Int(x - y), now) } else { moveSelection(by: Int(x - y)) }
        case .move: move(x, type == .slide ? -y : y, 0, now, isFine: isShifted && !isMoving)
        case .rotate: rotate(x, y, now)
        case .scale: scale(x + y > 0 ? 1.1 : 1 / 1.1, now)
        case .orbit: orbit(x * 10, y * 10, now)
        case .zoom: zoom(x + y > 0 ? 1.1 : 1 / 1.1, now)
        }
    }

    private mutating func saveNow(_ effects: inout [EditorEffect]) {
        say(isUnsaved || isGone ? Self.savingMessage : "Everything is saved")
        save(&effects)
    }
}
