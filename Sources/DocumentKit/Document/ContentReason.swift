internal import Glibc
package import SystemCalls

/// Why the content of a promise did not come: a system call has a number for it, the mount the reason.
package enum ContentReason {
    /// What is said of a call on a file that failed.
    package static func words(_ error: Errno, _ path: String) -> String {
        guard [EIO, ETIMEDOUT].contains(error.code),
            let reason = try? PathAttributes.value("user.shapeedit.error", of: path),
            !reason.isEmpty
        else { return "\(error)" }
        return String(decoding: reason, as: UTF8.self)
    }
}
