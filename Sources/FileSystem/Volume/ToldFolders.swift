internal import Model

/// Who was told the attributes of directories a moment ago.
///
/// Where a program changes names in a directory, the kernel drops what it keeps of the directory itself; but
/// it takes an answer that is on its way meanwhile, to somebody else, for how the directory is from then on.
/// So the daemon calls such answers out of date before it answers the change, unless there can be none: whoever
/// has asked, and then changes something, has had the answer.
///
/// Guarded by its owner, which notes and looks at the attributes in one step.
struct ToldFolders {
    /// For how long an answer may be on its way, in nanoseconds.
    private static let memory: UInt64 = 10_000_000_000
    private static let places = 1_024

    private struct Place {
        /// 0: of none.
        var folder: UInt64 = 0
        /// 0: to several.
        var thread: Int32 = 0
        var time: UInt64 = 0
    }
    /// Stands for several directories that have the same place.
    private static let several = UInt64.max

    private var told = [Place](repeating: Place(), count: places)

    private static func place(of folder: ItemNumber) -> Int {
        Int(truncatingIfNeeded: folder.rawValue % UInt64(places))
    }

    /// A thread is about to be told the attributes of a directory.
    ///
    /// - Parameters:
    ///   - thread: 0: one that is not known.
    ///   - now: of `MonotonicClock`.
    mutating func note(_ folder: ItemNumber, to thread: Int32, at now: UInt64) {
        let index = Self.place(of: folder)
        let former = told[index]
        var place = Place(folder: folder.rawValue, thread: thread, time: now)
        if former.folder != 0, now < former.time + Self.memory {
            if former.folder != folder.rawValue { place.folder = Self.several }
            if former.thread != thread { place.thread = 0 }
        }
        told[index] = place
    }

    /// Whether an answer about the directory may be on its way to another thread than the one that has changed
    /// names in it. If so, the caller calls those out of date.
    mutating func isOnItsWay(_ folder: ItemNumber, but thread: Int32, at now: UInt64) -> Bool {
        let index = Self.place(of: folder)
        let place = told[index]
        guard place.folder == folder.rawValue || place.folder == Self.several,
            now < place.time + Self.memory, place.thread == 0 || place.thread != thread
        else { return false }
        if place.folder != Self.several { told[index] = Place() }
        return true
    }
}
