internal import Glibc
internal import PathText

extension CredentialSource {
    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cPath: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    private static var home: String { variable("HOME") ?? "/" }

    /// Where the credentials of an S3 store may be.
    convenience init(for address: S3Address) {
        let file =
            address.credentialsFile ?? Self.variable("AWS_SHARED_CREDENTIALS_FILE")
            ?? Self.home + "/.aws/credentials"
        let profile = Place.profile(
            file: file, name: address.profile ?? Self.variable("AWS_PROFILE") ?? "default")
        let environment = [
            Place.environment(
                identity: "AWS_ACCESS_KEY_ID", secret: "AWS_SECRET_ACCESS_KEY",
                token: "AWS_SESSION_TOKEN"),
            Place.environment(
                identity: "SHAPEEDIT_STORE_USER", secret: "SHAPEEDIT_STORE_PASSWORD", token: nil),
        ]
        let isNamed = address.profile != nil || address.credentialsFile != nil
        // What the address names is the only place: falling back to another account would be worse
        // than failing.
        let places =
            if let command = address.options.credentialCommand {
                [Place.command(command)]
            } else if isNamed {
                [profile]
            } else { environment + [profile] }
        self.init(places, address: address.description)
    }

    /// Where the credentials of a WebDAV store may be.
    convenience init(for address: WebDAVAddress) {
        let netrc = Place.netrc(
            file: address.netrcFile ?? Self.variable("NETRC") ?? Self.home + "/.netrc",
            host: address.origin.host, user: address.user)
        let environment = Place.environment(
            identity: "SHAPEEDIT_STORE_USER", secret: "SHAPEEDIT_STORE_PASSWORD", token: nil)
        let places =
            if let command = address.options.credentialCommand {
                [Place.command(command)]
            } else if address.netrcFile != nil {
                [netrc]
            } else { [environment, netrc] }
        self.init(places, address: address.description)
    }

    /// Why a server may refuse who asks, for the reason of an error: which credentials it was shown, or
    /// where there are none.
    func explanation(of status: Int) -> String {
        let refusal = status == 401 ? "" : "forbids that, or "
        if let place { return "it \(refusal)does not take the credentials in \(place)" }
        return status == 401
            ? "it asks for credentials, but there are none in \(allPlaces)"
            : "it forbids that, and \(absence)"
    }

    /// Where there are no credentials.
    var absence: String { "there are no credentials in \(allPlaces)" }

    private var allPlaces: String {
        let names = places.map(\.description)
        guard let last = names.last, names.count > 1 else { return names.joined() }
        return names.dropLast().joined(separator: ", ") + " or " + last
    }
}

extension CredentialSource.Place: CustomStringConvertible {
    /// Names the place, and nothing of what is there.
    var description: String {
        switch self {
        case .command(let words): "the output of \(words[0])"
        case .environment(let identity, let secret, _): "\(identity) and \(secret)"
        case .profile(let file, let name): "\(file) (profile \(name))"
        case .netrc(let file, let host, let user):
            "\(file) (machine \(host)\(user.map { ", login \($0)" } ?? ""))"
        }
    }
}
