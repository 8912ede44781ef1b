/// How addresses and URLs begin.
extension StringProtocol {
    /// What follows a scheme, which may be written in letters of either case; `nil` if it begins otherwise.
    ///
    /// - Parameter scheme: in lower case, with what stands behind it, as in `http://`.
    func afterScheme(_ scheme: String) -> SubSequence? {
        let count = scheme.utf8.count
        guard let end = utf8.index(startIndex, offsetBy: count, limitedBy: endIndex),
            self[..<end].lowercased() == scheme
        else { return nil }
        return self[end...]
    }
}

extension StoreAddress {
    private static let schemes = ["s3://", "dav://", "davs://"]

    /// A text with its scheme in lower case, in which addresses are kept and compared; `nil` if it does not
    /// begin as an address does.
    package static func usualForm(_ text: String) -> String? {
        // No URL, and names of folders may begin so in other letters.
        if text.hasPrefix("folder:") { return text }
        for scheme in schemes {
            if let rest = text.afterScheme(scheme) { return scheme + rest }
        }
        return nil
    }
}
