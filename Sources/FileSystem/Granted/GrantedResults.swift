internal import Coordination
internal import Glibc
internal import Model
internal import PathText
internal import SystemCalls

/// What queries of an app's mount find among the documents that other containers grant to the app,
/// as these said when they were asked last.
///
/// Any thread. The owners are asked by ``Forwarding``: whoever wants their answers is called back.
/// As long as queries or presenters follow them, owners say when to ask again (``OwnerWatch``).
final class GrantedResults: Sendable {
    /// What one owner said to one query.
    private struct Answer: Sendable {
        /// The folder of the owner is among them.
        var found: [Found] = []
        /// The current versions of the documents.
        var versions: [DocumentID: NodeNumber] = [:]
        /// It grants something, found or not.
        var grants = false
        /// When a grant ends.
        var until: Timestamp?
        /// Why some may be missing.
        var problem: String?
        /// It did not answer, but grants something as far as is known.
        var isSilent = false
        /// Counts the asking: what was asked earlier does not replace it.
        var serial: UInt64 = 0

        func isLike(_ other: Answer?) -> Bool {
            guard let other else { return !grants && problem == nil }
            return found == other.found && grants == other.grants && problem == other.problem
        }
    }
    private struct Asked {
        /// Who needs the answers.
        var users = 0
        var answers: [String: Answer] = [:]
    }
    private struct State {
        /// By what owners are asked.
        var asked: [Query: Asked] = [:]
        /// By which queries tell results apart.
        var items: [GrantedNode: ItemNumber] = [:]
        var round: UInt64 = 0
        var serial: UInt64 = 0
        /// When owners are asked again because a grant ends.
        var ends: [String: Timestamp] = [:]
        var presenters: Set<PresenterID> = []
        /// When the first of them came.
        var since = Timestamp(rawValue: 0)
        /// What presenters were told of.
        var shown: [String: [Found]] = [:]

        /// The number of a result, always the same as long as the mount is there.
        mutating func item(of node: GrantedNode) -> ItemNumber {
            if let known = items[node] { return known }
            let made = ItemNumber(rawValue: GrantedResults.bit | UInt64(items.count))
            items[node] = made
            return made
        }
    }
    /// What an answer has changed.
    private struct News {
        var isOther = false
        /// When the owner is to be asked again.
        var end: Timestamp?
        /// Presenters are to be told of it; what they knew before, or since when they are there.
        var shown: Shown?
    }
    private enum Shown {
        case before([Found])
        case since(Timestamp)
    }
    /// How long an owner is waited for, in milliseconds: it may wait for words itself.
    private static let patience: UInt64 = 4_000
    /// The numbers of results have this bit and no higher one: no items have such numbers, and readers
    /// of JSON that take numbers for doubles tell them apart.
    private static let bit: UInt64 = 1 << 52
    /// All documents, for presenters.
    private static let everything: Query = {
        var query = Query()
        query.hidden = true
        return query.amongGranted
    }()

    private let state = Lock(State())
    /// Held by who takes an answer over: what it has changed is told in the order of the answers.
    private let keeping = Lock(())
    private let granted: GrantedTree
    private let watch: OwnerWatch
    /// Tells those who watch with inotify; `nil` where changes are not repeated.
    let replay: GrantedReplay?
    private unowned let volume: Volume

    init(_ volume: Volume, _ granted: GrantedTree) {
        self.volume = volume
        self.granted = granted
        watch = OwnerWatch(granted.owners, granted.forwarding)
        replay = volume.replayer.map { GrantedReplay(volume, granted, $0) }
    }

    /// Owners are followed for those who watch with inotify, until ``stop()``.
    func start() {
        guard let replay else { return }
        follow(Self.everything)
        ask(Self.everything) { replay.begin() }
    }

    /// Whether a result of this number is a document of another container.
    static func has(_ item: ItemNumber) -> Bool { item.rawValue & bit != 0 }

    /// Whether it is another container that grants something, as its catalog says: the app is not to
    /// learn whether there are others. Waits for no mount.
    func isOwner(_ name: String) -> Bool {
        granted.owners.isOwner(name) && granted.owners.isInCatalog(name)
    }

    /// Owners are not watched any more.
    func stop() { watch.stop() }

    // MARK: Asking

    /// Asks the owners, and calls `then` when all have answered or do not; as long as that runs,
    /// ``found(_:)`` has the answers.
    func ask(_ query: Query, _ then: @escaping @Sendable () -> Void) {
        let key = query.amongGranted
        hold(key)
        let done: @Sendable () -> Void = { [self] in
            then()
            letGo(key)
        }
        let owners = owners(below: query.folder)
        if owners.isEmpty { return done() }
        let left = Lock(owners.count)
        for owner in owners {
            ask(owner, key) {
                let isLast = left.withLock { left -> Bool in
                    left -= 1
                    return left == 0
                }
                if isLast { done() }
            }
        }
    }

    /// The owners whose documents are below a folder of this mount; those too that grant nothing.
    private func owners(below folder: String) -> [String] {
        let names = folder.split(separator: "/").map { String($0).pathBytes }
        guard let first = names.first else { return granted.owners.others() }
        let owner = first.withUnsafeBytes { volume.grantedOwner($0) }
        guard let owner, names.count == 1, granted.owners.isOwner(owner) else { return [] }
        return [owner]
    }

    private func ask(_ owner: String, _ key: Query, _ then: @escaping @Sendable () -> Void) {
        let serial = nextSerial()
        let owners = granted.owners
        let forwarding = granted.forwarding
        forwarding.ask(owner, patience: Self.patience) { [self] () throws(Errno) in
            answer(owner, key)
        } then: { [self] result in
            if case .success(let answer) = result {
                keep(answer, of: owner, key, serial)
                return then()
            }
            // Whether it is the app's business at all the catalog says.
            forwarding.ask("", patience: Self.patience) { () throws(Errno) in
                owners.isInCatalog(owner)
            } then: { [self] grants in
                if case .success(true) = grants {
                    keep(Self.silence(of: owner), of: owner, key, serial)
                }
                then()
            }
        }
    }

    private func nextSerial() -> UInt64 {
        state.withLock { state in
            state.serial += 1
            return state.serial
        }
    }

    private static func silence(of owner: String, _ reason: String? = nil) -> Answer {
        let problem = reason ?? "the mount of the container \(owner) does not answer"
        return Answer(grants: true, problem: problem, isSilent: true)
    }

    /// What an owner says. Waits for it.
    private func answer(_ owner: String, _ key: Query) -> Answer {
        let said: GrantedAnswer
        do throws(Errno) { said = try granted.owners.find(key, of: owner) } catch {
            guard granted.owners.isInCatalog(owner) else { return Answer() }
            if error.code == ENAMETOOLONG {
                return Self.silence(of: owner, "the query is too long for the container \(owner)")
            }
            return Self.silence(of: owner, granted.owners.problem(of: owner))
        }
        guard said.granted > 0 else { return Answer() }
        let folder = GrantedTree.folderName(owner, volume.hasAtRoot)
        var found = state.withLock { state in
            said.rows.map { row in
                Found(
                    item: state.item(of: .document(owner: owner, row.document, version: nil)),
                    document: row.document, path: folder + "/" + row.name, isFolder: false,
                    size: row.size, modified: row.modified, isPromise: row.isPromise,
                    title: row.title)
            }
        }
        if let folder = self.folder(of: owner, called: folder, key) { found.append(folder) }
        let versions = said.rows.map { ($0.document, $0.version) }
        return Answer(
            found: found, versions: Dictionary(versions) { first, _ in first }, grants: true,
            until: said.until, problem: said.problem)
    }

    /// The folder of an owner, if the query finds it.
    private func folder(of owner: String, called name: String, _ key: Query) -> Found? {
        let facts = Selection.Facts(
            isRegular: false, isFolder: true, size: 0, modified: granted.started, isPromise: false)
        guard key.kind != .documents, key.text == nil, key.title == nil, key.tag == nil,
            name.pathBytes.withUnsafeBytes({ Selection(key).accepts($0, facts) })
        else { return nil }
        return Found(
            item: state.withLock { $0.item(of: .folder(owner: owner)) },
            document: DocumentID(rawValue: 0), path: name, isFolder: true, size: 0,
            modified: facts.modified, isPromise: false)
    }

    // MARK: Answers

    /// What is found below the query's folder, in no order; why some may be missing; whether the
    /// folder is an owner's.
    func found(_ query: Query) -> (found: [Found], problem: String?, isOwners: Bool) {
        let isRoot = query.folder.allSatisfy { $0 == "/" }
        let wanted = isRoot ? [] : owners(below: query.folder)
        let answers = state.withLock { state in
            (state.asked[query.amongGranted]?.answers ?? [:]).filter { owner, _ in
                isRoot || wanted.contains(owner)
            }
        }
        var found: [Found] = []
        // A folder is not below itself.
        for answer in answers.values { found += answer.found.filter { isRoot || !$0.isFolder } }
        let problems = answers.values.compactMap { $0.problem }.sorted()
        let grants = answers.values.contains { $0.grants }
        return (
            found, problems.isEmpty ? nil : problems.joined(separator: "; "), !isRoot && grants
        )
    }

    /// Grows when an answer is another one.
    var round: UInt64 { state.withLock { $0.round } }

    private func keep(_ answer: Answer, of owner: String, _ key: Query, _ serial: UInt64) {
        keeping.withLock { _ in take(answer, of: owner, key, serial) }
    }

    private func take(_ answer: Answer, of owner: String, _ key: Query, _ serial: UInt64) {
        let news = state.withLock { state -> News in
            guard var asked = state.asked[key], asked.answers[owner]?.serial ?? 0 < serial else {
                return News()
            }
            var news = News(isOther: !answer.isLike(asked.answers[owner]))
            asked.answers[owner] = answer
            asked.answers[owner]?.serial = serial
            state.asked[key] = asked
            if news.isOther { state.round += 1 }
            if let end = answer.until, state.ends[owner] != end {
                state.ends[owner] = end
                news.end = end
            }
            if key == Self.everything, !answer.isSilent, !state.presenters.isEmpty {
                let before = state.shown.updateValue(answer.found, forKey: owner)
                news.shown = before.map { Shown.before($0) } ?? .since(state.since)
            }
            return news
        }
        if key == Self.everything, let replay {
            let folder = GrantedTree.folderName(owner, volume.hasAtRoot)
            if answer.isSilent {
                replay.noteSilence(of: owner, folder: folder)
            } else {
                replay.note(
                    answer.found, answer.versions, in: answer.grants ? folder : nil, of: owner,
                    serial)
            }
        }
        if let end = news.end { askAgain(owner, at: end) }
        if let shown = news.shown { tellPresenters(shown, answer.found) }
        if news.isOther { volume.liveQueries?.stir() }
    }

    /// Asks an owner again when a grant has ended.
    private func askAgain(_ owner: String, at end: Timestamp) {
        let seconds = max(end.secondsSince(VolumeState.now()), 0)
        // A little later: the clock that tells whether it has ended is coarse.
        let moment = MonotonicClock.after(milliseconds: UInt64(seconds * 1000) + 20)
        volume.scheduler.at(moment) { [self] in
            state.withLock { state in
                if state.ends[owner] == end { state.ends[owner] = nil }
            }
            watch.look(at: owner, isRung: true)
        }
    }

    // MARK: Following

    private func hold(_ key: Query) {
        state.withLock { $0.asked[key, default: Asked()].users += 1 }
    }

    private func letGo(_ key: Query) {
        state.withLock { state in
            guard let users = state.asked[key]?.users else { return }
            if users > 1 { state.asked[key]?.users = users - 1 } else { state.asked[key] = nil }
        }
    }

    /// From now on the answers to the query follow what the owners do, until ``unfollow(_:)``.
    func follow(_ query: Query) {
        hold(query.amongGranted)
        watch.begin { [weak self] owner in self?.renew(owner) }
    }

    func unfollow(_ query: Query) {
        watch.end()
        letGo(query.amongGranted)
    }

    /// Asks an owner anew all that it is asked. Waits for it.
    private func renew(_ owner: String) {
        for key in state.withLock({ Array($0.asked.keys) }) {
            let serial = nextSerial()
            keep(answer(owner, key), of: owner, key, serial)
        }
    }

    // MARK: Presenters

    /// A presenter shows something at the path: it is told of documents of other containers there.
    func present(_ id: PresenterID, at path: ClaimPath) {
        if let first = path.names.first, first.withUnsafeBytes({ GrantedTree.owner($0) }) == nil {
            return
        }
        state.withLock { state in
            if state.presenters.isEmpty { state.since = VolumeState.now() }
            state.presenters.insert(id)
        }
        follow(Self.everything)
        ask(Self.everything) {}
    }

    /// It does so no more.
    func dismiss(_ id: PresenterID) {
        let isKnown = state.withLock { state -> Bool in
            guard state.presenters.remove(id) != nil else { return false }
            if state.presenters.isEmpty { state.shown = [:] }
            return true
        }
        if isKnown { unfollow(Self.everything) }
    }

    /// Tells presenters how the documents of an owner have changed. By whom it does not say, so who
    /// made a change is told as well.
    private func tellPresenters(_ shown: Shown, _ found: [Found]) {
        func note(_ kind: ItemChange.Kind, _ path: String) {
            guard let path = ClaimPath(path) else { return }
            volume.coordinator.note(ItemChange(kind, path, by: 0))
        }
        var old: [ItemNumber: Found] = [:]
        switch shown {
        case .since(let moment):
            // What was changed before the owner was asked first.
            for now in found where now.modified >= moment { note(.changed, now.path) }
            return
        case .before(let list): for known in list { old[known.item] = known }
        }
        for now in found {
            guard let known = old.removeValue(forKey: now.item) else {
                note(.appeared, now.path)
                continue
            }
            if let source = ClaimPath(known.path), source != ClaimPath(now.path) {
                note(.moved(from: source, replacing: false), now.path)
            }
            if known.modified != now.modified || known.size != now.size {
                note(.changed, now.path)
            }
        }
        for gone in old.values { note(.deleted, gone.path) }
    }
}
