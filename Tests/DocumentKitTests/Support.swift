import DocumentKit
import Glibc
import SystemCalls
import TestSupport
import Testing

/// Where the library is tried: in a mount, and on a folder that is none.
let places: [DataPath] = [.passthrough, .plain]

/// A text as the contents of a document. "bad" is none.
struct Text: DocumentContents {
    struct Bad: Error {}
    var text: String

    init(_ text: String) { self.text = text }
    init(contents: [UInt8]) throws {
        text = String(decoding: contents, as: UTF8.self)
        if text == "bad" { throw Bad() }
    }
    func contents() throws -> [UInt8] {
        if text == "bad" { throw Bad() }
        return Array(text.utf8)
    }
}

/// A text that lets a test do something at the moment when it is asked for what the file is to hold, or
/// given what the file holds.
struct HookedText: DocumentContents {
    private struct Hooks {
        var saving: (@Sendable () -> Void)?
        var loading: (@Sendable () -> Void)?
    }
    private static let hooks = Lock(Hooks())
    var text: String

    init(_ text: String) { self.text = text }
    init(contents: [UInt8]) {
        text = String(decoding: contents, as: UTF8.self)
        let action = Self.hooks.withLock { $0.loading.take() }
        action?()
    }
    func contents() -> [UInt8] {
        let action = Self.hooks.withLock { $0.saving.take() }
        action?()
        return Array(text.utf8)
    }

    /// Runs `action` once, the next time.
    static func onSaving(_ action: @escaping @Sendable () -> Void) {
        hooks.withLock { $0.saving = action }
    }

    /// Runs `action` once, the next time.
    static func onLoading(_ action: @escaping @Sendable () -> Void) {
        hooks.withLock { $0.loading = action }
    }
}

/// What a file holds; `nil` if there is none.
func text(of path: String) -> String? {
    guard let file = try? OwnedDescriptor.open(path, O_RDONLY),
        let bytes = try? WholeFile.read(file)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
}

/// Makes or overwrites a file.
func store(_ path: String, _ text: String) throws {
    let file = try OwnedDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
    try file.write(Array(text.utf8))
}

/// Waits until something is so, half a minute at most.
func expectSoon(
    _ words: @autoclosure () -> String = "", at location: SourceLocation = #_sourceLocation,
    _ isSo: () throws -> Bool
) rethrows {
    for _ in 0..<3_000 {
        if try isSo() { return }
        usleep(10_000)
    }
    Issue.record("it does not become so: \(words())", sourceLocation: location)
}
