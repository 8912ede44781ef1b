import Glibc
import Probing
import TestSupport
import Testing

/// A server whose connections are spoiled as a test wants (Scripts/servers/faults).
final class FaultyServer {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case webDAV, s3
        /// Another server with S3's interface.
        case ceph
        /// A server of each interface.
        static let interfaces: [Kind] = [.webDAV, .s3]
        var testDescription: String { rawValue }
    }

    /// The address of a store on it.
    let address: String
    /// The same place at the server itself, and the words that send a request to it.
    let url: String
    private let requestWords: [String]
    private let proxy: ServerProcess
    private let folder: String

    /// Starts the proxy before the shared server of this kind. The test is skipped, saying why, where
    /// there is none.
    init(_ kind: Kind, name: String) throws {
        folder = try TemporaryDirectory.make()
        // Containers of ordinary users have to read what is in it.
        chmod(folder, 0o755)
        do {
            switch kind {
            case .webDAV:
                let words = try ServerProcess.words(ServerProcess.webDAV)
                proxy = try ServerProcess("faults", name: name, [words[0]])
                address =
                    "dav://127.0.0.1:\(proxy.words[0])/basic/\(name)?netrc=\(folder)/credentials"
                url = "http://127.0.0.1:\(words[0])/basic/\(name)"
                requestWords = [
                    "curl", "-sS", "--fail", "--user", "\(words[2]):\(words[3])", "-X",
                ]
                try Self.write(
                    "machine 127.0.0.1 login \(words[2]) password \(words[3])\n",
                    to: "\(folder)/credentials")
            case .s3, .ceph:
                let words = try ServerProcess.words(
                    kind == .s3 ? ServerProcess.s3 : ServerProcess.rgw)
                let port = words[0].split(separator: ":").last ?? ""
                proxy = try ServerProcess("faults", name: name, [String(port)])
                address =
                    "s3://faults/\(name)?endpoint=http://127.0.0.1:\(proxy.words[0])&style=path"
                    + "&region=us-east-1&credentials=\(folder)/credentials"
                url = "\(words[0])/faults/\(name)"
                // curl's signatures are not all right.
                let script = #filePath.replacing("FaultyServer.swift", with: "s3_request.py")
                requestWords = ["python3", script, words[1], words[2]]
                try Self.write(
                    """
                    [default]
                    aws_access_key_id = \(words[1])
                    aws_secret_access_key = \(words[2])

                    """, to: "\(folder)/credentials")
            }
        } catch {
            TemporaryDirectory.remove(folder)
            throw error
        }
    }

    /// Sends a request to the server itself, about a place below ``url``; `nil`: what that is in.
    func request(_ method: String, _ place: String?, _ file: String? = nil) throws {
        let isCurl = requestWords[0] == "curl"
        let above = url.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let target = place.map { url + $0 } ?? above.joined(separator: "/")
        let words = requestWords + [method, target] + (isCurl && file != nil ? ["-T"] : [])
        let result = try run(words + (file.map { [$0] } ?? []))
        #expect(result.status == 0, "\(method) \(target): \(result)")
    }

    func stop() {
        proxy.stop()
        TemporaryDirectory.remove(folder)
    }

    /// What goes wrong from the next request on, and how often each method has had each fault since
    /// then.
    func plan(_ lines: String...) throws {
        try Self.write("", to: log)
        try Self.write(
            lines.map { $0 + "\n" }.joined(), to: "\(proxy.folder)/plan.new")
        #expect(rename("\(proxy.folder)/plan.new", "\(proxy.folder)/plan") == 0)
    }

    /// The file that has a line for each request since the last plan.
    var log: String { "\(proxy.folder)/log" }

    /// The requests since the last plan: how many of each method had each fault.
    func requests() throws -> [String: Int] {
        let lines = try run(["cat", log]).text.split(separator: "\n")
        return lines.reduce(into: [:]) { $0[String($1), default: 0] += 1 }
    }

    private static func write(_ text: String, to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        try #require(file >= 0)
        let bytes = Array(text.utf8)
        #expect(Glibc.write(file, bytes, bytes.count) == bytes.count)
        close(file)
    }
}
