/// Why there is no picture.
public enum ThumbnailFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The document cannot be drawn; why, in one sentence. Asking again gives the same.
    case refused(String)
    /// The process that drew it ended without an answer: how.
    case died(String)
    /// It took longer than the limit, in milliseconds.
    case timedOut(milliseconds: UInt64)
    /// Nobody waits for it any more.
    case cancelled
    /// The process that drew it was told to end, or killed: by what. Once that says nothing of the
    /// document; again and again it does.
    case ended(String)
    /// No process to draw it can be had, or nowhere to run it: why. It has not seen the document.
    case unavailable(String)

    /// Whether it says something of the document: that it cannot be drawn, or takes too much.
    public var isOfDocument: Bool {
        switch self {
        case .refused, .died, .timedOut: true
        case .cancelled, .ended, .unavailable: false
        }
    }

    /// Whether it took too long, which another time it may not.
    public var isTimeout: Bool {
        if case .timedOut = self { true } else { false }
    }

    /// One line for people.
    public var description: String {
        switch self {
        case .refused(let reason): reason
        case .died(let how): "drawing it ended by \(how)"
        case .timedOut(let milliseconds): "drawing it took more than \(milliseconds) ms"
        case .cancelled: "cancelled"
        case .ended(let how): "the drawing was ended by \(how)"
        case .unavailable(let reason): reason
        }
    }
}
