internal import Probing
package import Testing

extension Container {
    /// A disk on which each entry takes a while, to be preloaded.
    package static let slowRename = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <unistd.h>
        int rename(const char *from, const char *to) {
            int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
            usleep(100000);
            return next(from, to);
        }
        """

    /// Has its programs use the functions of a C source in place of those of their libraries.
    package func preload(_ source: String, at location: SourceLocation = #_sourceLocation) throws {
        let library = "\(base)/preloaded.so"
        let line = "printf '%s' \"$0\" | cc -shared -fPIC -x c - -o '\(library)' -ldl"
        let compiled = try run(["sh", "-c", line, source])
        try #require(compiled.status == 0, "\(compiled)", sourceLocation: location)
        additionalEnvironment["LD_PRELOAD"] = library
    }
}
