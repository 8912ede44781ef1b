internal import CKernel
internal import Glibc

/// A pipe whose ends no program inherits by accident.
package struct Pipe {
    /// Where its bytes come out.
    package let reading: Int32
    /// Where its bytes go in.
    package let writing: Int32

    /// Makes one.
    package init() throws {
        var ends: [Int32] = [-1, -1]
        let result = ends.withUnsafeMutableBytes {
            kernel_call(
                Int(SYS_pipe2), Int(bitPattern: $0.baseAddress), Int(O_CLOEXEC), 0, 0, 0, 0)
        }
        guard result == 0 else { throw TestSetupFailure("pipe: \(errorName(Int32(-result)))") }
        reading = ends[0]
        writing = ends[1]
    }

    /// Closes the end where bytes come out.
    package func closeReading() { close(reading) }
    /// Closes the end where bytes go in.
    package func closeWriting() { close(writing) }
}

/// Two connected sockets that no program inherits by accident. Who writes to a pipe that nobody reads any
/// more is ended by a signal; who sends to a socket can ask for an error.
package struct SocketPair {
    /// The end of this process.
    package let ours: Int32
    /// The end for a program.
    package let theirs: Int32

    /// Makes one.
    package init() throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw TestSetupFailure("socketpair: \(errorName(errno))")
        }
        (ours, theirs) = (ends[0], ends[1])
    }

    /// Closes the end for a program, which has its own by then.
    package func closeTheirs() { close(theirs) }
}

/// What a test needs could not be had; this is not the product's fault.
package struct TestSetupFailure: Error, CustomStringConvertible {
    /// What was missing.
    package let description: String

    /// Says what was missing.
    package init(_ description: String) {
        self.description = description
    }
}
