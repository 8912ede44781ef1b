package import Model

/// Where a content store is, as a person writes it and a container keeps it.
///
/// ```
/// folder:PATH
/// s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME&style=path|virtual&...]
/// dav://[USER@]HOST[:PORT][/PATH][?...]      davs://...       (davs is over TLS)
/// ```
/// Options of all servers: `ca=FILE` (certificates to trust), `credential-command=PROGRAM ARGUMENT...`
/// (run without a shell, words at blanks). S3: `profile=NAME`, `credentials=FILE`. WebDAV:
/// `netrc=FILE`. Everything may be percent-encoded, and has to be where it holds `?&=%#+`.
///
/// An address never holds a password: it is stored, shown and seen in `ps`.
package enum StoreAddress: Equatable, Sendable, CustomStringConvertible {
    case folder(path: String)
    case s3(S3Address)
    case webDAV(WebDAVAddress)

    /// The address in its usual form, without options about credentials; can be shown to anybody.
    package var description: String {
        switch self {
        case .folder(let path): "folder:" + path
        case .s3(let address): address.description
        case .webDAV(let address): address.description
        }
    }
}

extension StoreAddress {
    /// Throws if it names files in a way that leads elsewhere from another folder: a daemon is in the
    /// root, whatever folder the address was written in.
    package func requireAbsoluteFiles() throws(Failure) {
        var files: [(option: String, path: String?)] = []
        let options: ServerOptions
        switch self {
        case .folder: return
        case .s3(let address):
            files.append(("credentials", address.credentialsFile))
            options = address.options
        case .webDAV(let address):
            files.append(("netrc", address.netrcFile))
            options = address.options
        }
        files.append(("ca", options.authoritiesFile))
        // One without a slash is looked for in $PATH.
        let program = options.credentialCommand?.first
        files.append(("credential-command", program?.contains("/") == true ? program : nil))
        for (option, path) in files where path.map({ !$0.hasPrefix("/") }) ?? false {
            throw StoreAddress.problem("the path that \(option)= names must begin with /")
        }
    }
}

/// A bucket, or the part of one below a prefix.
package struct S3Address: Equatable, Sendable, CustomStringConvertible {
    /// Where the bucket's name goes.
    package enum Style: String, Sendable {
        /// `https://endpoint/bucket/key`
        case path
        /// `https://bucket.endpoint/key`
        case virtual
    }

    package var bucket: String
    /// Without a slash at either end; may be empty.
    package var prefix = ""
    /// `nil` for Amazon's.
    package var endpoint: Origin?
    /// `nil` where it is not given: then the environment tells.
    package var region: String?
    package var style: Style
    package var options = ServerOptions()
    /// Section of the credentials file.
    package var profile: String?
    package var credentialsFile: String?

    package var description: String {
        var text = "s3://" + bucket + (prefix.isEmpty ? "" : "/" + prefix)
        if let endpoint { text += " at " + endpoint.text }
        return text
    }
}

/// A collection on a WebDAV server.
package struct WebDAVAddress: Equatable, Sendable, CustomStringConvertible {
    package var origin: Origin
    /// Decoded, from the root on: empty, or begins with a slash and does not end with one.
    package var path: String
    package var user: String?
    package var options = ServerOptions()
    package var netrcFile: String?

    package var description: String {
        (origin.isSecure ? "davs://" : "dav://") + origin.authority + path
    }
}

/// Options that servers of all kinds have.
package struct ServerOptions: Equatable, Sendable {
    /// A file of certificates that are trusted instead of the system's.
    package var authoritiesFile: String?
    /// A program, and its arguments, that prints the credentials.
    package var credentialCommand: [String]?

    package init() {}
}

/// Scheme, host and port.
package struct Origin: Equatable, Sendable {
    package var isSecure: Bool
    /// Lower case; an IPv6 address with its brackets.
    package var host: String
    /// `nil` for the scheme's own.
    package var port: Int?

    package var authority: String { host + (port.map { ":\($0)" } ?? "") }
    package var text: String { (isSecure ? "https://" : "http://") + authority }
    var effectivePort: Int { port ?? (isSecure ? 443 : 80) }
    /// Whether the host is an address in numbers, which nothing can be put before.
    var isNumeric: Bool {
        host.hasPrefix("[") || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2e }
    }
}
