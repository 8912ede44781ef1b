internal import CFuseShim
internal import Glibc
internal import Logging
package import Model
internal import PathText
internal import SystemCalls

/// A mount of a volume: libfuse's session, the handlers' context, and the kernel's side of it.
package final class FuseSession: @unchecked Sendable {
    // Unchecked because the pointers are set before the first request and never change.

    /// How a mount is made.
    package struct Options: Sendable {
        /// Options for fuse_session_new, such as `allow_other`.
        package var fuse: [String] = []
        package var passthrough = true
        /// Worker threads. Requests that wait are parked, so a few are enough.
        package var threads: UInt32 = 10
        /// For the mount of an app: who may grant it documents.
        package var owners: GrantOwners?
        package init() {}

        /// What the last `max_read=` says; 0 without one.
        var largestRead: UInt32 {
            let name = "max_read="
            return fuse.last { $0.hasPrefix(name) }.flatMap { UInt32($0.dropFirst(name.count)) }
                ?? 0
        }
    }

    let volume: Volume
    let virtual: VirtualTree
    /// What other containers grant; nil for a mount that is no app's.
    let granted: GrantedTree?
    private var session: OpaquePointer?
    private let connection: UnsafeMutablePointer<shim_connection>
    private let mountPoint: String
    /// The mount's, as the kernel names it; nil where it does not tell.
    private var device: String?
    /// The most bytes of a read, as the mount option says; 0: as many as the kernel likes.
    private let largestRead: UInt32
    /// The kernel said that this process may not lend it files.
    private let refused = Lock(false)
    let ringReads = RingReads()
    private var whenServed: () -> Void = {}

    package init(_ volume: Volume, at mountPoint: String, _ options: Options) throws(Failure) {
        self.volume = volume
        self.mountPoint = mountPoint
        largestRead = options.largestRead
        virtual = VirtualTree(volume)
        granted = options.owners.map { GrantedTree($0) }
        connection = .allocate(capacity: 1)
        connection.initialize(to: shim_connection())
        // In a user namespace the capability may not be enough: `registerBacking` finds that out.
        let mayPass = Capabilities.has(Capabilities.systemAdministration)
        connection.pointee.want_passthrough = options.passthrough && mayPass ? 1 : 0
        connection.pointee.want_direct_mapping = volume.mayPromise ? 1 : 0
        let needsPermissions = options.needsPermissions
        connection.pointee.root_only = needsPermissions ? 0 : 1
        try mount(options, needsPermissions: needsPermissions)
        volume.pictures?.attach(virtual)
        volume.followQueries(virtual, granted)
    }

    private func mount(_ options: Options, needsPermissions: Bool) throws(Failure) {
        let own =
            ["fsname=shapeedit", "subtype=shapeedit"]
            + (needsPermissions ? ["default_permissions"] : [])
        let words = ["shapeedit"] + (own + options.fuse).flatMap { ["-o", $0] }
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        var operations = granted == nil ? Self.operations() : Self.replayingAppOperations()
        session = pointers.withUnsafeMutableBufferPointer { words in
            var arguments = fuse_args(
                argc: Int32(words.count), argv: words.baseAddress, allocated: 0)
            defer { fuse_opt_free_args(&arguments) }
            return fuse_session_new(
                &arguments, &operations, MemoryLayout<fuse_lowlevel_ops>.size,
                Unmanaged.passUnretained(self).toOpaque())
        }
        guard let session else {
            throw Failure(.usage, "the mount options were not understood")
        }
        // Before: a process that ended in between would leave a mount that nobody serves.
        fuse_set_signal_handlers(session)
        if fuse_session_mount(session, mountPoint.cPath) != 0 {
            fuse_remove_signal_handlers(session)
            fuse_session_destroy(session)
            throw Failure(.unavailable, "\(mountPoint) could not be mounted (the reason is above)")
        }
        let result = shim_attach(session, connection)
        if result != 0 {
            fuse_session_unmount(session)
            fuse_remove_signal_handlers(session)
            throw Failure(.software, "libfuse refused the connection: \(Errno(-result))")
        }
        volume.channel = self
        device = topmost()?.device
    }

    /// What is mounted at the mount point, over all else there.
    private func topmost() -> KernelMount? { KernelMount.topmost(at: mountPoint) }

    /// Starts the threads that serve the volume; the process ends where there can be none.
    package func start() {
        Memory.serve()
        volume.start()
        volume.grantedResults?.start()
    }

    /// Serves requests until the mount is gone or a signal says stop, after ``start()``.
    ///
    /// - Parameter served: called once, before the first request is answered.
    /// - Returns: why no request could be served.
    package func run(threads: UInt32, whenServed served: @escaping () -> Void) -> Failure? {
        guard let session else { return nil }
        whenServed = served
        // Leases are only asked for to learn whether they can be had.
        signal(SIGIO, SIG_IGN)
        let result = shim_loop(session, threads)
        fuse_remove_signal_handlers(session)
        // That made a broken pipe deadly again: libfuse complains to standard error, which nobody
        // may read, when a notification comes after the end of the mount.
        signal(SIGPIPE, SIG_IGN)
        switch -result {
        // Who starts no thread at all tells no reason here, but on standard error.
        case 1: return Failure(.system, "\(mountPoint): no thread could be started to serve it")
        // Below 0 it was the signal that said stop. The other is the end of `umount -f`.
        case ...0, ECONNABORTED: return nil
        case let code: return Failure(.system, "\(mountPoint) is not served: \(Errno(code))")
        }
    }

    /// Takes the mount away; what is open fails from now on.
    package func unmount() {
        guard let session else { return }
        takeAway(session)
        volume.grantedResults?.stop()
        granted?.forwarding.stop()
        volume.stop()
        granted?.pages.stop()
        fuse_session_destroy(session)
        self.session = nil
    }

    /// Not by libfuse. It gives the number of the kernel's device back first: threads that tell the kernel
    /// something meanwhile would write it into whatever file is opened next. And it takes away what is at the
    /// mount point, be it another's: this mount may have been taken out of sight before (`umount -l`) while
    /// it was in use, or something is mounted over it.
    private func takeAway(_ session: OpaquePointer) {
        let isMounted = shim_is_mounted(connection) != 0
        guard shim_abandon(connection) == 0 else { return fuse_session_unmount(session) }
        guard isMounted, device == nil || topmost()?.device == device else { return }
        if umount2(mountPoint.cPath, Int32(MNT_DETACH)) == 0 { return }
        // An ordinary user.
        _ = try? MountHelper.unmount(mountPoint, detaching: true)
    }

    /// INIT: what the kernel may do by itself.
    func negotiate(_ info: UnsafeMutablePointer<fuse_conn_info>) {
        func want(_ flag: Int32, _ on: Bool = true) {
            let bit = UInt32(bitPattern: flag)
            if on, info.pointee.capable & bit != 0 { info.pointee.want |= bit }
            if !on { info.pointee.want &= ~bit }
        }
        for flag in [
            FUSE_CAP_ASYNC_READ, FUSE_CAP_ATOMIC_O_TRUNC, FUSE_CAP_EXPORT_SUPPORT,
            FUSE_CAP_SPLICE_WRITE, FUSE_CAP_FLOCK_LOCKS, FUSE_CAP_POSIX_LOCKS,
            FUSE_CAP_READDIRPLUS, FUSE_CAP_READDIRPLUS_AUTO, FUSE_CAP_PARALLEL_DIROPS,
            FUSE_CAP_CACHE_SYMLINKS, FUSE_CAP_EXPLICIT_INVAL_DATA,
        ] { want(Int32(flag)) }
        // A request that comes through a pipe costs a call more, and O_TMPFILE is not seen there.
        want(Int32(FUSE_CAP_SPLICE_READ), false)
        // A process that reads with O_DIRECT would wait in a way that no signal ends, not even SIGKILL.
        want(Int32(FUSE_CAP_ASYNC_DIO), false)
        // A node's pages never go stale behind the kernel's back; writers are not buffered.
        want(Int32(FUSE_CAP_AUTO_INVAL_DATA), false)
        want(Int32(FUSE_CAP_WRITEBACK_CACHE), false)
        want(Int32(FUSE_CAP_HANDLE_KILLPRIV), false)
        // Set-user-id bits are handled here, as the write's own rules say.
        info.pointee.max_write = 1 << 20
        info.pointee.max_readahead = 1 << 20
        // libfuse ends a mount whose option it is not told of here, too.
        info.pointee.max_read = largestRead
        // Releases are background requests: a full queue of reads must not delay a publish.
        info.pointee.max_background = 512
        info.pointee.congestion_threshold = 384
        info.pointee.time_gran = 1
        whenServed()
    }
}

extension FuseSession: KernelChannel {
    /// Whether the kernel serves reads and writes of local contents by itself.
    package var passesThrough: Bool {
        connection.pointee.has_passthrough != 0 && !refused.withLock { $0 }
    }

    var mapsDirectly: Bool { connection.pointee.has_direct_mapping != 0 }

    func registerBacking(_ descriptor: Int32) -> Int32? {
        let backing = shim_backing_open(connection, descriptor)
        if backing > 0 { return backing }
        // Without CAP_SYS_ADMIN it never will be: do not ask for every open.
        if errno == EPERM { refused.withLock { $0 = true } }
        return nil
    }

    func releaseBacking(_ backing: Int32) { _ = shim_backing_close(connection, backing) }

    func invalidateEntry(parent: UInt64, name: [UInt8]) {
        guard let session else { return }
        // It is sent with the zero behind the name.
        _ = fuse_lowlevel_notify_inval_entry(session, parent, name.cPath, name.count)
    }

    func invalidate(node: UInt64, pages: Bool) {
        guard let session else { return }
        _ = fuse_lowlevel_notify_inval_inode(session, node, pages ? 0 : -1, 0)
    }

    func announceDeletion(parent: UInt64, node: UInt64, name: [UInt8]) {
        guard let session else { return }
        _ = fuse_lowlevel_notify_delete(session, parent, node, name.cPath, name.count)
    }
}
