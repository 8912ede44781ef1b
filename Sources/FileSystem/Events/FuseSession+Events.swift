internal import CFuseShim
internal import Glibc
internal import Model
internal import SystemCalls

/// Requests on `.shapeedit/events`. Reads that have to wait are parked: no thread waits with them.
extension FuseSession {
    /// Opens the file, for reading what happens after `sequence`, or from now on.
    func openEvents(_ request: Request, after sequence: ChangeSequence?) {
        let handle = volume.events.open(after: sequence)
        // A stream has no position, and so no lock that a read which waits would hold.
        let flags = UInt32(SHIM_FOPEN_DIRECT_IO | SHIM_FOPEN_STREAM)
        if shim_reply_open(request.pointer, handle, flags, 0) != 0 { volume.events.close(handle) }
    }

    /// Answers a read of an open file of events.
    func readEvents(
        _ request: Request, _ info: UnsafeMutablePointer<fuse_file_info>, _ size: Int
    ) throws(Errno) {
        let events = volume.events
        guard let stream = events.stream(info.pointee.fh) else { throw Errno(EBADF) }
        let waits = info.pointee.flags & O_NONBLOCK == 0
        let number = stream.expect()
        answerInterrupts(
            of: request, .events, VolumeEvents.ticket(info.pointee.fh, number))
        stream.read(request, size, number, waits: waits)
        events.stir()
    }

    /// Answers poll(2): of events whether there are any, of everything else that it is ready.
    func poll(
        _ request: Request, _ number: UInt64, _ info: UnsafeMutablePointer<fuse_file_info>?,
        _ handle: OpaquePointer?
    ) {
        if number & VirtualTree.bit != 0, case .events? = try? virtual.node(number), let info,
            let stream = volume.events.stream(info.pointee.fh)
        {
            stream.poll(request, handle)
            volume.events.stir()
            return
        }
        if let handle { fuse_pollhandle_destroy(handle) }
        fuse_reply_poll(request.pointer, UInt32(POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM))
    }
}
