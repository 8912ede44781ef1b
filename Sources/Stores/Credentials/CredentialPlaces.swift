internal import Glibc

extension CredentialSource {
    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
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
}
