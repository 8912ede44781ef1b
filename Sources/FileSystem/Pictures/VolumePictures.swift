internal import Catalog
internal import Content
internal import Coordination
internal import Model
internal import Pictures
internal import SystemCalls

/// The pictures of a mounted container: which one belongs to what is asked for, and what has to
/// follow when a document or a picture changes.
///
/// Any thread. Nothing here waits for a drawing; who may wait a moment is called back.
final class VolumePictures: Sendable {
    /// Publishes that are remembered for ``whenDrawn(_:then:)``.
    private static let rememberedPublishes = 4_096
    private static let rememberedFailures = 4_096

    let shelf: PictureShelf
    let maker: PictureMaker
    let desktop: DesktopEntries?
    let staged = StagedPictures()
    /// How long a close waits for the picture of what it publishes, and a look at a picture after a
    /// publish that did not, in milliseconds.
    let patience: UInt64
    /// After so many waits in vain nobody waits, until a picture is there in time again.
    private static let vainLimit = 3
    /// Waits in a row that were in vain.
    private let vainWaits = Lock(0)
    var isInVain: Bool { vainWaits.withLock { $0 >= Self.vainLimit } }
    /// What is to be drawn later of what was published.
    let incomplete = Lock(IncompletePictures())
    /// Versions of which the missing sizes could not be drawn: they are not tried again.
    private let incompletable = Lock(Recent<NodeNumber, Bool>(limit: rememberedFailures))
    /// Photos that are not here.
    let photos = DistantPhotos()
    /// Contents that must not go while they are drawn.
    let contents: SecondNames
    unowned let volume: Volume
    private let drawing: Drawing
    /// Has pictures of promises brought from the store: who waits for that holds up no drawing.
    private let fetching: Drawing
    /// Tells watchers of placeholders; a thread of its own, since it may wait for a directory in
    /// which a LOOKUP waits for a picture.
    let notifier = Notifier()
    let stale = StaleList()
    let tree = Lock<Unowned?>(nil)
    /// When versions were published that have to be drawn afterwards.
    private let publishes = Lock<[ItemNumber: (node: NodeNumber, at: UInt64)]>([:])

    struct Unowned: Sendable {
        unowned let tree: VirtualTree
    }

    /// A queue and its client, each of which needs the other.
    private struct Drawing: Sendable {
        let queue: PictureQueue
        let client: Client

        init(_ maker: PictureMaker, fetches: Bool) {
            client = Client(fetches: fetches)
            queue = PictureQueue(maker, for: client, startsEarly: !fetches)
        }
    }

    init(_ volume: Volume, _ options: PictureOptions) {
        self.volume = volume
        patience = options.patience
        var doubtful: Range<Timestamp>?
        let now = VolumeState.now()
        let durable = volume.content.durableUntil()
        if volume.container.recovered != nil {
            // A clock that was set back does not tell what is older than this mount.
            doubtful = durable..<(durable < now ? now : Timestamp(rawValue: .max))
        }
        let folder = PictureFolder(path: volume.content.folder.pictures)
        shelf = PictureShelf(folder, doubtful: doubtful) { [unowned volume] in
            volume.state.withLock { $0.publishTime() }
        }
        maker = PictureMaker(program: options.program)
        contents = SecondNames(folder: volume.content.folder.drawing, goesOn: true)
        drawing = Drawing(maker, fetches: false)
        fetching = Drawing(maker, fetches: true)
        desktop = DesktopEntries(volume, shelf, mountPoints: options.desktop)
        for part in [drawing, fetching] { part.client.owner.withLock { $0 = self } }
    }

    var queue: PictureQueue { drawing.queue }
    /// Pictures that came from the store.
    var fetched: Int { fetching.queue.counts.fetched }

    /// The virtual folder through which pictures are seen.
    func attach(_ tree: VirtualTree) { self.tree.withLock { $0 = Unowned(tree: tree) } }

    func start() {
        notifier.start()
        desktop?.start(self)
        drawLeft()
    }

    /// Ends the threads and the processes they started.
    func stop() {
        contents.end()
        photos.stop()
        queue.stop()
        fetching.queue.stop()
        contents.stop()
        desktop?.stop()
        notifier.stop()
        for part in [drawing, fetching] { part.client.owner.withLock { $0 = nil } }
    }

    // MARK: Asking

    /// What is kept for a version; nil if there is nothing. What is missing of it is asked for if it
    /// is `size`.
    func kept(_ subject: PictureSubject, _ size: PictureSize) -> PictureFile? {
        if let file = shelf.head(subject.node, subject.type) {
            if file.missing.contains(size) { ask(subject, isLasting: false) }
            return file.failure == nil ? file : nil
        }
        ask(subject, isLasting: false)
        return nil
    }

    /// Has the version drawn, if that can be.
    ///
    /// - Parameters:
    ///   - onlyStored: of the content of a promise nothing is read for it.
    ///   - looks: at the disk, for what there is of it. If not, the queue finds that out in its turn.
    @discardableResult
    func ask(
        _ subject: PictureSubject, isLasting: Bool, onlyStored: Bool = false, looks: Bool = true
    ) -> Bool {
        let head =
            looks
            ? shelf.head(subject.node, subject.type)
            : shelf.knownHead(subject.node, subject.type)
        if subject.isPromise {
            // What there is of it came from the store, or was made of the content before that went.
            guard head == nil, mayHavePicture(subject), mayFetch(subject, onlyStored: onlyStored)
            else { return false }
            var order = subject.order(staged: nil)
            order.isOnlyStored = onlyStored
            return fetching.queue.ask(order, isLasting: false)
        }
        guard let order = drawableOrder(subject, head) else { return false }
        return queue.ask(order, isLasting: isLasting)
    }

    private func mayHavePicture(_ subject: PictureSubject) -> Bool {
        subject.size > 0 && !subject.fileName.isEmpty && !isTemporaryName(subject.fileName)
    }

    /// The order for what is to be drawn of a version; nil if that cannot be.
    private func drawableOrder(_ subject: PictureSubject, _ head: PictureFile?) -> PictureOrder? {
        let canDraw = maker.canDraw(
            subject.type, fileName: String(decoding: subject.fileName, as: UTF8.self))
        guard mayHavePicture(subject), canDraw else { return nil }
        let order = order(subject, head)
        if order.isCompletion, incompletable.withLock({ $0[subject.node] }) != nil { return nil }
        return order
    }

    /// The same for a version that is not to be drawn again if it was.
    func missing(_ subject: PictureSubject) -> PictureOrder? {
        let file = shelf.head(subject.node, subject.type)
        if let file, file.failure != nil || file.missing.isEmpty { return nil }
        return drawableOrder(subject, file)
    }

    /// What is drawn of a version as it was staged, or is there, is not to be drawn again.
    private func order(_ subject: PictureSubject, _ head: PictureFile?) -> PictureOrder {
        var order = subject.order(staged: staged.awaited(subject.node))
        if order.staged == nil, let head { order.sizes = head.missing }
        return order
    }

    /// Calls `then` when the document's picture is there, if it was published just now without, or
    /// has the others and not this one; else, or when that takes too long, without it.
    func whenDrawn(
        _ subject: PictureSubject, _ size: PictureSize, then: @escaping @Sendable () -> Void
    ) {
        if let file = shelf.head(subject.node, subject.type) {
            guard file.missing.contains(size), !subject.isPromise, !isInVain,
                ask(subject, isLasting: true)
            else { return then() }
            return wait(for: subject.item, milliseconds: patience, then: then)
        }
        guard let published = publishes.withLock({ $0[subject.item] }),
            published.node == subject.node
        else { return then() }
        let end = published.at + patience * 1_000_000
        guard MonotonicClock.now < end else { return then() }
        wait(for: subject.item, until: end) { _ in then() }
    }

    /// Calls `then` when nothing of the document is drawn any more, or with false at a moment of
    /// `MonotonicClock`.
    func wait(
        for item: ItemNumber, until end: UInt64, then: @escaping @Sendable (_ ended: Bool) -> Void
    ) {
        guard let ticket = queue.wait(for: item, then: then) else { return }
        volume.scheduler.at(end) { [weak self] in self?.queue.giveUp(item, ticket) }
    }

    /// Waits in the same way so many milliseconds, and remembers whether that was in vain.
    func wait(
        for item: ItemNumber, milliseconds: UInt64, then: @escaping @Sendable () -> Void
    ) {
        wait(for: item, until: MonotonicClock.after(milliseconds: milliseconds)) {
            [vainWaits] ended in
            vainWaits.withLock { $0 = ended ? 0 : $0 + 1 }
            then()
        }
    }

    /// What there is to say about a version's picture, as `user.shapeedit.thumbnail.state` does.
    func describe(_ subject: PictureSubject) -> String {
        if let kept = describeKept(subject) { return kept }
        let order = order(subject, shelf.head(subject.node, subject.type))
        // A photo is not asked for twice: while its preview is on its way, only the queue knows.
        if ask(subject, isLasting: false) || queue.isPending(order) || queue.isBehind(order)
            || fetching.queue.isPending(order)
        {
            return "pending"
        }
        // It may have come meanwhile.
        if let kept = describeKept(subject) { return kept }
        if let reason = queue.pauseReason(subject.node) { return "failed: \(reason)" }
        if subject.type.isOwn, subject.size > 0, let problem = queue.problem {
            return "unavailable: \(problem)"
        }
        return "none"
    }

    private func describeKept(_ subject: PictureSubject) -> String? {
        guard let file = shelf.head(subject.node, subject.type) else { return nil }
        return file.failure.map { "failed: \($0)" } ?? "ready"
    }

    /// `user.shapeedit.thumbnail` and its state; nil for other attributes.
    func attribute(_ node: NodeNumber, _ name: [UInt8]) throws(Errno) -> [UInt8]? {
        let isState = name.elementsEqual(Self.stateAttribute)
        guard isState || name.elementsEqual(Self.attribute) else { return nil }
        let subject = try volume.read { (state) throws(Errno) in
            _ = try state.position(node)
            return state.pictureSubject(of: node)
        }
        guard let subject else { throw Errno(61) }
        if isState { return Array(describe(subject).utf8) }
        if kept(subject, .medium) != nil {
            for size in [PictureSize.medium, .small] {
                if let bytes = shelf.bytes(subject.node, subject.type, size),
                    bytes.count <= Limits.attribute
                {
                    return bytes
                }
            }
        }
        return Placeholder.bytes(subject.type, .medium)
    }

    static let attribute = Array("user.shapeedit.thumbnail".utf8)
    private static let stateAttribute = Array("user.shapeedit.thumbnail.state".utf8)

    // MARK: Following

    /// A document was published. Under the volume's lock.
    func published(_ subject: PictureSubject) {
        if isTemporaryName(subject.fileName) { return }
        // Published with its picture, or while that is drawn.
        let hasPicture = shelf.isUnwritten(subject.node) || staged.awaited(subject.node) != nil
        if !hasPicture { askAtOnce(subject) }
        desktop?.changed(subject.item)
    }

    /// Has a version drawn that is seen from now on; who looks at its picture waits a moment. If
    /// there is a picture already the queue finds that out. Under the volume's lock, so not from the disk.
    func askAtOnce(_ subject: PictureSubject) {
        let now = MonotonicClock.now
        publishes.withLock { publishes in
            if publishes.count >= Self.rememberedPublishes {
                publishes = publishes.filter { now < $0.value.at + patience * 1_000_000 }
            }
            publishes[subject.item] = (subject.node, now)
        }
        ask(subject, isLasting: true, looks: false)
    }

    /// Nobody needs pictures of the document any more. Who waits for one is called back.
    func cancel(_ item: ItemNumber) {
        queue.cancel(item)
        fetching.queue.cancel(item)
    }

    /// A version's bytes are gone. Who has a picture of it open reads on.
    func remove(_ node: NodeNumber) {
        tree.withLock { $0 }?.tree.keepOpenPictures(of: node)
        shelf.remove(node)
    }

    /// The picture of a version is there: who watches its placeholder or has it cached is told.
    fileprivate func announce(_ order: PictureOrder) {
        desktop?.changed(order.item)
        notifier.post { [self] in
            guard let tree = tree.withLock({ $0 })?.tree else { return }
            for placeholder in tree.placeholders(of: order) {
                volume.channel?.announceDeletion(
                    parent: placeholder.parent, node: placeholder.node, name: placeholder.name)
                volume.replayer?.add(path: placeholder.path)
            }
        }
    }

    /// What the queue asks of the volume.
    private final class Client: PictureClient {
        let owner = Lock<VolumePictures?>(nil)
        /// Brings pictures instead of giving contents to be drawn.
        private let fetches: Bool

        init(fetches: Bool) { self.fetches = fetches }

        func take(_ order: PictureOrder) -> PictureInput? {
            guard let owner = owner.withLock({ $0 }) else { return nil }
            let file = owner.shelf.head(order.node, order.type)
            let isThere = file.map { order.staged != nil || $0.missing.isEmpty } ?? false
            if isThere { return nil }
            return fetches ? owner.fetch(order) : owner.take(order)
        }
        func letGo(_ node: NodeNumber) { owner.withLock { $0 }?.letGo(node) }
        func keep(_ outcome: PictureOutcome, of order: PictureOrder) {
            guard let owner = owner.withLock({ $0 }) else { return }
            if fetches { return owner.keepFetched(outcome, of: order) }
            let goesToStore = owner.keep(outcome, of: order)
            // Not before the picture is there: who evicts the document meanwhile would keep its content
            // for a drawing that does not come, and who asks would look for a picture in the store.
            owner.contents.drop(order.node)
            if goesToStore { owner.upload(order.node) }
        }
        func ended(_ order: PictureOrder) {
            guard let owner = owner.withLock({ $0 }),
                let file = owner.shelf.head(order.node, order.type), file.failure == nil
            else { return }
            owner.announce(order)
        }
    }

    private func letGo(_ node: NodeNumber) {
        volume.state.withLock { $0.drawn.remove(node) }
    }

    /// Says whether the version's pictures are to go to the store.
    private func keep(_ outcome: PictureOutcome, of order: PictureOrder) -> Bool {
        if order.isCompletion {
            // What was published stays whatever becomes of this.
            switch outcome {
            case .failed:
                incompletable.withLock { $0.insert(true, for: order.node, weight: 1) }
                if !order.type.isOwn { fill(order) }
                return true
            case .interrupted: completeLater(order.node)
            case .drawn, .fetched, .nothing: break
            }
            guard case .drawn(let pictures) = outcome,
                (try? shelf.add(pictures, for: order.node, order.type)) == true
            else { return false }
            removeIfGone(order.node)
            return true
        }
        guard let file = outcome.file(order.type) else { return false }
        if let stamp = order.staged, staged.keep(file, of: order, stamp) == .session {
            return false
        }
        // On a full disk there is none, and it is drawn again when somebody asks.
        guard (try? shelf.put(file, for: order.node)) != nil else { return false }
        removeIfGone(order.node)
        if order.staged == nil { return true }
        completeLater(order.node)
        return false
    }

    /// What the machine's programs do not draw in these sizes is shown the largest that was drawn.
    private func fill(_ order: PictureOrder) {
        guard let known = shelf.head(order.node, order.type)?.places.keys.max(),
            let largest = shelf.bytes(order.node, order.type, known)
        else { return }
        let pictures = Dictionary(uniqueKeysWithValues: order.sizes.map { ($0, largest) })
        if (try? shelf.add(pictures, for: order.node, order.type)) == true {
            removeIfGone(order.node)
        }
    }

    /// Removed while it was drawn: its bytes may have been another's at the end.
    func removeIfGone(_ node: NodeNumber) {
        let isGone = volume.state.withLock { $0.index.find(node.item) == 0 }
        if isGone { shelf.remove(node) }
    }
}
