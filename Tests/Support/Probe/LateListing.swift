import CKernel
import Glibc

/// Lists a directory into memory that comes late, and meanwhile writes a file in it:
/// `late-listing DIRECTORY FILE TEXT`. The memory comes when the file is written, or after a second: who
/// writes may have to wait for the listing.
func runLateListing(_ arguments: ArraySlice<String>) -> Never {
    let words = Array(arguments)
    guard words.count == 3 else { exit(EX_USAGE) }
    guard let memory = LateMemory() else { exit(EX_OSERR) }
    let directory = open(words[0], O_RDONLY | O_DIRECTORY)
    guard directory >= 0 else { exit(EX_NOINPUT) }
    if kernel_fork() == 0 {
        memory.waitForFault()
        let writer = kernel_fork()
        if writer == 0 { replace(words[1], words[2]) }
        var status: Int32 = -1
        for _ in 0..<100 where status == -1 {
            if waitpid(pid_t(writer), &status, WNOHANG) == 0 { usleep(10_000) }
        }
        memory.come()
        if status == -1 { waitpid(pid_t(writer), &status, 0) }
        _exit(status == 0 ? 0 : EX_IOERR)
    }
    // The kernel has the answer and cannot give it to us.
    let count = kernel_call(
        Int(SYS_getdents64), Int(directory), memory.address, LateMemory.size, 0, 0, 0)
    var status: Int32 = 0
    waitpid(-1, &status, 0)
    exit(status == 0 && count > 0 ? 0 : EX_IOERR)
}

private func replace(_ path: String, _ text: String) -> Never {
    let file = open(path, O_WRONLY | O_TRUNC)
    guard write(file, text, text.utf8.count) == text.utf8.count, close(file) == 0 else {
        _exit(EX_IOERR)
    }
    _exit(0)
}

/// A mapping whose pages come when they are told to (userfaultfd).
private struct LateMemory {
    static let size = 1 << 16

    let address: Int
    private let descriptor: Int32

    init?() {
        let created = kernel_call(Int(SYS_userfaultfd), Int(O_CLOEXEC), 0, 0, 0, 0, 0)
        let page = mmap(
            nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        guard created >= 0, let page, page != MAP_FAILED else { return nil }
        descriptor = Int32(created)
        address = Int(bitPattern: page)
        // struct uffdio_api, then struct uffdio_register: pages that are missing.
        guard control(0xc018_aa3f, [0xaa, 0, 0]),
            control(0xc020_aa00, [UInt64(address), UInt64(Self.size), 1, 0])
        else { return nil }
    }

    /// Returns when the kernel has asked for a page.
    func waitForFault() {
        var message = [UInt8](repeating: 0, count: 32)
        guard read(descriptor, &message, message.count) == message.count else { _exit(EX_OSERR) }
    }

    /// Gives all pages, zeros.
    func come() {
        // struct uffdio_zeropage.
        _ = control(0xc020_aa04, [UInt64(address), UInt64(Self.size), 0, 0])
    }

    private func control(_ request: Int, _ fields: [UInt64]) -> Bool {
        var fields = fields
        return fields.withUnsafeMutableBytes {
            kernel_call(
                Int(SYS_ioctl), Int(descriptor), request, Int(bitPattern: $0.baseAddress), 0, 0, 0)
        } == 0
    }
}
