/// A name and its secret. Cannot be printed: neither by interpolation nor by `dump`.
package struct Credentials: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    /// A user's name, or an access key id.
    package var identity: String
    package var secret: String
    /// Goes along with temporary S3 credentials.
    package var sessionToken: String?

    package init(identity: String, secret: String, sessionToken: String? = nil) {
        self.identity = identity
        self.secret = secret
        self.sessionToken = sessionToken
    }

    package var description: String { "(credentials)" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
