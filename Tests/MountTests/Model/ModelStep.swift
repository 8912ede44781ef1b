import CKernel
import Glibc
import Probing
import TestSupport

/// One random operation, to be made on two file systems that then have to agree.
struct ModelStep: CustomStringConvertible {
    /// What it does, for messages.
    let description: String
    /// The system call.
    let request: Request
    /// The paths whose status has to be equal afterwards.
    let paths: [ByteString]
    /// Whether its result is a descriptor to remember.
    var isOpening = false

    private init(
        _ description: String, _ number: Int32, _ arguments: [CallArgument],
        paths: [ByteString] = []
    ) {
        self.description = description
        self.paths = paths
        request = .call(number: Int(number), arguments: arguments, onNewThread: false)
    }

    /// Chooses one, given the descriptors that are open.
    static func random(_ random: inout SplitMix, open files: [Int]) -> ModelStep {
        if !files.isEmpty && random.below(5) < 2 {
            return onDescriptor(&random, files[random.below(files.count)], files)
        }
        return random.below(3) == 0 ? onAttributes(&random) : onNames(&random)
    }

    // MARK: Choices

    /// Few names, so that operations meet; never upwards, so that none leaves its directory.
    private static func path(_ random: inout SplitMix) -> ByteString {
        let names = ["a", "b", "c", "d"]
        let depth = 1 + random.below(10) / 4
        return ByteString(
            (0..<depth).map { _ in names[random.below(names.count)] }.joined(separator: "/"))
    }

    private static func bytes(_ random: inout SplitMix) -> [UInt8] {
        let count = random.below(4) == 0 ? random.below(40_000) : random.below(300)
        let start = UInt8(truncatingIfNeeded: random.next())
        return (0..<count).map { start &+ UInt8(truncatingIfNeeded: $0 / 3) }
    }

    private static let here = CallArgument.integer(Int(AT_FDCWD))

    private static func onNames(_ random: inout SplitMix) -> ModelStep {
        let path = path(&random)
        let name = CallArgument.input(path.bytes)
        switch random.below(14) {
        case 0...3:
            let choices = [
                O_CREAT, O_CREAT | O_EXCL, O_CREAT | O_TRUNC, O_TRUNC, O_CREAT | O_APPEND, 0,
            ]
            let access = random.below(3) == 0 ? O_WRONLY : O_RDWR
            // Without O_NONBLOCK a fifo would stop the test.
            let flags = choices[random.below(choices.count)] | access | O_NONBLOCK
            var step = ModelStep(
                "open \(path) 0\(String(flags, radix: 8))", SYS_openat,
                [here, name, .integer(Int(flags)), .integer(0o644)], paths: [path])
            step.isOpening = true
            return step
        case 4, 5:
            return ModelStep(
                "mkdir \(path)", SYS_mkdirat, [here, name, .integer(0o755)], paths: [path])
        case 6:
            return ModelStep(
                "rmdir \(path)", SYS_unlinkat, [here, name, .integer(Int(AT_REMOVEDIR))],
                paths: [path])
        case 7:
            return ModelStep(
                "unlink \(path)", SYS_unlinkat, [here, name, .integer(0)], paths: [path])
        case 8, 9, 10:
            let other = Self.path(&random)
            let flags = [0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE][random.below(5)]
            return ModelStep(
                "rename \(path) \(other) flags \(flags)", SYS_renameat2,
                [here, name, here, .input(other.bytes), .integer(flags)], paths: [path, other])
        case 11:
            let other = Self.path(&random)
            return ModelStep(
                "link \(path) \(other)", SYS_linkat,
                [here, name, here, .input(other.bytes), .integer(0)], paths: [path, other])
        case 12:
            let target = Self.path(&random)
            return ModelStep(
                "symlink \(target) \(path)", SYS_symlinkat,
                [.input(target.bytes), here, name], paths: [path])
        default:
            return ModelStep(
                "mkfifo \(path)", SYS_mknodat,
                [here, name, .integer(0o010644), .integer(0)], paths: [path])
        }
    }

    private static func onAttributes(_ random: inout SplitMix) -> ModelStep {
        let path = path(&random)
        let name = CallArgument.input(path.bytes)
        switch random.below(8) {
        case 0:
            let mode = random.below(0o10000)
            return ModelStep(
                "chmod \(path) 0\(String(mode, radix: 8))", SYS_fchmodat,
                [here, name, .integer(mode)], paths: [path])
        case 1:
            let (user, group) = (random.below(3) * 1000, random.below(3) * 1000)
            return ModelStep(
                "lchown \(path) \(user):\(group)", SYS_fchownat,
                [
                    here, name, .integer(user), .integer(group),
                    .integer(Int(AT_SYMLINK_NOFOLLOW)),
                ], paths: [path])
        case 2, 3:
            let size = random.below(50_000)
            return ModelStep(
                "truncate \(path) \(size)", SYS_truncate, [name, .integer(size)], paths: [path])
        case 4:
            let value = Array(bytes(&random).prefix(1000))
            let flags = random.below(3)
            return ModelStep(
                "setxattr \(path) \(value.count) bytes flags \(flags)", SYS_setxattr,
                [
                    name, .input(Array("user.x\(random.below(3))".utf8)), .input(value),
                    .integer(value.count), .integer(flags),
                ], paths: [path])
        case 5:
            return ModelStep(
                "removexattr \(path)", SYS_removexattr,
                [name, .input(Array("user.x\(random.below(3))".utf8))], paths: [path])
        case 6:
            return ModelStep(
                "getxattr \(path)", SYS_getxattr,
                [
                    name, .input(Array("user.x\(random.below(3))".utf8)), .output(2000),
                    .integer(2000),
                ])
        default:
            return ModelStep(
                "readlink \(path)", SYS_readlinkat, [here, name, .output(300), .integer(300)])
        }
    }

    private static func onDescriptor(
        _ random: inout SplitMix, _ file: Int, _ files: [Int]
    ) -> ModelStep {
        let descriptor = CallArgument.integer(file)
        switch random.below(14) {
        case 0, 1, 2:
            let bytes = bytes(&random)
            return ModelStep(
                "write \(file) \(bytes.count) bytes", SYS_write,
                [descriptor, .input(bytes), .integer(bytes.count)])
        case 3, 4:
            let (bytes, offset) = (bytes(&random), random.below(60_000))
            return ModelStep(
                "pwrite \(file) \(bytes.count) bytes at \(offset)", SYS_pwrite64,
                [descriptor, .input(bytes), .integer(bytes.count), .integer(offset)])
        case 5, 6:
            let (count, offset) = (random.below(50_000), random.below(60_000))
            return ModelStep(
                "pread \(file) \(count) at \(offset)", SYS_pread64,
                [descriptor, .output(count), .integer(count), .integer(offset)])
        case 7:
            let (offset, whence) = (random.below(50_000), random.below(3))
            return ModelStep(
                "lseek \(file) \(offset) \(whence)", SYS_lseek,
                [descriptor, .integer(offset), .integer(whence)])
        case 8:
            let size = random.below(60_000)
            return ModelStep(
                "ftruncate \(file) \(size)", SYS_ftruncate, [descriptor, .integer(size)])
        case 9:
            // Default, keeping the size, punching a hole.
            let mode = [0, 1, 3][random.below(3)]
            let (offset, length) = (random.below(40_000), 1 + random.below(20_000))
            return ModelStep(
                "fallocate \(file) mode \(mode) at \(offset) for \(length)", SYS_fallocate,
                [descriptor, .integer(mode), .integer(offset), .integer(length)])
        case 10: return ModelStep("fsync \(file)", SYS_fsync, [descriptor])
        case 11:
            let other = files[random.below(files.count)]
            let count = random.below(20_000)
            return ModelStep(
                "copy_file_range \(file) \(other) \(count)", SYS_copy_file_range,
                [
                    descriptor, .integer(0), .integer(other), .integer(0), .integer(count),
                    .integer(0),
                ])
        default: return ModelStep("close \(file)", SYS_close, [descriptor])
        }
    }
}
