/// Places among neighbours, of which the last is in front.
enum Order {
    /// The new place, counted from 0, of a part for `front`, `back`, `forward`, `backward` or a
    /// number from 1.
    static func place(_ word: String, of index: Int, among count: Int) throws(EditError) -> Int {
        switch word.lowercased() {
        case "front": return count - 1
        case "back": return 0
        case "forward": return min(index + 1, count - 1)
        case "backward": return max(index - 1, 0)
        default:
            guard Int(word) != nil else {
                throw EditError(
                    .usage, at: "order",
                    NearNames.unknown(
                        "place", word, among: ["front", "back", "forward", "backward"])
                        + ", or a number from 1")
            }
            do throws(EditError) {
                return try ValueText.place(word, upTo: count) - 1
            } catch {
                throw error.at("order")
            }
        }
    }
}
