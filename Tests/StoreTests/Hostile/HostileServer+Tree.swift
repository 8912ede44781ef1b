import Stores

extension HostileServer {
    /// The WebDAV collection `/x` of this server.
    ///
    /// - Parameter isPatient: what fails is tried again.
    func tree(isPatient: Bool = true) throws -> any SourceTree {
        var settings = StoreSettings()
        settings.retries.firstWait = 0.01
        if !isPatient { settings.retries.total = 0 }
        return try StoreAddress(
            parsing: "dav://127.0.0.1:\(port)/x?netrc=/nonexistent"
        ).openTree(settings)
    }
}
