import Documents

extension ArchiveLoss {
    /// What validate says of it; `noun` is what loses it by being changed.
    func words(for noun: String) -> String {
        "\(EscapedText.escaped(path)): \(typeName) that is not kept when the \(noun) is changed"
    }

    /// The change that an edit makes by losing it.
    var change: Change {
        Change(.value, EscapedText.escaped(path), before: typeName, after: nil)
    }
}
