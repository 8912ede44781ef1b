internal import Content
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// The time in which everything that was written to a container is there, on its disk or in the kernel's
/// memory: a boot of the machine, and in it one mount of the disk. And which file the catalog is: a copy of
/// the container has another.
struct Boot {
    /// As the catalog records it.
    let text: String

    /// Fails where the kernel does not say now which boot this is, or which mount: to take it for another would
    /// be to give up what was closed before a crash.
    init(of folder: ContainerFolder) throws(Failure) {
        let number: UInt64?
        do throws(Errno) { number = try DiskMount.number(of: folder.path) } catch {
            throw Failure(.inputOutput, "\(folder.path): \(error)")
        }
        let disk = number.map(String.init) ?? Self.unknown
        text = "\(try Self.machine()) \(disk) \(Self.birth(of: folder.catalog))"
    }

    /// Whether what was written at the time that is `recorded` is there. Where the kernel does not show the
    /// disk's mount, or did not then, only the machine counts.
    func includes(_ recorded: String?) throws(Failure) -> Bool {
        guard isOfMachine(recorded), let then = disk(of: recorded) else {
            return isOfMachine(recorded)
        }
        // Who copied it elsewhere read what was in the kernel's memory, too, if the disk was not away before.
        if isCopied(since: recorded) {
            guard let number = UInt64(then) else { return false }
            do throws(Errno) { return try DiskMount.isThere(number) } catch {
                throw Failure(.inputOutput, "/sys/fs: \(error)")
            }
        }
        return disk(of: text) ?? then == then
    }

    /// Whether the container's files are a copy of those that there were at the time that is `recorded`. They may
    /// have been written while they were copied, each is of another moment then.
    func isCopied(since recorded: String?) -> Bool {
        guard let now = birth(of: text), let then = birth(of: recorded) else { return false }
        return now != then
    }

    /// Whether the machine was not booted since the time that is `recorded`.
    func isOfMachine(_ recorded: String?) -> Bool {
        recorded?.split(separator: " ").first == text.split(separator: " ").first
    }

    /// In the place of what is not known. Earlier releases kept the machine and the disk alone.
    private static let unknown = "-"

    private func disk(of text: String?) -> Substring? { word(1, of: text) }

    private func birth(of text: String?) -> Substring? { word(2, of: text) }

    private func word(_ number: Int, of text: String?) -> Substring? {
        text?.split(separator: " ").dropFirst(number).first.flatMap {
            $0 == Self.unknown ? nil : $0
        }
    }

    /// When the file was made, which a copy of it has another time of. Without opening it: closing it would drop
    /// the locks that SQLite has on it.
    private static func birth(of path: String) -> String {
        let time = Directories.birthTime(path.cPath, in: AT_FDCWD)
        return time == 0 ? unknown : String(time)
    }

    /// The kernel's name for this boot; empty where it shows none.
    private static func machine() throws(Failure) -> String {
        let path = "/proc/sys/kernel/random/boot_id"
        do throws(Errno) {
            let file = try OwnedDescriptor.open(path, O_RDONLY)
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = try file.read(into: &bytes, at: 0)
            return String(decoding: bytes[..<count].filter { $0 > 32 }, as: UTF8.self)
        } catch {
            if [ENOENT, ENOTDIR, EACCES, EPERM].contains(error.code) { return "" }
            throw Failure(.inputOutput, "\(path): \(error)")
        }
    }
}
