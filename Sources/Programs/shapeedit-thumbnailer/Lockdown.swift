import CWorkerShim
import Drawing
import Glibc
import PathText
import SystemCalls
import Thumbnailing

/// Gives up what drawing does not need, for good.
enum Lockdown {
    private static let addressSpace: UInt64 = 1 << 30
    private static let fileSize: UInt64 = 16 << 20
    private static let descriptors: UInt64 = 64
    /// Processor seconds for one document.
    static let processorSeconds: UInt32 = 10

    /// Limits that hold in any surroundings, for one document from a file to a file.
    static func limit() -> Confinement {
        var result: Confinement = []
        if shim_no_new_privileges() == 0 { result.insert(.noNewPrivileges) }
        let limits = [
            shim_limit_address_space(addressSpace), shim_limit_file_size(fileSize),
            shim_limit_descriptors(descriptors), shim_limit_core(),
        ]
        if limits.allSatisfy({ $0 == 0 }) { result.insert(.limits) }
        return result
    }

    /// All there is: after it only fonts can be read, and nothing be reached but open descriptors.
    static func confine() -> Confinement {
        var result = limit()
        let isBound = readable.withProgramWords { paths in
            shim_landlock(paths.map { UnsafePointer($0) }, paths.count - 1) == 0
        }
        if isBound { result.insert(.landlock) }
        if shim_seccomp() == 0 { result.insert(.seccomp) }
        return result
    }

    /// Where fonts, their settings and what libraries load late can be.
    private static var readable: [String] {
        var result = [
            "/usr", "/lib", "/lib64", "/etc/fonts", "/etc/ld.so.cache", "/etc/localtime",
            "/var/cache/fontconfig", "/var/lib/fonts", "/dev/null", "/dev/urandom", "/proc/self",
        ]
        let home = variable("HOME")
        if let home { result += ["\(home)/.fonts", "\(home)/.fonts.conf"] }
        let folders = [
            ("XDG_DATA_HOME", ".local/share", "fonts"),
            ("XDG_CONFIG_HOME", ".config", "fontconfig"),
            ("XDG_CACHE_HOME", ".cache", "fontconfig"),
        ]
        for (name, standard, folder) in folders {
            if let base = variable(name) ?? home.map({ "\($0)/\(standard)" }) {
                result.append("\(base)/\(folder)")
            }
        }
        for name in ["FONTCONFIG_FILE", "FONTCONFIG_PATH"] {
            if let path = variable(name) { result.append(path) }
        }
        return result + FontFiles.paths(outside: result)
    }

    private static func variable(_ name: String) -> String? {
        guard let value = getenv(name).map({ String(cPath: $0) }), value.hasPrefix("/") else {
            return nil
        }
        return value
    }
}
