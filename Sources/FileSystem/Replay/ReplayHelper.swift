internal import Glibc
internal import SystemCalls
internal import Thumbnailing

/// The process that repeats changes on the mount. The daemon answers its requests with what is true
/// already; from anybody else they would change something.
package enum ReplayHelper {
    /// Bytes of a message: two paths and a little.
    static let messageBytes = 16 << 10

    /// Takes the path of the mount and then calls over a socket, and carries these out until the other side
    /// is gone; answers each call with an errno, or 0.
    package static func serve(_ socket: Int32) {
        let channel = WorkerChannel(OwnedDescriptor(adopting: socket))
        guard let mountPoint = (try? channel.receive(limit: messageBytes))?.message else { return }
        while let received = try? channel.receive(limit: messageBytes),
            let call = ReplayCall(message: received.message)
        {
            var code: Int32 = 0
            do throws(Errno) {
                try ReplayPlace.stand(in: mountPoint) { () throws(Errno) in try call.perform() }
            } catch {
                code = error.code
            }
            guard (try? channel.send([UInt8(truncatingIfNeeded: code)])) != nil else { return }
        }
    }
}
