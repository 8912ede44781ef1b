/// One line of work: claims of the same purpose never block one another.
package struct ClaimPurpose: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// What holds claims together: while one of them waits, the others stay.
enum ClaimTie: Hashable {
    case purpose(ClaimPurpose)
    case line(UInt64)
}

/// Names a claim from the request to its end; later ones are larger.
package struct ClaimID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: ClaimID, right: ClaimID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// Names a presenter from its registration to its end.
package struct PresenterID: RawRepresentable, Hashable, Comparable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    package static func < (left: PresenterID, right: PresenterID) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// Who holds or wants a claim, as errors and lists tell it.
package struct ClaimHolder: Hashable, Sendable {
    package var process: Int32
    package var command: String
    package init(process: Int32, command: String) {
        self.process = process
        self.command = command
    }
}

/// An item of a claim.
package struct ClaimTarget: Hashable, Sendable {
    package var path: ClaimPath
    package var access: ClaimAccess
    package init(_ path: ClaimPath, _ access: ClaimAccess) {
        self.path = path
        self.access = access
    }
}

/// Somebody wants to read or write items.
package struct ClaimRequest: Sendable {
    /// Where a claim comes from. Those of programs that know nothing of claims never block one
    /// another.
    package enum Origin: Hashable, Sendable {
        /// Asked for by name.
        case coordinated
        /// A file is being opened.
        case opening
        /// Names are being changed; readers are not in the way.
        case naming
        /// A write session that is open.
        case session
        /// A file lock that is held, or wanted.
        case locking
    }

    package var targets: [ClaimTarget]
    /// Where in each of the first targets is what was asked for, which may be inside of a package
    /// (``ClaimPath/inner``); the rest are asked for themselves.
    package var inner: [ClaimPath] = []
    package var purpose: ClaimPurpose
    package var holder: ClaimHolder
    package var origin: Origin
    /// The process, its parent, grandparent and so on. A program that knows nothing of claims works
    /// under the claims of all of them, and a claim by name under their locks.
    package var family: [Int32]
    /// A claim by name that works under those of the processes above it, as a file operation does.
    package var isNested = false
    /// The presenter on whose behalf the claim is: it is told nothing about it.
    package var presenter: PresenterID?
    /// Purposes of the claims that its family had when it was asked for, if it works under these: it is
    /// part of their line of work, and is not in the way of other claims of that.
    package var heldPurposes: Set<ClaimPurpose> = []
    /// Of whoever asks for one claim after another: what they hold stays while they wait. Unlike those of a
    /// purpose their claims block one another.
    package var line: UInt64?
    /// When waiting ends, in the time that the table is told.
    package var deadline: UInt64
    /// Of a fact: since when it is one, in that time; `nil`: since it is noted.
    package var since: UInt64?

    var ties: [ClaimTie] {
        guard let line else { return [.purpose(purpose)] }
        return [.purpose(purpose), .line(line)]
    }

    /// Whether two claims are held by one who waits for both.
    func isTied(to other: ClaimRequest) -> Bool {
        purpose == other.purpose || line != nil && line == other.line
    }

    /// What is asked for, for each target: that, or what is inside of it.
    var asked: [ClaimPath] {
        targets.enumerated().map { index, target in
            index < inner.count ? inner[index].below(target.path) : target.path
        }
    }

    /// Bytes of memory that it takes (``ClaimPath/weight``).
    var weight: Int { (targets.map(\.path) + inner).reduce(0) { $0 + $1.weight } }

    /// A file lock that somebody has, not one that is wanted.
    var isHeldLock: Bool { origin == .locking && since != nil }

    /// Whether claims by name of its family are not in its way.
    var worksUnderFamily: Bool { isNested || origin != .coordinated }

    package init(
        _ targets: [ClaimTarget], purpose: ClaimPurpose, holder: ClaimHolder,
        origin: Origin = .coordinated, family: [Int32] = [], isNested: Bool = false,
        presenter: PresenterID? = nil, line: UInt64? = nil, deadline: UInt64
    ) {
        self.targets = targets
        self.purpose = purpose
        self.holder = holder
        self.origin = origin
        self.family = family
        self.isNested = isNested
        self.presenter = presenter
        self.line = line
        self.deadline = deadline
    }
}

/// A claim as lists show it.
package struct ClaimListing: Hashable, Sendable {
    package enum Phase: String, Sendable {
        case waiting
        case preparing
        case granted
    }
    package var id: ClaimID
    package var holder: ClaimHolder
    package var origin: ClaimRequest.Origin
    package var targets: [ClaimTarget]
    package var phase: Phase
    /// When it came into this phase.
    package var since: UInt64

    package init(
        id: ClaimID, holder: ClaimHolder, origin: ClaimRequest.Origin, targets: [ClaimTarget],
        phase: Phase, since: UInt64
    ) {
        self.id = id
        self.holder = holder
        self.origin = origin
        self.targets = targets
        self.phase = phase
        self.since = since
    }
}

/// Why a request is not granted.
package enum ClaimRefusal: Hashable, Sendable {
    /// The time was up; these are in the way.
    case timedOut([ClaimListing])
    /// These wait, directly or through others, for claims of the same purpose.
    case deadlock([ClaimListing])
    case cancelled
}

/// What happened, for whoever drives the table to pass on.
package enum ClaimEvent: Hashable, Sendable {
    /// With the paths where what was asked for is now, in the order of the request.
    case granted(ClaimID, [ClaimPath])
    case refused(ClaimID, ClaimRefusal)
    case message(PresenterID, PresenterMessage)
}

/// What a presenter is told.
package enum PresenterMessage: Hashable, Sendable {
    /// Do this and answer with the claim's id.
    case prepare(ClaimID, ClaimPreparation)
    /// A deletion of something below a folder; answer with the claim's id.
    case prepareDeletion(ClaimID, ClaimPath)
    /// The claim that something was prepared for has ended.
    case resume(ClaimID)
    case changed
    case moved(ClaimPath)
    case deleted
    case subitemAppeared(ClaimPath)
    case subitemChanged(ClaimPath)
    case subitemMoved(ClaimPath, ClaimPath)
    case subitemDeleted(ClaimPath)
    case versionGained
    case versionLost
    case versionConflict
}
