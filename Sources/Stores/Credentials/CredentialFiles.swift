/// A file of sections as Amazon's tools keep it in `~/.aws/credentials`.
enum ProfileFile {
    static func credentials(in text: String, profile: String) -> Credentials? {
        var values: [String: String] = [:]
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = trimmed(line)
            if line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("["), line.hasSuffix("]") {
                isInside = trimmed(line.dropFirst().dropLast()) == profile
            } else if isInside, let equals = line.firstIndex(of: "=") {
                values[trimmed(line[..<equals]).lowercased()] =
                    trimmed(line[line.index(after: equals)...])
            }
        }
        guard let identity = values["aws_access_key_id"],
            let secret = values["aws_secret_access_key"]
        else { return nil }
        return Credentials(
            identity: identity, secret: secret, sessionToken: values["aws_session_token"])
    }
}

/// A file of machines and logins as ftp, curl and git read it in `~/.netrc`.
enum NetrcFile {
    /// - Parameter host: in lower case. An IPv6 address may have its brackets, in the file or here: ftp and curl
    ///   have none there.
    static func credentials(in text: String, host: String, user: String?) -> Credentials? {
        var words = text.split(whereSeparator: \.isNewline)
            .filter { !trimmed($0).hasPrefix("#") }
            .flatMap { line in Self.words(of: line) }[...]
        var isMatching = false
        var login: String?
        var password: String?
        func found() -> Credentials? {
            guard isMatching, let login, let password, user == nil || user == login else {
                return nil
            }
            return Credentials(identity: login, secret: password)
        }
        while let word = words.popFirst() {
            switch word {
            case "machine", "default":
                if let found = found() { return found }
                (login, password) = (nil, nil)
                isMatching =
                    word == "default"
                    || words.popFirst().map { unbracketed($0.lowercased()) } == unbracketed(host)
            case "login": login = words.popFirst()
            case "password": password = words.popFirst()
            case "account": words = words.dropFirst()
            default: break
            }
        }
        return found()
    }

    private static func unbracketed(_ host: String) -> Substring {
        host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host[...]
    }

    /// What some letters mean behind a backslash.
    private static let controls: [Character: Character] = ["n": "\n", "r": "\r", "t": "\t"]

    /// A line at its blanks. What is in double quotes is one word, in which a backslash takes away what a
    /// quote or a backslash means, as for curl.
    private static func words(of line: Substring) -> [String] {
        var words: [String] = []
        var rest = line.drop(while: \.isWhitespace)
        while let first = rest.first {
            var word = ""
            if first == "\"" {
                rest.removeFirst()
                while let character = rest.popFirst(), character != "\"" {
                    let next = character == "\\" ? rest.popFirst() : nil
                    word.append(next.map { controls[$0] ?? $0 } ?? character)
                }
            } else {
                word = String(rest.prefix { !$0.isWhitespace })
                rest.removeFirst(word.count)
            }
            words.append(word)
            rest = rest.drop(while: \.isWhitespace)
        }
        return words
    }
}

/// What a credential command prints: lines `username=` and `password=` as git's helpers do (also
/// `session_token=`), or one JSON object as Amazon's `credential_process` does.
enum CredentialText {
    static func parse(_ text: String) -> Credentials? {
        let values = FlatJSON.object(text) ?? lines(text)
        guard let identity = values["username"] ?? values["AccessKeyId"],
            let secret = values["password"] ?? values["SecretAccessKey"]
        else { return nil }
        return Credentials(
            identity: identity, secret: secret,
            sessionToken: values["session_token"] ?? values["SessionToken"])
    }

    private static func lines(_ text: String) -> [String: String] {
        var values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            guard let equals = line.firstIndex(of: "=") else { continue }
            values[String(line[..<equals])] = String(line[line.index(after: equals)...])
        }
        return values
    }
}

private func trimmed(_ text: some StringProtocol) -> String {
    let front = text.drop(while: \.isWhitespace)
    return String(front.reversed().drop(while: \.isWhitespace).reversed())
}
