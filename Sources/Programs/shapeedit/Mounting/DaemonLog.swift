import Content
import Glibc
import Logging
import Model
import Synchronization
import SystemCalls

/// Where a daemon in the background writes what it has to say: the file `log` in its container's folder.
///
/// The file is standard error, so what ends the program is in it, too. When it has grown too large it
/// becomes `log.old`, in the place of the one before.
struct DaemonLog: TextOutputStream, Sendable {
    /// In bytes, of each of the two files, but for the last line.
    private static let bound: Int64 = 1 << 20
    /// Held by who writes: of two that see it full only one may begin anew.
    private static let turn = Mutex(())

    let folder: ContainerFolder

    /// What is logged in this process goes through here. Until ``begin()`` it still goes to who started it.
    func adopt() {
        LoggingSystem.bootstrap { StreamLogHandler(label: $0, stream: self) }
    }

    /// From now on standard error is the file, if that can be opened; whether it is.
    func begin() -> Bool { Self.turn.withLock { _ in open() } }

    /// Says what a daemon itself does.
    func tell(_ text: String) { Logger(label: "mount").info("\(text)") }

    /// Called with a whole line, and its end.
    func write(_ line: String) {
        Self.turn.withLock { _ in
            var status = stat()
            if fstat(Descriptors.error, &status) == 0, status.st_size >= Self.bound {
                beginAnew(status)
            }
            Console.log(String(line.dropLast()))
        }
    }

    /// - Parameter full: what is standard error.
    private func beginAnew(_ full: stat) {
        var named = stat()
        // Otherwise it is the earlier one already: the next daemon of the container was before this one, or there
        // was no room for another.
        if lstat(folder.log.cPath, &named) == 0, named.st_ino == full.st_ino,
            named.st_dev == full.st_dev
        {
            rename(folder.log.cPath, folder.earlierLog.cPath)
        }
        _ = open()
    }

    private func open() -> Bool {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW
        guard let file = try? OwnedDescriptor.open(folder.log, flags, mode: 0o600) else {
            return false
        }
        return dup2(file.number, Descriptors.error) >= 0
    }
}
