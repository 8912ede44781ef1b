import Documents

/// Compares colours that are written differently.
enum ValueColor {
    /// Whether both are texts of the same colour.
    static func isSame(_ left: String, _ right: String) -> Bool {
        guard let left = Color(left), let right = Color(right) else { return false }
        return left == right
    }
}
