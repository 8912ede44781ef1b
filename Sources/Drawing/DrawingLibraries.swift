internal import COnDemand

/// The C libraries that draw, which are loaded when they are first used.
public enum DrawingLibraries {
    /// Loads them now: for processes that may not later, or that must not end if one is missing, as
    /// drawing then does. Any thread.
    ///
    /// - Returns: what is wrong, for the user; `nil` if they are there.
    public static func load() -> String? {
        ondemand_load(ONDEMAND_DRAWING).map { String(cString: $0) }
    }
}
