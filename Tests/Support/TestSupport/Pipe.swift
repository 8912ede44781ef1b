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

/// What a test needs could not be had; this is not the product's fault.
package struct TestSetupFailure: Error, CustomStringConvertible {
    /// What was missing.
    package let description: String

    /// Says what was missing.
    package init(_ description: String) {
        self.description = description
    }
}
