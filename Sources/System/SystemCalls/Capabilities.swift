internal import Glibc

/// What this process may do beside what its user may.
public enum Capabilities {
    /// CAP_SYS_ADMIN, as the kernel numbers it.
    public static let systemAdministration = 21

    /// Whether the capability is in effect; `false` if the kernel does not tell.
    public static func has(_ number: Int) -> Bool {
        guard let file = try? OwnedDescriptor.open("/proc/self/status", O_RDONLY) else {
            return false
        }
        var bytes = [UInt8](repeating: 0, count: 8_192)
        let count = bytes.withUnsafeMutableBytes { (try? file.read(into: $0, at: 0)) ?? 0 }
        for line in bytes[..<count].split(separator: UInt8(ascii: "\n")) {
            let text = String(decoding: line, as: UTF8.self)
            guard text.hasPrefix("CapEff:\t") else { continue }
            return UInt64(text.dropFirst(8), radix: 16).map { $0 >> UInt64(number) & 1 == 1 }
                ?? false
        }
        return false
    }
}
