/// The members of a JSON object in their order. Keys are unique, byte by byte.
public struct JSONObject: Hashable, Sendable {
    /// A key and its value.
    public struct Member: Hashable, Sendable {
        /// The key.
        @Exact public private(set) var key: String
        /// The value.
        public var value: JSONValue

        /// A member of its two parts.
        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// The members in order.
    public private(set) var members: [Member]

    /// An empty object.
    public init() { members = [] }

    /// An object of members whose keys are known to be unique.
    init(uniqueMembers: [Member]) { members = uniqueMembers }

    /// The value of a key. A new key goes to the end, setting nil removes the member. Looking up
    /// costs a pass over the members: objects of documents are small.
    public subscript(key: String) -> JSONValue? {
        get {
            // Looked at in place: a copy of each would be held and let go.
            members.withUnsafeBufferPointer { members in
                members.indices.first { members[$0].key.isExactly(key) }.map { members[$0].value }
            }
        }
        set {
            let index = members.firstIndex { $0.key.isExactly(key) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key, value))
            case (nil, nil): break
            }
        }
    }

    /// The keys in order.
    public var keys: [String] { members.map(\.key) }
    /// Whether it has no members.
    public var isEmpty: Bool { members.isEmpty }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object of a literal; of a key given twice the last value counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init()
        for (key, value) in elements { self[key] = value }
    }
}
