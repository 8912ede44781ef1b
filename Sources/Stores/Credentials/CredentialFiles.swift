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
    static func credentials(in text: String, host: String, user: String?) -> Credentials? {
        var words = text.split(whereSeparator: \.isNewline)
            .filter { !trimmed($0).hasPrefix("#") }
            .flatMap { $0.split(whereSeparator: \.isWhitespace) }[...]
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
                isMatching = word == "default" || words.popFirst().map { $0 == host } ?? false
            case "login": login = words.popFirst().map(String.init)
            case "password": password = words.popFirst().map(String.init)
            case "account": words = words.dropFirst()
            default: break
            }
        }
        return found()
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
