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

    /// From now on standard error is the file.
    func begin() { Self.turn.withLock { _ in open() } }

    /// Says what a daemon itself does.
    func tell(_ text: String) { Logger(label: "mount").info("\(text)") }

    /// Called with a whole line, and its end.
    func write(_ line: String) {
        Self.turn.withLock { _ in
            var status = stat()
            if fstat(Descriptors.error, &status) == 0, status.st_size >= Self.bound,
                rename(folder.log.cPath, folder.earlierLog.cPath) == 0
            {
                open()
            }
            Console.log(String(line.dropLast()))
        }
    }

    private func open() {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW
        guard let file = try? OwnedDescriptor.open(folder.log, flags, mode: 0o600) else { return }
        dup2(file.number, Descriptors.error)
    }
}
