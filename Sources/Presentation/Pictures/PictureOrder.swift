package import Content
package import Model

/// A picture that somebody wants to have drawn.
package struct PictureOrder: Sendable {
    /// The document, which has at most one order at a time.
    package var item: ItemNumber
    /// The version that is drawn.
    package var node: NodeNumber
    package var type: PictureType
    /// What the document is called, which tells foreign programs its type.
    package var fileName: String
    /// What is drawn if it is not published yet; nil for a published version.
    package var staged: ContentStamp?
    /// The sizes that are drawn.
    package var sizes: [PictureSize]
    /// Nothing is to be read of a content that is not here.
    package var isOnlyStored = false

    package init(
        item: ItemNumber, node: NodeNumber, type: PictureType, fileName: String,
        staged: ContentStamp? = nil
    ) {
        self.item = item
        self.node = node
        self.type = type
        self.fileName = fileName
        self.staged = staged
        sizes = staged == nil ? PictureSize.allCases : PictureSize.published
    }

    /// Whether it is for what was published without its largest picture.
    package var isCompletion: Bool { !sizes.contains(.small) }

    /// Whether it is the same drawing.
    func isSame(_ other: PictureOrder) -> Bool {
        node == other.node && type == other.type && staged == other.staged
    }
}

/// A content, for the process that draws it.
package enum PictureInput: Sendable {
    /// All of it.
    case bytes([UInt8])
    /// A descriptor that can only read, and where the file lies: not in the mount, for which a
    /// drawing must not wait.
    case file(SharedDescriptor, path: String)
    /// A photo that is not here: the smallest picture is made of the preview in it, if there is one.
    case photo(DistantPhoto)
    /// Its pictures, as ``PictureOutcome/file(_:)`` has them: nothing is to be drawn.
    case pictures([UInt8])
}

/// A photo whose content is not here, but can be read in parts.
package struct DistantPhoto: Sendable {
    /// Its size, in bytes.
    var size: Int
    /// Gives bytes of it; nil if they cannot be had now. Waits for the store.
    var read: @Sendable (Range<Int>) -> [UInt8]?

    package init(size: Int, read: @escaping @Sendable (Range<Int>) -> [UInt8]?) {
        self.size = size
        self.read = read
    }
}

/// What came of an order.
package enum PictureOutcome: Sendable {
    case drawn([PictureSize: [UInt8]])
    /// Drawn elsewhere, as a file.
    case fetched([UInt8])
    /// The document has no picture, and will not have one by another try.
    case failed(String)
    /// The program was told to end, or killed, more than once: another time it may not be.
    case interrupted
    /// Nothing can be said about the document: the program is missing, or nobody waits any more.
    case nothing

    /// The file to keep of it; nil if there is nothing to keep.
    package func file(_ type: PictureType) -> [UInt8]? {
        switch self {
        case .drawn(let pictures): PictureFile.bytes(type, pictures)
        case .fetched(let file): file
        case .failed(let reason): PictureFile.bytes(type, failure: reason)
        case .interrupted, .nothing: nil
        }
    }
}

/// Whose pictures a queue draws. Called on the queue's threads, with no lock held.
package protocol PictureClient: AnyObject, Sendable {
    /// The content of a version, which stays until ``letGo(_:)``; nil if the version is gone, or has
    /// its picture already.
    func take(_ order: PictureOrder) -> PictureInput?
    /// What was taken is not needed any more.
    func letGo(_ node: NodeNumber)
    /// Keeps what came of an order; afterwards it counts as done.
    func keep(_ outcome: PictureOutcome, of order: PictureOrder)
    /// Tells others, after the order counts as done.
    func ended(_ order: PictureOrder)
}
