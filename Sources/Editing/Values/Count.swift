/// Numbers of things in words.
enum Count {
    /// `1 solid`, `2 solids`
    static func words(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}
