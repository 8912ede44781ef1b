internal import Glibc
internal import Probing

/// Where the programs under test and their helpers are.
package enum BuiltPrograms {
    /// The product: $SHAPEEDIT_BINARY, else the release build, else the debug build.
    package static func shapeedit() throws -> String {
        if let path = getenv("SHAPEEDIT_BINARY").map({ String(cString: $0) }) { return path }
        let candidates =
            ["release", "debug"].map { "\(packageRoot)/.build/\($0)/shapeedit" }
            + ["\(ownDirectory)/shapeedit"]
        guard let found = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw TestSetupFailure(
                "no shapeedit to test: build it or set SHAPEEDIT_BINARY; looked for "
                    + candidates.joined(separator: ", "))
        }
        return found
    }

    /// The helper that acts as another process; built together with the tests.
    package static func probe() throws -> String { try built("shapeedit-probe") }

    /// The example of the library.
    package static func noteTaker() throws -> String { try built("note-taker") }

    /// A program that edits a document at random.
    package static func documentEditor() throws -> String { try built("document-editor") }

    /// In $SHAPEEDIT_TEST_PROGRAMS, where all users may go, else beside the tests.
    private static func built(_ name: String) throws -> String {
        let folder = getenv("SHAPEEDIT_TEST_PROGRAMS").map { String(cString: $0) } ?? ownDirectory
        let path = "\(folder)/\(name)"
        guard access(path, X_OK) == 0 else { throw TestSetupFailure("\(path) was not built") }
        return path
    }

    /// The package's directory.
    private static var packageRoot: String {
        // This file is Tests/Support/TestSupport/BuiltPrograms.swift.
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
            .joined(separator: "/")
    }

    /// Where the running test program is; everything of one build is in one directory.
    private static var ownDirectory: String {
        let path = "/proc/self/exe"
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        let bytes = buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self).split(
            separator: "/", omittingEmptySubsequences: false
        ).dropLast().joined(separator: "/")
    }
}

/// Whether a program is installed.
package func isInstalled(_ program: String) -> Bool {
    (try? run(["sh", "-c", "command -v \(program)"]).status) == 0
}
