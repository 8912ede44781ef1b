internal import Glibc
internal import PathText

/// What processes started here know of their surroundings.
package enum WorkerEnvironment {
    /// Where fonts are looked for, and nothing else of what this process was given.
    package static var ofWorker: [String: String] {
        let passed = [
            "HOME", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "XDG_DATA_HOME",
            "XDG_DATA_DIRS", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "FONTCONFIG_FILE",
            "FONTCONFIG_PATH",
        ]
        var result = ["SWIFT_BACKTRACE": "enable=no"]
        for name in passed { result[name] = variable(name) }
        return result
    }

    /// A variable of this process; nil if it is not set or empty.
    package static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cPath: $0) }), !value.isEmpty else {
            return nil
        }
        return value
    }
}
