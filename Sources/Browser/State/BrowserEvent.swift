package import Drawing
package import Editor
package import Terminal

/// What happens to the browser.
package enum BrowserEvent: Sendable {
    /// A key or the mouse.
    case input(InputEvent)
    /// The terminal has another size or other abilities.
    case resized(TerminalShape)
    /// All documents of the folder, in any order, or why they are not known; where `isWhole` is false only
    /// some, with those whose paths hold the filter.
    case listed([BrowserEntry], isWhole: Bool = true, problem: String?)
    /// What the mount says of some documents.
    case inspected([UInt64: BrowserDetails])
    /// What the documents that have titles are called, by their numbers.
    case titled([UInt64: String])
    /// A picture was looked for; nil: there is none yet. Or what stands for it, where there may be none for long.
    case pictured(BrowserVersion, PixelSize, Bitmap?, isStandIn: Bool = false)
    /// Something the user asked for has ended; what to say of it, and which document to go to.
    case done(String, isBad: Bool, select: String?)
}

/// What the browser wants to be done. Paths are those of entries; numbers those of the documents that were seen
/// there when the user was asked: by now another one may have the name.
package enum BrowserEffect: Hashable, Sendable {
    case quit
    /// Stop the process until somebody resumes it.
    case suspend
    /// Draw all again.
    case redraw
    /// Look at the folder again.
    case look
    case open(String)
    case create(String)
    case rename(String, item: UInt64, to: String)
    case delete(String, item: UInt64)
    /// Let the local content go, or bring it.
    case evict(String)
    case materialize(String)
    /// Set `user.shapeedit.pin`.
    case pin(String, String)
}
