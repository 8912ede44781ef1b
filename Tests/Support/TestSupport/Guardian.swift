internal import Glibc
internal import Probing

/// A process that takes mounts and files away if the tests die before they do it themselves.
/// Not for several threads at once.
package final class Guardian {
    private let pipe: Pipe
    private let program: RunningProgram

    /// Watches over `directory`, which will be removed, and mounts, which will be detached first, in
    /// this order.
    package init(of directory: String, mounts: [String]) throws {
        pipe = try Pipe()
        program = try RunningProgram(
            ([try BuiltPrograms.probe(), "guard", directory] + mounts).map { Array($0.utf8) },
            input: pipe.reading)
    }

    /// All is done: nothing is left to take away.
    package func dismiss() {
        var done: UInt8 = 1
        write(pipe.writing, &done, 1)
        _ = program.wait(seconds: 10)
        pipe.closeWriting()
        pipe.closeReading()
    }
}
