internal import Promises
internal import SystemCalls

/// What is on its way between the container and its store, for those who follow it.
extension Volume {
    /// Contents that come: from the store, and from where documents were imported if any were.
    var downloads: [Downloads] {
        [link?.downloads, sources?.isInUse == true ? sources?.downloads : nil].compactMap { $0 }
    }

    /// The same as JSON, in one line: `downloads`, `uploads` and `uploadBytes`.
    package func progressText() -> String {
        "{\"downloads\": \(transfers(downloads.flatMap(\.active))), "
            + "\"uploads\": \(link?.uploads.count ?? 0), "
            + "\"uploadBytes\": \(link?.uploads.bytes ?? 0)}"
    }

    /// Runs something short after so many milliseconds, unless the mount goes away before.
    package func after(milliseconds: UInt64, _ job: @escaping @Sendable () -> Void) {
        scheduler.at(MonotonicClock.after(milliseconds: milliseconds), job)
    }
}
