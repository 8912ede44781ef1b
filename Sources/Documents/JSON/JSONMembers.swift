/// Gathers the members of an object, of each key the last. Finding a key again takes a pass over
/// the members while they are few, and a table beyond that.
struct JSONMembers {
    private var members: [JSONObject.Member] = []
    /// Of each key its index and 1, at a place its hash tells or behind; 0 for none. A dictionary would
    /// take more memory than the members themselves.
    private var table: [UInt32] = []

    private static let tabulatedFrom = 16

    var isEmpty: Bool { members.isEmpty }

    /// The object of all that was appended.
    consuming func object() -> JSONObject {
        members.trim()
        return JSONObject(uniqueMembers: members)
    }

    /// Appends a member, or replaces the value of its key and returns false.
    mutating func append(_ key: String, _ value: JSONValue) -> Bool {
        guard members.count >= Self.tabulatedFrom else {
            if let index = members.firstIndex(where: { $0.key.isExactly(key) }) {
                members[index].value = value
                return false
            }
            members.append(JSONObject.Member(key, value))
            return true
        }
        if table.count < 2 * (members.count + 1) { tabulate() }
        let place = place(of: key)
        if table[place] > 0 {
            members[Int(table[place]) - 1].value = value
            return false
        }
        members.append(JSONObject.Member(key, value))
        table[place] = UInt32(members.count)
        return true
    }

    /// Makes the table anew with room for as many keys again.
    private mutating func tabulate() {
        table = [UInt32](repeating: 0, count: max(4 * Self.tabulatedFrom, 2 * table.count))
        for index in members.indices {
            table[place(of: members[index].key)] = UInt32(index + 1)
        }
    }

    /// Where a key is in the table, or would be.
    private func place(of key: String) -> Int {
        var hasher = Hasher()
        key.hashExactly(into: &hasher)
        let mask = table.count - 1
        var place = hasher.finalize() & mask
        while table[place] > 0, !members[Int(table[place]) - 1].key.isExactly(key) {
            place = (place + 1) & mask
        }
        return place
    }
}

extension Array {
    /// Gives room back that was taken for more elements. Of long arrays it was never touched, and they
    /// would be there twice meanwhile.
    mutating func trim() {
        if count < capacity, count <= 1_024 { self = map(\.self) }
    }
}
