/// What a claim is for. The table in the Coordination page says what each means.
package enum ClaimAccess: String, Sendable, CaseIterable {
    case read
    case readWithoutChanges
    case readMetadata
    case readForUploading
    case write
    case writeMerging
    case writeDeleting
    case writeMoving
    case writeReplacing
    case writeMetadata

    /// Whether it excludes all others.
    package var writes: Bool {
        switch self {
        case .read, .readWithoutChanges, .readMetadata, .readForUploading: false
        default: true
        }
    }

    /// Whether it covers what is below a directory.
    package var coversBelow: Bool {
        self == .writeDeleting || self == .writeMoving || self == .writeReplacing
    }

    /// Whether only attributes are concerned: whoever reads or writes contents without a claim is
    /// not in the way.
    package var isMetadataOnly: Bool { self == .readMetadata || self == .writeMetadata }

    /// What presenters of the item are asked for; `nil` if nothing.
    package var preparation: ClaimPreparation? {
        switch self {
        case .read, .readForUploading: .init(lets: .reader, saves: true)
        case .readWithoutChanges: .init(lets: .reader)
        case .write, .writeMoving: .init(lets: .writer)
        case .writeMerging: .init(lets: .writer, saves: true)
        case .writeDeleting, .writeReplacing: .init(lets: .writer, accommodatesDeletion: true)
        case .readMetadata, .writeMetadata: nil
        }
    }
}

/// What a presenter does before a claim is granted.
package struct ClaimPreparation: Hashable, Sendable {
    /// Who is let in.
    package enum Guest: String, Sendable {
        case reader
        case writer
    }
    package var lets: Guest
    /// What is not saved yet is saved.
    package var saves = false
    /// The item is about to go.
    package var accommodatesDeletion = false

    package init(lets: Guest, saves: Bool = false, accommodatesDeletion: Bool = false) {
        self.lets = lets
        self.saves = saves
        self.accommodatesDeletion = accommodatesDeletion
    }

    /// Both at once, for a presenter that several targets concern.
    func joined(_ other: ClaimPreparation) -> ClaimPreparation {
        ClaimPreparation(
            lets: lets == .writer || other.lets == .writer ? .writer : .reader,
            saves: saves || other.saves,
            accommodatesDeletion: accommodatesDeletion || other.accommodatesDeletion)
    }
}
