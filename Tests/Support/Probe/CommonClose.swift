import CKernel
import Glibc
import Synchronization

/// Has processes append to a file, close it at the same moment, and reads it when all have:
/// `common-close FILE ROUNDS`. Prints what it read wrongly and ends with 1 if there was any.
///
/// They spin while they wait for each other: some get no processor between the answer to their close
/// and its end, and nobody sleeps in between.
func runCommonClose(_ arguments: ArraySlice<String>) -> Never {
    let words = Array(arguments)
    guard words.count == 2, let rounds = Int(words[1]) else { exit(EX_USAGE) }
    let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
    guard let page, page != MAP_FAILED else { exit(EX_OSERR) }
    let counters = page.bindMemory(to: Atomic<Int>.self, capacity: 2)
    var failures = 0
    for round in 0..<rounds {
        let size = CommonClose(
            path: words[0], written: counters, closed: counters.advanced(by: 1)
        ).run()
        guard size != CommonClose.whole else { continue }
        failures += 1
        print("round \(round): \(size) of \(CommonClose.whole) bytes")
    }
    exit(failures == 0 ? 0 : 1)
}

private struct CommonClose {
    static let writers = 5
    static let line = "line\n"
    static let whole = writers * line.utf8.count

    let path: String
    let written: UnsafeMutablePointer<Atomic<Int>>
    let closed: UnsafeMutablePointer<Atomic<Int>>

    /// The size of what is there when all have closed.
    func run() -> Int {
        Glibc.close(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644))
        written.pointee.store(0, ordering: .sequentiallyConsistent)
        closed.pointee.store(0, ordering: .sequentiallyConsistent)
        for _ in 0..<Self.writers where kernel_fork() == 0 { append() }
        wait(for: closed)
        let file = open(path, O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: 2 * Self.whole)
        let size = read(file, &bytes, bytes.count)
        Glibc.close(file)
        while waitpid(-1, nil, 0) > 0 {}
        return size
    }

    private func append() -> Never {
        let file = open(path, O_WRONLY | O_APPEND)
        guard write(file, Self.line, Self.line.utf8.count) == Self.line.utf8.count else { abort() }
        written.pointee.add(1, ordering: .sequentiallyConsistent)
        wait(for: written)
        guard Glibc.close(file) == 0 else { abort() }
        closed.pointee.add(1, ordering: .sequentiallyConsistent)
        _exit(0)
    }

    private func wait(for counter: UnsafeMutablePointer<Atomic<Int>>) {
        let start = time(nil)
        while counter.pointee.load(ordering: .sequentiallyConsistent) < Self.writers {
            // One of the others has failed.
            if time(nil) > start + 60 { abort() }
        }
    }
}
