internal import Glibc
internal import SystemCalls

/// Where a store's credentials come from, and which they are now. Any thread.
///
/// What the address names is the only place: `credential-command=`, or a file or profile. If it names
/// none, the first of these that has some: the environment, the usual file in the home directory.
final class CredentialSource: Sendable {
    /// One place to look.
    enum Place: Sendable {
        case command([String])
        case environment(identity: String, secret: String, token: String?)
        case profile(file: String, name: String)
        case netrc(file: String, host: String, user: String?)
    }

    private let places: [Place]
    private let address: String
    private let known = Lock<Credentials?>(nil)

    init(_ places: [Place], address: String) {
        self.places = places
        self.address = address
    }

    /// The credentials in use; `nil` if there are none anywhere.
    func current(_ call: StoreCall) throws(StoreError) -> Credentials? {
        if let known = known.withLock({ $0 }) { return known }
        return try load(call)
    }

    /// Looks again, after a server has rejected `rejected`.
    ///
    /// - Returns: whether there are others now.
    func refresh(rejecting rejected: Credentials?, _ call: StoreCall) throws(StoreError) -> Bool {
        // Another thread may have been faster.
        let now = known.withLock { $0 }
        if let now, now != rejected { return true }
        return try load(call) != rejected
    }

    private func load(_ call: StoreCall) throws(StoreError) -> Credentials? {
        for place in places {
            if let found = try look(in: place, call) {
                known.withLock { $0 = found }
                return found
            }
        }
        return nil
    }

    private func look(in place: Place, _ call: StoreCall) throws(StoreError) -> Credentials? {
        switch place {
        case .command(let words):
            let text = try CredentialCommand(words, address: address).output(call)
            guard let found = CredentialText.parse(text) else {
                throw StoreError(
                    .denied, at: address,
                    "the output of \(words[0]) holds no credentials that can be understood")
            }
            return found
        case .environment(let identity, let secret, let token):
            guard let name = value(of: identity), let password = value(of: secret) else {
                return nil
            }
            return Credentials(
                identity: name, secret: password, sessionToken: token.flatMap { value(of: $0) })
        case .profile(let file, let name):
            return try content(of: file).flatMap { ProfileFile.credentials(in: $0, profile: name) }
        case .netrc(let file, let host, let user):
            return try content(of: file).flatMap {
                NetrcFile.credentials(in: $0, host: host, user: user)
            }
        }
    }

    private func value(of variable: String) -> String? {
        getenv(variable).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The text of a file of credentials; `nil` if there is no such file.
    private func content(of path: String) throws(StoreError) -> String? {
        do throws(Errno) {
            let file = try OwnedDescriptor.open(path, O_RDONLY)
            var bytes = [UInt8](repeating: 0, count: 256 * 1024)
            var problem: Errno?
            let count = bytes.withUnsafeMutableBytes { buffer in
                do throws(Errno) { return try file.read(into: buffer, at: 0) } catch {
                    problem = error
                    return 0
                }
            }
            if let problem { throw problem }
            return String(decoding: bytes[..<count], as: UTF8.self)
        } catch {
            if error.code == ENOENT { return nil }
            throw StoreError(.denied, at: address, "the credentials in \(path): \(error)")
        }
    }
}
