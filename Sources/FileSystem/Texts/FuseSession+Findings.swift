internal import CFuseShim
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// Requests on queries. Those that need words are parked until the words of what was published before
/// are there: no thread waits with them.
extension FuseSession {
    /// Opens the results of a query as of now; with an application, those among the documents that are
    /// granted to it.
    func openFindings(
        _ request: Request, _ query: Query, grantedTo application: String? = nil,
        _ info: UnsafeMutablePointer<fuse_file_info>
    ) {
        let blank = info.pointee
        // What was granted here is not granted on: nobody else is asked for an application.
        whenReady(request, for: query, asks: application == nil) { [self] in
            var info = blank
            do throws(Errno) {
                let text =
                    if let application {
                        try volume.grantedFindings(query, to: application)
                    } else {
                        try volume.findings(query)
                    }
                info.fh = virtual.hold(text)
                info.direct_io = 1
                if fuse_reply_open(request.pointer, &info) != 0 {
                    virtual.letGoOfText(info.fh)
                }
            } catch { request.fail(error) }
        }
    }

    /// Opens a folder below `.shapeedit`; that of a saved query when the words are there.
    func openVirtualDirectory(
        _ request: Request, _ number: UInt64, _ info: UnsafeMutablePointer<fuse_file_info>
    ) throws(Errno) {
        let node = try virtual.node(number)
        let answer = info.pointee
        let open: @Sendable () -> Void = { [virtual] in
            virtual.whenPictured(node) {
                var answer = answer
                fuse_reply_open(request.pointer, &answer)
            }
        }
        guard case .query(let name) = node, let query = try? volume.savedQuery(name.text) else {
            return open()
        }
        whenReady(request, for: query, asks: true, then: open)
    }

    /// Runs `then` when all that the query can find is known: the words of documents and, if it `asks`,
    /// what other containers have granted.
    private func whenReady(
        _ request: Request, for query: Query, asks: Bool, then: @escaping @Sendable () -> Void
    ) {
        let ask: @Sendable () -> Void = { [volume] in
            if asks { volume.whenAsked(query, then) } else { then() }
        }
        guard query.tellsTitles, let texts = volume.texts else { return ask() }
        let ticket = texts.ticket()
        answerInterrupts(of: request, .texts, ticket)
        texts.whenCurrent(ticket, then: ask)
    }
}
