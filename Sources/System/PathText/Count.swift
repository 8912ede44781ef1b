/// Numbers of things in words.
package enum Count {
    /// `1 solid`, `2 solids`
    package static func words(_ count: some BinaryInteger, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}
