internal import Glibc

/// What this process may do beside what its user may.
public enum Capabilities {
    /// CAP_SYS_ADMIN, as the kernel numbers it.
    public static let systemAdministration = 21

    /// Whether the capability is in effect; `false` if the kernel does not tell.
    public static func has(_ number: Int) -> Bool {
        Processes.status(of: "self", "CapEff").map { contains($0, number) } ?? false
    }

    /// Whether `text`, a set as the kernel shows it, has the capability.
    static func contains(_ text: String, _ number: Int) -> Bool {
        UInt64(text, radix: 16).map { $0 >> UInt64(number) & 1 == 1 } ?? false
    }
}
