/// Where programs keep the tags that people give to files: words with commas between.
package enum ItemTags {
    /// The extended attribute.
    package static let attribute = Array("user.xdg.tags".utf8)

    /// Whether a tag is among those of an attribute's value, in any case of letters.
    ///
    /// - Parameter tag: in lower case.
    package static func contains(_ value: [UInt8], _ tag: String) -> Bool {
        String(decoding: value, as: UTF8.self).split(separator: ",").contains {
            $0.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased() == tag
        }
    }
}
