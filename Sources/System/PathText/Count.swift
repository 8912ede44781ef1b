/// Numbers of things in words.
package enum Count {
    /// `1 solid`, `2 solids`
    ///
    /// - Parameter plural: what more than one are called, where that is not the noun with an s.
    package static func words(
        _ count: some BinaryInteger, _ noun: String, plural: String? = nil
    ) -> String {
        "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
    }
}
