import Glibc
import Testing
import Thumbnailing

/// Where tests find programs and documents, and put files.
enum Surroundings {
    /// The program under test, built together with the tests.
    static var program: String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = String(
            decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/") + "/shapeedit-thumbnailer"
    }

    /// The folder of the package.
    static var package: String {
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
            .joined(separator: "/")
    }

    /// A sample document of the tests of documents.
    static func sample(_ name: String) throws -> [UInt8] {
        try contents("\(package)/Tests/DocumentsTests/Corpus/\(name)")
    }

    static func contents(_ path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"), "\(path)")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while true {
            let byte = getc(file)
            guard byte != EOF else { return bytes }
            bytes.append(UInt8(byte))
        }
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = try #require(fopen(path, "w"), "\(path)")
        #expect(fwrite(bytes, 1, bytes.count, file) == bytes.count)
        fclose(file)
    }

    /// Runs a program to its end: its exit code and what it wrote.
    static func run(_ command: String) throws -> (code: Int32, output: String) {
        let pipe = try #require(popen("exec 2>&1; " + command, "r"))
        var bytes: [UInt8] = []
        while true {
            let byte = getc(pipe)
            if byte == EOF { break }
            bytes.append(UInt8(byte))
        }
        let status = pclose(pipe)
        return (status >> 8 & 0xFF, String(decoding: bytes, as: UTF8.self))
    }

    static func isInstalled(_ program: String) -> Bool {
        (try? run("command -v \(program)").code) == 0
    }
}

/// A folder that goes away with the test.
final class TemporaryFolder {
    let path: String

    init() throws {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/thumbnailing.XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { _ = try? Surroundings.run("rm -rf '\(path)'") }
}
