internal import Glibc
internal import PathText

/// Words for programs that are started, as exec(2) takes them.
extension [String] {
    /// Calls `body` with pointers to the bytes of each, a NUL behind them, and `nil` at the end.
    package func withProgramWords<Result, Problem: Error>(
        _ body: ([UnsafeMutablePointer<CChar>?]) throws(Problem) -> Result
    ) throws(Problem) -> Result {
        let pointers = map { strdup($0.cPath) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return try body(pointers)
    }
}
