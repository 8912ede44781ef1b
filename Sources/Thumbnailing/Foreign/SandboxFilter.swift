internal import CWorkerShim
internal import SystemCalls

/// Keeps a program in the sandbox from what its own namespaces do not keep it from: leases of the document,
/// with which whoever opens that would wait for the program's end, and the user's keys in the kernel.
///
/// bubblewrap reads the filter from its standard input; where the machine is not known there is none.
final class SandboxFilter: Sendable {
    private static let mostBytes = 1_024

    /// For bubblewrap's standard input.
    let reader: OwnedDescriptor
    /// What bubblewrap is told of it.
    let arguments: [String]

    init() throws(Errno) {
        let ends = try Descriptors.socketPair()
        reader = OwnedDescriptor(adopting: ends.0)
        // It ends with this.
        let writer = OwnedDescriptor(adopting: ends.1)
        var filter = [UInt8](repeating: 0, count: Self.mostBytes)
        let count = shim_sandbox_filter(&filter, filter.count)
        try Descriptors.write(Array(filter[..<count]), to: writer.number)
        arguments = count > 0 ? ["--seccomp", "0"] : []
    }
}
