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

    /// Milliseconds from one run of a command to the next because of answers that may have other reasons.
    private static let doubtInterval: UInt64 = 10_000

    let places: [Place]
    private let address: String
    /// Whether a look runs a program.
    private let isCommand: Bool
    private let state = Monitor(State())

    /// What is known, and whether somebody looks. One looks at a time, for all who come meanwhile: a
    /// command may ask its user, or an account that gives each token once.
    private struct State {
        var known: Credentials?
        /// Where `known` come from.
        var place: Place?
        var isLooking = false
        /// How often somebody has looked, and what came of it last.
        var looks = 0
        var outcome: Result<Credentials?, StoreError> = .success(nil)
        /// Until when an answer that may have other reasons lets nobody look, of ``MonotonicClock``.
        var doubtsEnd: UInt64 = 0
    }

    init(_ places: [Place], address: String) {
        self.places = places
        self.address = address
        isCommand = places.contains { if case .command = $0 { true } else { false } }
    }

    /// The credentials in use; `nil` if there are none anywhere.
    func current(_ call: StoreCall) throws(StoreError) -> Credentials? {
        try load(rejecting: nil, call)
    }

    /// Looks again, after a server has rejected `rejected`.
    ///
    /// - Parameter isDoubtful: the answer may as well be about what was asked for, which may be forbidden
    ///   to whoever asks. A command is not run for each such answer.
    /// - Returns: whether there are others now.
    func refresh(rejecting rejected: Credentials?, isDoubtful: Bool = false, _ call: StoreCall)
        throws(StoreError) -> Bool
    {
        if isDoubtful, isCommand {
            let now = MonotonicClock.now
            let end = MonotonicClock.after(milliseconds: Self.doubtInterval)
            // While another thread looks, its outcome is waited for.
            let isVain = state.withLock { state in
                guard state.known == rejected, !state.isLooking else { return false }
                if now < state.doubtsEnd { return true }
                state.doubtsEnd = end
                return false
            }
            if isVain { return false }
        }
        return try load(rejecting: rejected, call) != rejected
    }

    /// Where the credentials in use come from; `nil` if there are none.
    var place: Place? { state.withLock { $0.place } }

    /// Those that are known, if they are not the rejected ones; else what is found now.
    private func load(rejecting rejected: Credentials?, _ call: StoreCall) throws(StoreError)
        -> Credentials?
    {
        var awaited: Int?
        while true {
            let until = MonotonicClock.after(milliseconds: Cancellation.interval)
            let turn = state.wait(until: until) { state -> Turn? in
                // Somebody, for instance another thread, has been faster.
                if let known = state.known, known != rejected { return .told(.success(known)) }
                if let awaited, state.looks != awaited { return .told(state.outcome) }
                if state.isLooking {
                    awaited = state.looks
                    return nil
                }
                state.isLooking = true
                return .mine
            }
            switch turn {
            case .told(let outcome): return try outcome.get()
            case .mine: return try lookForAll(call).get()
            case nil: try call.cancellation.check(at: address)
            }
        }
    }

    private enum Turn {
        case mine
        case told(Result<Credentials?, StoreError>)
    }

    private func lookForAll(_ call: StoreCall) -> Result<Credentials?, StoreError> {
        let looked = Result { () throws(StoreError) in try look(call) }
        let outcome = looked.map { $0?.credentials }
        // Who does not want it any more, or has no time left, leaves it to the next.
        let isOver = (try? call.cancellation.check(at: address)) == nil
        state.signal { state in
            state.isLooking = false
            if case .success(let found?) = looked {
                state.known = found.credentials
                state.place = found.place
            }
            if isOver { return }
            state.looks += 1
            state.outcome = outcome
        }
        return outcome
    }

    private func look(_ call: StoreCall) throws(StoreError)
        -> (credentials: Credentials, place: Place)?
    {
        for place in places {
            if let found = try look(in: place, call) { return (found, place) }
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
