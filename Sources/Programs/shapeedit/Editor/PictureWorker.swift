import Editor
import SystemCalls

/// Draws pictures on a thread of its own, so that keys never wait for them; of several that are
/// wanted meanwhile, only the last.
final class PictureWorker: Sendable {
    private let wanted = Monitor<RenderingRequest?>(nil)

    init(_ inbox: EventInbox<EditorEvent>) {
        let wanted = wanted
        Threads.start("pictures") {
            while true {
                let request = wanted.wait { request in
                    defer { request = nil }
                    return request
                }
                if let request { inbox.put(.pictured(Rendering(request))) }
            }
        }
    }

    func draw(_ request: RenderingRequest) { wanted.signal { $0 = request } }
}
