import Glibc
import Logging
import SystemCalls
import TestSupport
import Testing

@testable import Stores

/// A store, or a wrapper of one, that the contract is tested on.
enum Specimen: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case folder
    case s3
    case s3VirtualHost
    case s3ByCeph
    case s3ByCephVirtualHost
    case webDAVBasic
    case webDAVDigest
    case webDAVSecure
    case webDAVByRclone
    case verifying
    case retrying
    case limited
    case throttled
    case logged
    case faulty
    case openedFolder
    case openedS3
    case openedWebDAV

    var testDescription: String { rawValue }

    /// Those that keep blobs themselves.
    static let stores: [Specimen] = [
        .folder, .s3, .s3ByCeph, .webDAVBasic, .webDAVDigest, .webDAVSecure, .webDAVByRclone,
    ]
}

/// A real server with S3's interface.
enum S3Server: CaseIterable, Sendable {
    case swift, ceph

    /// Its endpoint, an identity and its secret. Skips the test, saying why, where there is none.
    func words() throws -> [String] {
        try ServerProcess.words(self == .swift ? ServerProcess.s3 : ServerProcess.rgw)
    }
}

/// A fresh store of a test's own, with the files it needs.
final class StoreUnderTest {
    let store: any ContentStore
    /// Where it is, for stores of the same place without wrappers.
    let base: StoreAddress
    private let folder: String

    private static let serial = Lock(0)

    init(_ specimen: Specimen) throws {
        folder = try TemporaryDirectory.make()
        base = try Self.connect(specimen, folder)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        store =
            switch specimen {
            case .folder, .s3, .s3VirtualHost, .s3ByCeph, .s3ByCephVirtualHost, .webDAVBasic,
                .webDAVDigest, .webDAVSecure, .webDAVByRclone:
                base.connect()
            case .verifying: Verifying(base.connect())
            case .retrying: Retrying(base.connect())
            case .limited: Limited(base.connect(), calls: 3, reserved: 1)
            case .throttled: Throttled(base.connect(), putting: 400e6, getting: 400e6)
            case .logged: Logged(base.connect(), logger)
            case .faulty: Faulty(base.connect(), .listed([]))
            case .openedFolder, .openedS3, .openedWebDAV: base.open(logger: logger)
            }
        try store.prepare(StoreCall())
    }

    /// To be called at the end of the test.
    func remove() { TemporaryDirectory.remove(folder) }

    private static func connect(_ specimen: Specimen, _ folder: String) throws -> StoreAddress {
        let number = serial.withLock { serial in
            serial += 1
            return serial
        }
        switch specimen {
        case .s3, .openedS3: return try s3Address("s\(number)", folder)
        case .s3VirtualHost: return try s3Address("s\(number)", folder, style: "virtual")
        case .s3ByCeph: return try s3Address("s\(number)/two words+%25", folder, server: .ceph)
        case .s3ByCephVirtualHost:
            return try s3Address("s\(number)", folder, server: .ceph, style: "virtual")
        case .webDAVBasic, .openedWebDAV: return try davAddress("basic/s\(number)", folder)
        case .webDAVDigest: return try davAddress("digest/s\(number)/two words+%25", folder)
        case .webDAVSecure: return try davAddress("basic/s\(number)", folder, isSecure: true)
        case .webDAVByRclone:
            let words = try ServerProcess.words(ServerProcess.rclone)
            return try davAddress("s\(number)", folder, words[0], words[1], words[2])
        default: return try StoreAddress(parsing: "folder:\(folder)/store")
        }
    }

    static func s3Address(
        _ prefix: String, _ folder: String, server: S3Server = .swift, style: String = "path"
    ) throws -> StoreAddress {
        let words = try server.words()
        let file = folder + "/credentials"
        try write(
            "[default]\naws_access_key_id = \(words[1])\naws_secret_access_key = \(words[2])\n",
            to: file)
        let port = words[0].split(separator: ":").last ?? ""
        let endpoint = style == "path" ? words[0] : "http://s3.localhost:\(port)"
        let encoded = prefix.split(separator: " ").joined(separator: "%20")
        return try StoreAddress(
            parsing: "s3://blobs/\(encoded)?endpoint=\(endpoint)&style=\(style)&region=us-east-1"
                + "&credentials=\(file)")
    }

    static func davAddress(_ path: String, _ folder: String, isSecure: Bool = false) throws
        -> StoreAddress
    {
        let words = try ServerProcess.words(ServerProcess.webDAV)
        let options = isSecure ? "&ca=\(words[4])" : ""
        return try davAddress(
            path, folder, words[isSecure ? 1 : 0], words[2], words[3],
            scheme: isSecure ? "davs" : "dav", options)
    }

    private static func davAddress(
        _ path: String, _ folder: String, _ port: String, _ user: String, _ password: String,
        scheme: String = "dav", _ options: String = ""
    ) throws -> StoreAddress {
        let file = folder + "/netrc"
        try write("machine 127.0.0.1 login \(user) password \(password)\n", to: file)
        let encoded = path.split(separator: " ").joined(separator: "%20")
        return try StoreAddress(
            parsing: "\(scheme)://127.0.0.1:\(port)/\(encoded)?netrc=\(file)\(options)")
    }

    static func write(_ text: String, to path: String) throws {
        let file = try OwnedDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        var problem: Errno?
        Array(text.utf8).withUnsafeBytes { bytes in
            do throws(Errno) { try file.write(bytes, at: 0) } catch { problem = error }
        }
        if let problem { throw problem }
    }
}
