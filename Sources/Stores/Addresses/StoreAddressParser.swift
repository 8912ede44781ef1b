package import Model

extension StoreAddress {
    /// Reads an address. Throws ``Failure`` (usage) that says what is wrong; never repeats what could be
    /// a password.
    package init(parsing text: String) throws(Failure) {
        if text.hasPrefix("folder:") {
            var path = String(text.dropFirst("folder:".count))
            guard path.hasPrefix("/") else {
                throw Self.problem(
                    "the path of a folder store must begin with /, as in folder:/srv/store")
            }
            guard !path.utf8.contains(0) else { throw Self.problem("a path cannot hold a NUL") }
            while path.count > 1, path.hasSuffix("/") { path.removeLast() }
            self = .folder(path: path)
        } else if let rest = text.afterScheme("s3://") {
            self = .s3(try S3Address(parsing: rest))
        } else if let rest = text.afterScheme("davs://") {
            self = .webDAV(try WebDAVAddress(parsing: rest, isSecure: true))
        } else if let rest = text.afterScheme("dav://") {
            self = .webDAV(try WebDAVAddress(parsing: rest, isSecure: false))
        } else {
            throw Self.problem(
                "a store's address begins with folder:, s3://, dav:// or davs://")
        }
    }

    static func problem(_ reason: String) -> Failure { Failure(.usage, reason) }
}

extension S3Address {
    fileprivate init(parsing text: Substring) throws(Failure) {
        let parts = try AddressParts(text)
        guard let bucket = PercentEncoding.decode(parts.authority), Self.isBucket(bucket) else {
            throw StoreAddress.problem(
                "s3:// needs a bucket's name: 3 to 63 lower-case letters, digits, dots and hyphens")
        }
        self.bucket = bucket
        prefix = try parts.path().joined(separator: "/")
        var options = parts.options
        endpoint = try options.take("endpoint").map { (text) throws(Failure) in
            try Origin(parsingURL: text)
        }
        region = options.take("region")
        if let region, region.isEmpty || !region.utf8.allSatisfy(isNameByte) {
            throw StoreAddress.problem("region= is not a region's name")
        }
        switch options.take("style") {
        case nil: style = endpoint == nil && !bucket.contains(".") ? .virtual : .path
        case let text?:
            guard let style = Style(rawValue: text) else {
                throw StoreAddress.problem("style= is either path or virtual")
            }
            self.style = style
        }
        if style == .virtual, let endpoint, endpoint.isNumeric {
            throw StoreAddress.problem(
                "style=virtual needs an endpoint with a name: there is no host \(bucket).\(endpoint.host)"
            )
        }
        profile = options.take("profile")
        credentialsFile = options.take("credentials")
        self.options = try options.takeServerOptions()
        try options.finish()
    }

    private static func isBucket(_ name: String) -> Bool {
        (3...63).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2e || $0 == 0x2d
            }
            && !name.hasPrefix(".") && !name.hasPrefix("-") && !name.hasSuffix(".")
            && !name.hasSuffix("-") && !name.contains("..")
    }
}

extension WebDAVAddress {
    fileprivate init(parsing text: Substring, isSecure: Bool) throws(Failure) {
        let parts = try AddressParts(text)
        var host = parts.authority
        if let at = host.lastIndex(of: "@") {
            guard let user = PercentEncoding.decode(host[..<at]), !user.isEmpty,
                !host[..<at].contains(":"), user.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
            else {
                throw StoreAddress.problem(
                    "an address holds no password: it could be seen by others; use"
                        + " SHAPEEDIT_STORE_PASSWORD, ~/.netrc or credential-command=")
            }
            self.user = user
            host = host[host.index(after: at)...]
        }
        origin = try Origin(isSecure: isSecure, parsing: host)
        let segments = try parts.path()
        path = segments.map { "/" + $0 }.joined()
        var options = parts.options
        netrcFile = options.take("netrc")
        self.options = try options.takeServerOptions()
        try options.finish()
    }
}

extension Origin {
    /// `HOST[:PORT]`
    init(isSecure: Bool, parsing text: some StringProtocol) throws(Failure) {
        var host = String(text).lowercased()
        var port: Int?
        if let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") {
            guard let number = Int(host[host.index(after: colon)...]), (1...65_535).contains(number)
            else { throw StoreAddress.problem("a port is a number from 1 to 65535") }
            port = number
            host = String(host[..<colon])
        }
        let inside =
            host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...]
        let isNumeric = inside.count < host.count
        guard !inside.isEmpty,
            inside.utf8.allSatisfy({ isNumeric ? isHexadecimalOrColon($0) : isNameByte($0) })
        else { throw StoreAddress.problem("the address has no valid host name") }
        // Left out as in the requests' header, which is signed.
        if port == (isSecure ? 443 : 80) { port = nil }
        self.init(isSecure: isSecure, host: host, port: port)
    }

    /// `http://HOST[:PORT]` or `https://...`, with nothing after it but perhaps a slash.
    init(parsingURL text: String) throws(Failure) {
        let isSecure: Bool
        let rest: Substring
        if let secure = text.afterScheme("https://") {
            (isSecure, rest) = (true, secure)
        } else if let plain = text.afterScheme("http://") {
            (isSecure, rest) = (false, plain)
        } else {
            throw StoreAddress.problem("endpoint= must begin with http:// or https://")
        }
        let host = rest.hasSuffix("/") ? rest.dropLast() : rest
        guard !host.contains("@") else {
            throw StoreAddress.problem("endpoint= holds no user and no password")
        }
        guard !host.contains("/"), !host.contains("?") else {
            throw StoreAddress.problem("endpoint= is only a host and a port")
        }
        try self.init(isSecure: isSecure, parsing: host)
    }
}

/// The bytes of host, bucket and region names.
private func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f: true
    default: false
    }
}

private func isHexadecimalOrColon(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x3a, 0x41...0x46, 0x61...0x66, 0x2e: true
    default: false
    }
}
