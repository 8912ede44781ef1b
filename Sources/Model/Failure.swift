/// What went wrong, in words for a person: what, where, and what to do.
///
/// The one error type that crosses module borders upward; ``exitStatus`` is what the CLI ends with.
/// File system operations do not use it: they answer errno values.
package struct Failure: Error, CustomStringConvertible, Sendable {
    /// The kinds are the exit codes of sysexits.h, so that scripts can tell them apart.
    package enum Kind: Int32, Sendable {
        case usage = 64
        case badData = 65
        case noInput = 66
        case unavailable = 69
        case software = 70
        case system = 71
        case cannotCreate = 73
        case inputOutput = 74
        case temporary = 75
        case noPermission = 77
        case configuration = 78
    }

    package let kind: Kind
    package let message: String
    /// Nothing is wrong but that the disk is full: worth another try when there is room.
    package let isDiskFull: Bool
    /// Others put something else in the place of what was to be changed: worth another try at once.
    package let isReplaced: Bool

    package init(
        _ kind: Kind, _ message: String, isDiskFull: Bool = false, isReplaced: Bool = false
    ) {
        self.kind = kind
        self.message = message
        self.isDiskFull = isDiskFull
        self.isReplaced = isReplaced
    }

    /// A path that has to be in a mount of a container is not, as `MountAttributes` says with ENODEV.
    package static func notMounted(_ path: String) -> Failure {
        Failure(.usage, "\(path): it is not in a mounted container")
    }

    /// Nobody serves the mount any more that a path is in.
    package static func mountIsDead(_ path: String) -> Failure {
        Failure(.unavailable, "\(path): the daemon of its mount is gone; mount it again")
    }

    /// The same failure, saying also what to do about it.
    package func advising(_ advice: String) -> Failure {
        Failure(kind, "\(message); \(advice)", isDiskFull: isDiskFull, isReplaced: isReplaced)
    }

    /// A path or word as messages name it: an empty one is not overlooked.
    package static func shown(_ name: String) -> String { name.isEmpty ? "''" : name }

    package var description: String { message }
    package var exitStatus: Int32 { kind.rawValue }
}
