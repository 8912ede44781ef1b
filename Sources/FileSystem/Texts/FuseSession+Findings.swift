internal import CFuseShim
internal import Glibc
internal import Model
internal import SystemCalls

/// Requests on queries. Those that need words are parked until the words of what was published before
/// are there: no thread waits with them.
extension FuseSession {
    /// How long a query waits for words, in milliseconds.
    private static let patience: UInt64 = 2_000

    /// Opens the results of a query as of now.
    func openFindings(
        _ request: Request, _ query: Query, _ info: UnsafeMutablePointer<fuse_file_info>
    ) {
        let blank = info.pointee
        whenRead(request, for: query) { [self] in
            var info = blank
            do throws(Errno) {
                info.fh = virtual.hold(try volume.findings(query))
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
        guard case .query(let name) = try virtual.node(number),
            let query = try? volume.savedQuery(name)
        else {
            fuse_reply_open(request.pointer, info)
            return
        }
        let answer = info.pointee
        whenRead(request, for: query) {
            var answer = answer
            fuse_reply_open(request.pointer, &answer)
        }
    }

    private func whenRead(
        _ request: Request, for query: Query, then: @escaping @Sendable () -> Void
    ) {
        guard query.needsTexts, let texts = volume.texts else { return then() }
        let ticket = texts.ticket()
        answerInterrupts(of: request, .texts, ticket)
        texts.whenCurrent(ticket, patience: Self.patience, then: then)
    }
}
