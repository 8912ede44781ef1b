internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// The states of one document, kept below `XDG_STATE_HOME` so that undo works from another shell on
/// another day. Inside a mount the versions that it keeps come before them.
///
/// A folder with a file `steps` (what, when, in which order) and one file for each state. To be used
/// while holding the document's claim. What cannot be written costs history, never the document, so
/// that is no error here; nor is what is damaged. What cannot be read for a moment is one: nothing is
/// written over it. Nothing waits for the disk: after a power failure a state may be cut off or empty,
/// so `steps` has the SHA-256 of each, and one that differs is gone.
struct HistoryJournal {
    /// States kept of one document, and their bytes in all.
    static let stepLimit = 100
    static let byteLimit = 32 << 20
    /// Documents whose history is kept; those not edited for longest go first.
    static let documentLimit = 500

    /// `nil` where there is no place to keep a history.
    private let folder: String?
    /// Where the folder goes, with the file that has taken the document's name; `nil` if none has.
    private var successor: String?
    /// Whether no other file can have had the folder.
    private let isSure: Bool
    private let isCoordinated: Bool
    /// When the content that is in the file now came there, in nanoseconds since 1970.
    private let modified: Int64

    /// The journal of a document that was not changed yet.
    init(of file: borrowing OwnedDescriptor, isCoordinated: Bool) {
        let place = HistoryPlace.folder(of: file, isCoordinated: isCoordinated)
        (folder, isSure) = (place?.path, place?.isSure ?? true)
        self.isCoordinated = isCoordinated
        modified = (try? file.status()).map { FileStamp($0).modified } ?? HistoryStep.now
    }

    /// What is noted from now on is of the file that has taken the document's name, if one has. By its path others
    /// may have put theirs there meanwhile, whose history it is not.
    mutating func follow(_ successor: borrowing OwnedDescriptor?) {
        switch successor {
        case .some(let file):
            let place = HistoryPlace.folder(of: file, isCoordinated: isCoordinated)?.path
            self.successor = place == folder ? nil : place
        case .none: self.successor = nil
        }
    }

    // MARK: Reading

    /// The states, with `bytes` as the current one: if others changed the document since, that is
    /// the newest. Fails where those that are kept cannot be had now.
    ///
    /// - Parameter path: of the document, absolute.
    func load(current bytes: [UInt8], of path: String) throws(Errno) -> HistorySteps {
        let versions = mountVersions(of: path)
        var steps = try own(current: bytes, of: path) { versions }
        let first = steps.list.first?.time ?? .max
        let known = steps.list.first.flatMap { self.bytes(of: $0) }
        let older = versions.filter { step in
            // One that was thinned out since it was listed is not offered.
            guard step.time < first, let size = size(of: step) else { return false }
            return size != known?.count || self.bytes(of: step) != known
        }
        steps.list = older + steps.list
        steps.current += older.count
        return steps
    }

    private func mountVersions(of path: String) -> [HistoryStep] {
        isCoordinated ? MountVersions.steps(of: path) : []
    }

    /// The states that the folder has, with `bytes` as the current one.
    ///
    /// - Parameter versions: the mount's. There may be a thousand, so they are asked for only when an
    ///   unknown content came.
    private func own(
        current bytes: [UInt8], of path: String, versions: () -> [HistoryStep]
    ) throws(Errno) -> HistorySteps {
        let list = try stored() ?? HistoryList(HistorySteps(), of: path)
        var steps = list.steps
        if let step = steps.currentStep, self.bytes(of: step) == bytes || mend(step, with: bytes) {
            return steps
        }
        // A known inode at another place with an unknown content is another file where nothing tells
        // which one it is.
        if !isSure, !list.isOf(path) { steps = HistorySteps() }
        let number = steps.append(
            time: moment(after: [steps.currentStep?.time, versions().last?.time]),
            description: origin(isFirst: steps.list.isEmpty), digest: Self.digest(bytes))
        write(bytes, number)
        return steps
    }

    /// Puts a damaged state right with the bytes of the document, if they are what belongs there; says
    /// whether they are.
    private func mend(_ step: HistoryStep, with bytes: [UInt8]) -> Bool {
        guard case .journal(let number, let digest?) = step.source, digest == Self.digest(bytes)
        else { return false }
        write(bytes, number)
        return true
    }

    /// When the content came that no edit in this journal made: its modification time, but neither in the
    /// future nor before the states that were there before. Who copies a file may give it any.
    private func moment(after former: [Int64?]) -> Int64 {
        // What is kept may say any number.
        let least = former.compactMap { $0 }.max().map { min($0, Int64.max - 1) + 1 } ?? 0
        return max(min(modified, HistoryStep.now), least)
    }

    /// What is said of a state that no edit in this journal made. In a mount another user's may have.
    private func origin(isFirst: Bool) -> String {
        if isCoordinated { return MountVersions.description(of: modified) }
        return isFirst ? Self.found : Self.changed
    }

    private static let (found, changed) = ("as it was found", "changed by another program")

    /// Whether an edit noted since then that it made this, and it surely was in the document: somebody has
    /// edited or undone it there. An edit is noted before the close that may fail.
    func wasMade(_ bytes: [UInt8], since: Int64) -> Bool {
        // A list that cannot be had tells nothing. To fail would keep what is typed from being saved.
        guard let digest = Self.digest(bytes), let steps = try? stored()?.steps else {
            return false
        }
        return steps.list.indices.contains { index in
            let step = steps.list[index]
            guard index != steps.current, step.time >= since,
                case .journal(_, digest) = step.source
            else { return false }
            // What is not called after an edit was found in the document instead of what is before it.
            let next = index < steps.current ? steps.list[index + 1].description : ""
            return next != Self.found && next != Self.changed
                && !next.hasPrefix(MountVersions.descriptionBegin)
        }
    }

    /// When the states came to be that it has.
    var times: Set<Int64> { Set((try? stored())?.steps.list.map(\.time) ?? []) }

    /// The bytes of a state; `nil` if they are gone or damaged, or cannot be had.
    func bytes(of step: HistoryStep) -> [UInt8]? { (try? content(of: step)) ?? nil }

    /// The bytes of a state; `nil` if they are gone or damaged. Fails where they cannot be had now.
    private func content(of step: HistoryStep) throws(Errno) -> [UInt8]? {
        switch step.source {
        case .journal(let number, let digest):
            guard let folder else { return nil }
            let bytes: [UInt8]
            do throws(Errno) {
                bytes = try WholeFile.read(
                    try OwnedDescriptor.open(folder + "/" + String(number), O_RDONLY))
            } catch {
                guard Self.isGone(error) else { throw error }
                return nil
            }
            return digest == nil || digest == Self.digest(bytes) ? bytes : nil
        case .version(let path):
            do throws(Errno) {
                return try WholeFile.read(try OwnedDescriptor.open(path, O_RDONLY))
            } catch {
                // It was thinned out since it was listed.
                if error.code == ENOENT { return nil }
                throw error
            }
        }
    }

    /// The nearest state back (-1) or forth (1) that is whole, with its bytes; `nil` if there is none.
    /// Those that are damaged between it and the current one leave the list.
    func reach(
        _ direction: Int, in steps: inout HistorySteps
    ) throws(Errno) -> (step: HistoryStep, bytes: [UInt8])? {
        var passedOver = 0
        while var step = steps.target(direction) {
            if let bytes = try content(of: step) {
                step.passedOver = passedOver
                return (step, bytes)
            }
            steps.remove(at: steps.current + direction)
            passedOver += 1
        }
        return nil
    }

    /// Lets the journal's damaged states go, but for the current one.
    func dropDamaged(_ steps: inout HistorySteps) {
        for index in steps.list.indices.reversed() where index != steps.current {
            guard case .journal = steps.list[index].source else { continue }
            do throws(Errno) {
                if try content(of: steps.list[index]) == nil { steps.remove(at: index) }
            } catch {
                // It may be read the next time.
                continue
            }
        }
    }

    /// How many bytes a state has; `nil` if they are gone.
    private func size(of step: HistoryStep) -> Int? {
        let path: String? =
            switch step.source {
            case .journal(let number, _): folder.map { $0 + "/" + String(number) }
            case .version(let path): path
            }
        return path.flatMap { FileStamp(path: $0) }.map { Int($0.size) }
    }

    /// Whether a file could not be read as it is not there, or is none of a history. Else it may be
    /// whole.
    private static func isGone(_ error: Errno) -> Bool {
        [ENOENT, ENOTDIR, EISDIR, ELOOP, EFBIG].contains(error.code)
    }

    private static func digest(_ bytes: [UInt8]) -> String? {
        guard let hash = try? Hashing.sha256(bytes) else { return nil }
        return ContentHash(bytes: hash)?.description
    }

    /// What the file `steps` says; `nil` if there is none, or it says nothing sensible. Fails where it
    /// cannot be had now: to take that for no history would be the end of every state there is.
    private func stored() throws(Errno) -> HistoryList? {
        guard let folder else { return nil }
        do throws(Errno) {
            return HistoryList(
                try WholeFile.read(try OwnedDescriptor.open(folder + "/steps", O_RDONLY)))
        } catch {
            guard Self.isGone(error) else { throw error }
            return nil
        }
    }

    // MARK: Writing

    /// Notes that an edit made `after` of `before`. Fails where the states that are kept cannot be had now:
    /// they stay as they are.
    ///
    /// - Parameter path: of the document, which may have a new inode since.
    /// - Returns: whether there is a way back and forth between both.
    func record(
        _ after: [UInt8], over before: [UInt8], describedAs description: String, at path: String
    ) throws(Errno) -> Bool {
        guard folder != nil else { return false }
        var steps: HistorySteps
        do throws(Errno) {
            steps = try own(current: before, of: path) { mountVersions(of: path) }
        } catch {
            goAlong()
            throw error
        }
        let former = steps.currentStep
        let number = steps.append(
            time: HistoryStep.now, description: HistoryList.line(description),
            digest: Self.digest(after))
        write(after, number)
        let areWhole =
            former.flatMap(size) == before.count
            && steps.currentStep.flatMap(size) == after.count
        return store(steps, at: path) && areWhole
    }

    /// Takes back that `bytes` became the content, which is what it was before.
    ///
    /// - Parameter former: what the states were then; `nil` if `bytes` are a new one.
    func forget(_ bytes: [UInt8], for former: HistorySteps?, at path: String) {
        guard var steps = try? stored()?.steps, steps.current > 0 || former != nil,
            let digest = Self.digest(bytes), case .journal(_, digest) = steps.currentStep?.source
        else { return }
        if let former {
            // Numbers are given out once.
            let next = max(steps.nextNumber, former.nextNumber)
            steps = former
            steps.nextNumber = next
        } else {
            steps.current -= 1
            steps.remove(at: steps.current + 1)
        }
        store(steps, at: path)
    }

    /// Writes the list down, and moves the folder along if the document has a new inode. Says whether
    /// it could.
    @discardableResult
    func store(_ steps: HistorySteps, at path: String) -> Bool {
        guard let folder else { return false }
        var steps = steps
        // States before the current one that the mount keeps are found there again. Those after it
        // may be pruned there, and are wanted for redo.
        while steps.current > 0, case .version = steps.list[0].source {
            steps.list.removeFirst()
            steps.current -= 1
        }
        var isWhole = true
        for index in steps.list.indices {
            guard case .version = steps.list[index].source else { continue }
            guard let bytes = bytes(of: steps.list[index]), write(bytes, steps.nextNumber) else {
                isWhole = false
                continue
            }
            steps.list[index].source = .journal(steps.nextNumber, digest: Self.digest(bytes))
            steps.nextNumber += 1
        }
        bound(&steps)
        let list = HistoryList(steps, of: path)
        // If that cannot be written, the one that is there tells of states that this one has not.
        let isStored = Self.put(list.text, folder + "/steps")
        if isStored {
            let kept = list.numbers
            for name in (try? Directories.names(in: folder)) ?? []
            where name != "steps" && !kept.contains(name) {
                unlink((folder + "/" + name).cPath)
            }
        }
        return goAlong() && isStored && isWhole
    }

    /// Moves the folder along if the document has a new inode. Says whether it could.
    @discardableResult
    private func goAlong() -> Bool {
        guard let folder, let successor else { return true }
        try? Directories.removeTree(successor)
        return rename(folder.cPath, successor.cPath) == 0
    }

    /// Lets the oldest states go beyond the limits, never the current one.
    private func bound(_ steps: inout HistorySteps) {
        var total = 0
        var kept = 0
        for step in steps.list.reversed() {
            total += size(of: step) ?? 0
            if kept == Self.stepLimit || total > Self.byteLimit { break }
            kept += 1
        }
        let surplus = min(steps.list.count - kept, steps.current)
        guard surplus > 0 else { return }
        steps.list.removeFirst(surplus)
        steps.current -= surplus
    }

    /// Writes a state down. Says whether it could.
    @discardableResult
    private func write(_ bytes: [UInt8], _ number: Int) -> Bool {
        guard let folder else { return false }
        if access(folder.cPath, F_OK) != 0 {
            guard (try? Directories.make(folder)) != nil else { return false }
            prune()
        }
        return Self.put(bytes, folder + "/" + String(number))
    }

    /// Lets the histories go that have not grown for longest.
    private func prune() {
        guard let root = HistoryPlace.root, let names = try? Directories.names(in: root),
            names.count > Self.documentLimit
        else { return }
        // One that does not tell how old it is for a moment may be the newest.
        let old = names.compactMap { name in
            FileStamp(path: root + "/" + name).map { (name, $0.modified) }
        }.sorted { $0.1 < $1.1 }.prefix(names.count - Self.documentLimit)
        for (name, _) in old where root + "/" + name != folder {
            try? Directories.removeTree(root + "/" + name)
        }
    }

    /// Writes a file whole: under another name first. Says whether it could.
    private static func put(_ bytes: [UInt8], _ path: String) -> Bool {
        let temporary = path + ".new"
        guard
            let file = try? OwnedDescriptor.open(
                temporary, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        else { return false }
        do throws(Errno) {
            try file.write(bytes, at: 0)
            _ = try check { rename(temporary.cPath, path.cPath) }
            return true
        } catch {
            unlink(temporary.cPath)
            return false
        }
    }
}
