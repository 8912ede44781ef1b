internal import CFuseShim

extension FuseSession {
    /// A request in the mount of an app, with what it is about.
    static func appContext(
        _ request: fuse_req_t?
    ) -> (session: FuseSession, request: Request, granted: GrantedTree)? {
        guard let pointer = request, let session = FuseSession.of(pointer),
            let granted = session.granted
        else { return nil }
        return (session, Request(pointer: pointer), granted)
    }
}
