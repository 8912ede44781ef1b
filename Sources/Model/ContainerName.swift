/// What a container can be called.
package enum ContainerName {
    /// Whether a container can have this name: one plain component of a path without spaces, not
    /// beginning with a dot or a dash, at most 200 bytes.
    package static func isValid(_ name: some StringProtocol) -> Bool {
        (1...200).contains(name.utf8.count) && !name.hasPrefix(".") && !name.hasPrefix("-")
            && name.unicodeScalars.allSatisfy {
                $0.value > 0x20 && $0 != "/" && !(0x7f..<0xa0).contains($0.value)
                    // A byte that is not UTF-8 is such a mark here (`PathText`).
                    && !(0xfdd0...0xfdef).contains($0.value)
            }
    }
}
