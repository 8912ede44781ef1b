internal import Glibc

/// What this process may do beside what its user may.
public enum Capabilities {
    /// CAP_SYS_ADMIN, as the kernel numbers it.
    public static let systemAdministration = 21

    /// Whether the capability is in effect; `false` if the kernel does not tell.
    public static func has(_ number: Int) -> Bool {
        Processes.status(of: "self", "CapEff").map { contains($0, number) } ?? false
    }

    /// Whether permissions are no bounds for root: it has the capabilities for that, and not only for the users
    /// of a user namespace.
    public static var areThoseOfRoot: Bool {
        // CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER, CAP_FSETID.
        guard let text = Processes.status(of: "self", "CapEff"),
            (0...4).allSatisfy({ contains(text, $0) }),
            let file = try? OwnedDescriptor.open("/proc/self/uid_map", O_RDONLY),
            let bytes = try? WholeFile.read(file)
        else { return false }
        let ranges = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return ranges == ["0", "0", "4294967295"]
    }

    /// Whether `text`, a set as the kernel shows it, has the capability.
    static func contains(_ text: String, _ number: Int) -> Bool {
        UInt64(text, radix: 16).map { $0 >> UInt64(number) & 1 == 1 } ?? false
    }
}
