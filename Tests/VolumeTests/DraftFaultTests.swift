import Glibc
import SystemCalls
import Testing

/// Beginning a draft where that fails.
@Suite(.serialized) struct DraftFaultTests {
    @Test func `what may be a draft is not written as none where the disk fails`() throws {
        let file = try OwnedDescriptor.open("/dev/null", O_WRONLY)
        for error in [EIO, ENOMEM, ENOTCONN, ETIMEDOUT] {
            FaultInjection.arm(after: 1, error: error)
            defer { FaultInjection.arm(after: 0, error: 0) }
            #expect(throws: Errno(error)) {
                try MountDraft.write(file) { (_) throws(Errno) in
                    Issue.record("it is written after \(Errno(error))")
                }
            }
        }
    }

    @Test func `who cannot have a draft writes without one`() throws {
        let file = try OwnedDescriptor.open("/dev/null", O_WRONLY)
        for error in [EBUSY, EOPNOTSUPP] {
            FaultInjection.arm(after: 1, error: error)
            defer { FaultInjection.arm(after: 0, error: 0) }
            var said: Bool?
            try MountDraft.write(file) { (isDraft) throws(Errno) in said = isDraft }
            #expect(said == false)
        }
    }
}
