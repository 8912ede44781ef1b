internal import Glibc
package import SystemCalls

/// Why the content of a promise did not come: a system call has a number for it, the mount the reason.
package enum ContentReason {
    /// What is said of a call on a file that failed. Elsewhere than in a container the attribute is whatever
    /// somebody has written.
    package static func words(_ error: Errno, _ path: String) -> String {
        guard [EIO, ETIMEDOUT].contains(error.code),
            (try? ItemPlace(path, following: true))?.mountPoint != nil,
            let reason = try? PathAttributes.value("user.shapeedit.error", of: path),
            !reason.isEmpty
        else { return "\(error)" }
        return String(decoding: reason, as: UTF8.self)
    }
}
