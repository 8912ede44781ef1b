import Glibc

/// The version of the kernel that the tests run on.
public enum KernelVersion {
    /// Whether it has what came with Linux `major`.`minor`.
    public static func isAtLeast(_ major: Int, _ minor: Int) -> Bool {
        var system = utsname()
        uname(&system)
        let release = withUnsafeBytes(of: &system.release) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (major, minor)
    }
}
