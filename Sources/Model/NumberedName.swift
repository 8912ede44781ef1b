/// Names that are told apart by a number.
package enum NumberedName {
    /// `a.txt` and 2 make `a (2).txt`.
    package static func with(_ number: Int, _ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else {
            return "\(name) (\(number))"
        }
        return "\(name[..<dot]) (\(number))\(name[dot...])"
    }
}
