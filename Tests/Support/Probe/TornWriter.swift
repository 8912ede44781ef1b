import CKernel
import Glibc
import Probing

/// How a writer replaces one version of a file by the next.
private enum Style: CaseIterable {
    case truncating, inPlace, appending, duplicated, forked, synced, renamed
}

/// Rewrites a file in pieces with pauses, one style after the other, until standard input ends:
/// `torn-writer FILE SEED [only-rename]`. Prints how many versions it wrote.
func runTornWriter(_ arguments: ArraySlice<String>) -> Never {
    let words = Array(arguments)
    guard words.count >= 2, let seed = UInt64(words[1]) else { exit(EX_USAGE) }
    let styles = words.count > 2 ? [Style.renamed] : Style.allCases
    var writer = PieceWriter(path: words[0], random: SplitMix(seed: seed))
    var version = 1
    while !inputHasEnded() {
        version += 1
        writer.rewrite(version: version, style: styles[version % styles.count])
    }
    print("versions=\(version)")
    exit(0)
}

private struct PieceWriter {
    let path: String
    var random: SplitMix

    mutating func rewrite(version: Int, style: Style) {
        let content = SelfCheckingText.content(writer: 1, version: version)
        switch style {
        case .truncating:
            let file = opened(path, O_WRONLY | O_TRUNC)
            writePieces(content, to: file)
            done(close(file), "close")
        case .inPlace:
            let file = opened(path, O_RDWR)
            writePieces(content, to: file)
            done(ftruncate(file, off_t(content.count)), "ftruncate")
            done(close(file), "close")
        case .appending:
            let file = opened(path, O_WRONLY | O_APPEND)
            done(ftruncate(file, 0), "ftruncate")
            writePieces(content, to: file)
            done(close(file), "close")
        case .duplicated:
            let first = opened(path, O_WRONLY | O_TRUNC)
            let second = dup(first)
            done(close(first), "close")
            pause(milliseconds: 3)
            writePieces(content, to: second)
            done(close(second), "close")
        case .forked: rewriteInTwoProcesses(content)
        case .synced:
            let file = opened(path, O_WRONLY | O_TRUNC)
            writePieces(content, to: file, syncing: true)
            done(close(file), "close")
        case .renamed:
            let temporary = path + ".tmp"
            let file = opened(temporary, O_WRONLY | O_CREAT | O_TRUNC)
            writePieces(content, to: file)
            done(close(file), "close")
            done(rename(temporary, path), "rename")
        }
        pause(milliseconds: 2 + random.below(6))
    }

    /// The child writes the first half and ends, the parent the second.
    private mutating func rewriteInTwoProcesses(_ content: [UInt8]) {
        let file = opened(path, O_WRONLY | O_TRUNC)
        let half = content.count / 2
        let child = kernel_fork()
        if child == 0 {
            writePieces(Array(content[..<half]), to: file)
            _exit(0)
        }
        var status: Int32 = 0
        waitpid(pid_t(child), &status, 0)
        pause(milliseconds: 3)
        writePieces(Array(content[half...]), to: file)
        done(close(file), "close")
    }

    /// Six pieces with pauses between them.
    private mutating func writePieces(_ content: [UInt8], to file: Int32, syncing: Bool = false) {
        let size = content.count / 6 + 1
        for start in stride(from: 0, to: content.count, by: size) {
            let piece = content[start..<min(start + size, content.count)]
            let count = piece.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            done(count == piece.count ? 0 : -1, "write")
            if syncing { done(fsync(file), "fsync") }
            pause(milliseconds: random.below(4))
        }
    }

    private func opened(_ path: String, _ flags: Int32) -> Int32 {
        let file = open(path, flags, 0o644)
        done(file, "open")
        return file
    }

    private func done(_ result: Int32, _ name: String) {
        guard result < 0 else { return }
        print("\(name) failed: \(String(cString: strerror(errno)))")
        exit(EX_IOERR)
    }

    private func pause(milliseconds: Int) {
        usleep(UInt32(milliseconds) * 1000)
    }
}

/// Whether whoever started this program wants it to stop.
private func inputHasEnded() -> Bool {
    var entry = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
}
