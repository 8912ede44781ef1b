internal import Glibc
internal import Model
package import Stores
internal import SystemCalls

/// Whether a container is the only one that ever used its store, so that it may remove blobs there. See
/// the page Promises.
///
/// The store has a mark: the owner's token, which is another one from mount to mount, or that it is
/// shared. The container's folder has the same token, and which folder that is: a copy may have the token
/// that the store has, and goes its own way all the same. Any thread; blocks on the store.
package final class StoreOwnership: Sendable {
    /// What is known here of one store.
    private enum Known: Equatable {
        case nothing
        /// The token that was written to the store last, and one that may have been.
        case owner(String, String)
        /// It was the container that this one is a copy of, or this one before an older state of it was given back.
        case ownerOfCopied
        case shared
    }

    /// Who finds a store that another container may be removing from waits so long before it counts on
    /// what is there: an owner looks at the mark this often, and at each removal. In nanoseconds.
    package static let notice: UInt64 = 120_000_000_000
    /// So many times as long if it was removing something: the store may carry that out for
    /// ``Uploads/longestDoubt`` after it has noticed.
    private static let longerNotice = (notice + Uploads.longestDoubt) / notice
    static let pace: UInt64 = 30_000_000_000
    /// A request that needs the verdict waits for it so long after the mount began, in milliseconds.
    private static let patience: UInt64 = 2_000
    /// Instead of the container's folder in a line of ``Known/ownerOfCopied``.
    private static let noFolder = "-"
    /// Begins a line of an address, and since when its store has said that it is shared.
    private static let noticed = "noticed"

    private let store: any ContentStore
    private let mark: StoreMark
    /// The store's address, as the container has it; in a form of its own where it would not stay one word of a
    /// line.
    private let address: String
    private let path: String
    /// How long it waits, and what it calls before.
    private let notice: UInt64
    private let waits: @Sendable () -> Void
    /// Told whether what counts as stored has to be compared (``isUncompared``), when that is found out.
    private let tells: @Sendable (_ isUncompared: Bool) -> Void
    private let clocks: @Sendable () -> Clocks
    private let began = MonotonicClock.now
    /// What has been found out in this mount. One finds out at a time.
    private struct Verdict {
        var isOwner: Bool?
        var isAsked = false
    }
    private let verdict = Monitor(Verdict())

    /// - Parameters:
    ///   - address: of the store.
    ///   - path: of the file that keeps what is known here.
    ///   - notice: nanoseconds that others are given to notice that the container uses the store.
    ///   - waits: called when they have to be given them.
    ///   - tells: called when it has been found out whether what counts as stored has to be compared.
    ///   - clocks: tells how much of `notice` has gone by, also between two mounts.
    package init(
        _ store: any ContentStore, address: String, path: String,
        notice: UInt64 = StoreOwnership.notice, waits: @escaping @Sendable () -> Void = {},
        tells: @escaping @Sendable (_ isUncompared: Bool) -> Void = { _ in },
        clocks: @escaping @Sendable () -> Clocks = { Clocks() }
    ) {
        self.store = store
        mark = StoreMark(store: store)
        // The path of a folder may hold anything.
        self.address =
            address.utf8.contains { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\n") }
            ? "hexadecimal:" + Hexadecimal.text(address.utf8) : address
        self.path = path
        self.notice = notice
        self.waits = waits
        self.tells = tells
        self.clocks = clocks
    }

    /// Makes the container the owner of a store that nobody has used; before anything is put there.
    package func claim(_ call: StoreCall) throws(StoreError) {
        if case .owner = try known(markedBy: nil) { return }
        guard try mark.read(call) == nil,
            try store.list(after: nil, limit: 1, call).blobs.isEmpty
        else { return }
        let token = StoreMark.token(isRemoving: false)
        try keep(.owner(token, token))
        try mark.write(token, call)
    }

    /// Whether the container owns the store. The first call in a mount finds out, and may wait for
    /// ``notice``; to be made before anything is put.
    @discardableResult
    package func isOwner(_ call: StoreCall) throws(StoreError) -> Bool {
        while true {
            let until = MonotonicClock.after(milliseconds: Cancellation.interval)
            let known = verdict.wait(until: until) { verdict -> Bool?? in
                if let isOwner = verdict.isOwner { return isOwner }
                if verdict.isAsked { return nil }
                verdict.isAsked = true
                return .some(nil)
            }
            guard let known else {
                try call.cancellation.check(at: store.address)
                continue
            }
            if let known { return known }
            let found = Result { () throws(StoreError) in try look(call) }
            if let isOwner = try? found.get() { tells(!isOwner && isCopy) }
            verdict.signal { $0 = Verdict(isOwner: try? found.get()) }
            return try found.get()
        }
    }

    /// Whether the mark is still the one of this mount. Also who does not own the store finds out, by asking
    /// this now and then, that somebody who has not noticed them has made a mark since.
    func isStillOwner(_ call: StoreCall) throws(StoreError) -> Bool {
        let isOwner = try isOwner(call)
        let found = try mark.read(call)
        if isOwner {
            if case .owner(let token, _) = try known(markedBy: nil), found == token { return true }
        } else if found == nil || found == StoreMark.shared {
            return false
        }
        // Whose mark it is removes things perhaps: nothing there counts before they have noticed.
        return try isOwnerAgain(call)
    }

    private func isOwnerAgain(_ call: StoreCall) throws(StoreError) -> Bool {
        verdict.withLock { $0.isOwner = nil }
        return try isOwner(call)
    }

    /// The same before anything is removed: the mark gets another token, by which an older state of this container
    /// that still needs what goes now is known (``isUncompared``), and says that things are being removed before
    /// it is looked whether anybody has joined.
    package func renew(_ call: StoreCall) throws(StoreError) -> Bool {
        guard try isStillOwner(call), case .owner(let token, _) = try known(markedBy: nil) else {
            return false
        }
        try replace(token, call, isRemoving: true)
        // Who joins after this finds in the mark that things are being removed.
        return try mark.isJoined(call) ? isOwnerAgain(call) : true
    }

    /// The store removes nothing any more that it was asked to since ``renew(_:)``, also in earlier mounts.
    func endRemovals(_ call: StoreCall) throws(StoreError) {
        guard case .owner(let token, _) = try known(markedBy: nil), StoreMark.isRemoving(token),
            try isStillOwner(call), case .owner(let token, _) = try known(markedBy: nil)
        else { return }
        try replace(token, call, isRemoving: false)
    }

    /// Whether it has been found out in this mount who owns the store.
    package var isKnown: Bool { verdict.withLock { $0.isOwner != nil } }

    /// Waits until it has been found out, not for long after the mount.
    package func waitUntilKnown() {
        let _: Bool? = verdict.wait(until: began + Self.patience * 1_000_000) {
            $0.isOwner == nil ? nil : true
        }
    }

    /// Why things may have been removed from the store that count as stored here.
    package enum Doubt {
        /// The container is a copy of the store's owner, or an older state of it. Also where that cannot be read
        /// for a moment.
        case isCopy
        /// It is an owner that has not asked the store in this mount: it may be such a one.
        case isUnasked
    }

    /// `nil` if what counts as stored need not be compared with what the store has. Reads a small file.
    package var doubt: Doubt? {
        do throws(StoreError) {
            switch try known(markedBy: nil) {
            case .ownerOfCopied: return .isCopy
            case .owner: return isKnown ? nil : .isUnasked
            case .nothing, .shared: return nil
            }
        } catch {
            return .isCopy
        }
    }

    /// Whether what counts as stored here has to be compared with what the store has.
    package var isUncompared: Bool { doubt != nil }

    private var isCopy: Bool { doubt == .isCopy }

    /// What counts as stored is there, or is put again; nobody removes it any more.
    func noteCompared() throws(StoreError) {
        if isCopy { try keep(.shared) }
        tells(false)
    }

    private func look(_ call: StoreCall) throws(StoreError) -> Bool {
        let mark = try self.mark.read(call)
        switch try known(markedBy: mark) {
        case .owner(let token, let other) where mark == token || mark == other:
            let isRemoving = StoreMark.isRemoving(mark ?? token)
            if isRemoving, try self.mark.isJoined(call) { break }
            try replace(mark ?? token, call, isRemoving: isRemoving)
            return true
        case .nothing where mark == nil: return false
        // Another's mark would be one that was put late, over ours: they have not seen that.
        case .shared where mark == nil || mark == StoreMark.shared: return false
        default: break
        }
        // It is for ever, and what came once may have been spoilt on its way.
        guard try self.mark.read(call) == mark else {
            throw StoreError(.unreachable, at: store.address, "its mark comes as another each time")
        }
        // Another container has been here, or a copy of this one, or what this one is a copy of, or this one
        // before an older state of it was given back: things may have been removed.
        if case .owner(let token, let other) = try known(markedBy: nil) {
            try keep(.owner(token, other), folder: Self.noFolder)
            tells(true)
        }
        try join(call)
        // A copy goes on being one, also in the next mount, until all has been compared.
        if !isCopy { try keep(.shared) }
        return false
    }

    /// Says that the store is shared, and waits until whoever owned it has noticed and removes nothing more.
    private func join(_ call: StoreCall) throws(StoreError) {
        // Before the mark is read: an owner that begins to remove something after that sees this.
        try mark.join(call)
        var found = try mark.read(call)
        while true {
            let wasLonger = try Self.isLonger(noticedLine())
            let isLonger = wasLonger || found.map(StoreMark.isRemoving) == true
            // Who was about to make a mark when ours was made has not seen it: then it is made again.
            if !StoreMark.isShared(found) || isLonger != wasLonger {
                try note(sharedSince: nil, isLonger)
            }
            if !StoreMark.isShared(found) {
                try mark.write(isLonger ? StoreMark.sharedRemoving : StoreMark.shared, call)
            }
            if let rest = try restOfNotice() {
                waits()
                try call.cancellation.sleep(nanoseconds: rest, at: store.address)
            }
            found = try mark.read(call)
            if found == StoreMark.shared { return }
            // Nothing is removed any more: who comes next need not wait as long.
            if isLonger, found == StoreMark.sharedRemoving {
                return try mark.write(StoreMark.shared, call)
            }
        }
    }

    /// How much of ``notice`` is left, of which a mount that ended has waited a part; `nil` if it is over.
    private func restOfNotice() throws(StoreError) -> UInt64? {
        let now = clocks()
        let line = try noticedLine()
        let isLonger = Self.isLonger(line)
        let notice = isLonger ? notice * Self.longerNotice : notice
        guard let since = line.flatMap({ Clocks($0[2]) }), let passed = now.passed(since: since)
        else {
            try note(sharedSince: now, isLonger)
            return notice
        }
        return passed >= notice ? nil : notice - passed
    }

    private static func isLonger(_ line: [Substring]?) -> Bool {
        line?.last.map(StoreMark.isRemoving) == true
    }

    /// Gives the mark, which has `token`, the next one.
    ///
    /// - Parameter isRemoving: whether the store may be removing something from then on.
    private func replace(
        _ token: String, _ call: StoreCall, isRemoving: Bool
    ) throws(StoreError) {
        let next = StoreMark.token(isRemoving: isRemoving)
        try keep(.owner(token, next))
        try mark.write(next, call)
        try keep(.owner(next, next))
    }

    // MARK: The file

    /// Lines of an address, tokens and the folder: a container may have had other stores. Others tell since when a
    /// store has said that it is shared.
    ///
    /// What cannot be read for a moment is not taken for nothing: the store would be another's, and then be
    /// shared for ever.
    private func lines() throws(StoreError) -> [[Substring]] {
        try SmallFile.text(path).split(separator: "\n").map { $0.split(separator: "\t") }
    }

    /// The container's folder, by what no copy of it has.
    private func folder() throws(StoreError) -> String {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        do throws(Errno) {
            let opened = try OwnedDescriptor.open(folder, O_RDONLY | O_DIRECTORY)
            return "\(try opened.status().st_ino)-\(Directories.birthTime(of: opened))"
        } catch { throw SmallFile.problem(path, error) }
    }

    /// - Parameter mark: the store's, if it has been looked at. A token is nobody else's, so that a store is
    /// known by it whatever other spelling of its address leads there, and wherever it was moved.
    private func known(markedBy mark: String?) throws(StoreError) -> Known {
        let lines = try lines()
        let words =
            lines.last { $0.count >= 3 && $0[1...2].contains { $0 == mark ?? "" } }
            ?? lines.last { $0.first.map(String.init) == address } ?? []
        switch words.count {
        case 2: return .shared
        // Earlier releases did not keep the folder.
        case 3: return .owner(String(words[1]), String(words[2]))
        case 4:
            return try words[3] == folder()
                ? .owner(String(words[1]), String(words[2])) : .ownerOfCopied
        default: return .nothing
        }
    }

    /// - Parameter folder: of an owner; `nil`: the container's.
    private func keep(_ known: Known, folder: String? = nil) throws(StoreError) {
        var tokens: [String] = []
        if case .owner(let token, let other) = known { tokens = [token, other] }
        var lines = try lines().filter { words in
            words.first.map(String.init) != address && !isNoticed(words)
                && !words.dropFirst().prefix(2).contains { tokens.contains(String($0)) }
        }.map { $0.joined(separator: "\t") }
        switch known {
        case .nothing, .ownerOfCopied: break
        case .shared: lines.append("\(address)\t\(StoreMark.shared)")
        case .owner(let token, let other):
            let place = if let folder { folder } else { try self.folder() }
            lines.append("\(address)\t\(token)\t\(other)\t\(place)")
        }
        try SmallFile.replace(path, lines.map { $0 + "\n" }.joined())
    }

    private func isNoticed(_ words: [Substring]) -> Bool {
        words.count >= 3 && words[0] == Self.noticed && words[1] == address
    }

    private func noticedLine() throws(StoreError) -> [Substring]? {
        try lines().last { isNoticed($0) }
    }

    /// - Parameters:
    ///   - clocks: `nil`: it does not say so yet.
    ///   - wasRemoving: whether another container was removing something before.
    private func note(sharedSince clocks: Clocks?, _ wasRemoving: Bool) throws(StoreError) {
        var lines = try lines().filter { !isNoticed($0) }.map { $0.joined(separator: "\t") }
        if clocks != nil || wasRemoving {
            lines.append(
                "\(Self.noticed)\t\(address)\t\(clocks?.text ?? "-")"
                    + (wasRemoving ? "\t\(StoreMark.removing)" : ""))
        }
        try SmallFile.replace(path, lines.map { $0 + "\n" }.joined())
    }
}
