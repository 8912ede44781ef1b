internal import Probing
package import Testing

extension Container {
    /// Has its programs use the functions of a C source in place of those of their libraries.
    package func preload(_ source: String, at location: SourceLocation = #_sourceLocation) throws {
        let library = "\(base)/preloaded.so"
        let line = "printf '%s' \"$0\" | cc -shared -fPIC -x c - -o '\(library)' -ldl"
        let compiled = try run(["sh", "-c", line, source])
        try #require(compiled.status == 0, "\(compiled)", sourceLocation: location)
        additionalEnvironment["LD_PRELOAD"] = library
    }
}
