internal import Catalog
internal import Content
internal import Coordination
internal import Model
internal import Pictures
internal import SystemCalls

/// What a close is to have drawn before it returns.
struct PictureDrawing: Sendable {
    fileprivate var subject: PictureSubject
    fileprivate var stamp: ContentStamp
    /// How long that may take, in milliseconds.
    var patience: UInt64
}

/// Publishing documents together with their pictures. See the page Pictures.
extension VolumePictures {
    /// Has what a session staged drawn; calls `then` when that is done, or takes too long, or cannot
    /// be. On any thread, with no lock held.
    func draw(_ drawing: PictureDrawing, then: @escaping @Sendable () -> Void) {
        let (subject, stamp) = (drawing.subject, drawing.stamp)
        guard !staged.has(subject.node, subject.type, stamp),
            queue.ask(subject.order(staged: stamp), isLasting: true)
        else { return then() }
        let isInVain = isInVain
        if isInVain { then() }
        wait(for: subject.item, milliseconds: drawing.patience) { if !isInVain { then() } }
    }

    /// Writes the picture of a session that was published with one. Waits for the disk.
    func writeStaged(_ node: NodeNumber) {
        // On a full disk it is in memory for a while, and drawn again when somebody asks after that.
        guard (try? shelf.writeShown(node)) == true else { return }
        removeIfGone(node)
        completeLater(node)
    }
}

extension Volume {
    /// Calls `then` when a directory may be listed: when file managers find what there is of pictures
    /// in the user's thumbnail cache, or that takes too long.
    func whenListable(_ directory: NodeNumber, then: @escaping @Sendable () -> Void) {
        guard let pictures, let desktop = pictures.desktop else { return then() }
        desktop.listed(
            directory.item, until: MonotonicClock.after(milliseconds: pictures.patience),
            scheduler, then: then)
    }

    /// Whether a name may be looked up at once: file managers find what there is of its document's pictures
    /// in the user's thumbnail cache, or there is nothing of the kind.
    func isPictured(_ parent: NodeNumber, _ name: UnsafeRawBufferPointer) -> Bool {
        guard let desktop = pictures?.desktop else { return true }
        return desktop.hasListed(parent.item) || PictureType(fileName: name).end.isEmpty
    }

    /// Calls `then` when ``isPictured(_:_:)``, or when that takes too long.
    func whenPictured(
        _ parent: NodeNumber, _ name: [UInt8], then: @escaping @Sendable () -> Void
    ) {
        let place = ReplayStep.Place(parent: parent.item, name: name)
        guard let pictures, let desktop = pictures.desktop,
            let item = state.withLock({ $0.regularFile(at: place) })
        else { return then() }
        desktop.lookedUp(
            item, until: MonotonicClock.after(milliseconds: pictures.patience), scheduler,
            then: then)
    }
}

extension VolumeState {
    fileprivate func regularFile(at place: ReplayStep.Place) -> ItemNumber? {
        let position = item(at: place)
        return position != 0 && index[item: position].pointee.isRegular ? number(position) : nil
    }

    /// What is to be drawn when a session's last close is acknowledged; nil if nothing is.
    func drawing(of session: WriteSession, _ status: FileStatus) -> PictureDrawing? {
        let position = index.find(session.node.item)
        guard let pictures, status.size > 0, position != 0, isDrawnAtPublish(position),
            var subject = pictureSubject(position), !isTemporaryName(subject.fileName)
        else { return nil }
        subject.node = session.node
        subject.size = status.size
        return PictureDrawing(
            subject: subject, stamp: ContentStamp(status, writes: session.writes),
            patience: pictures.patience)
    }

    /// What a session staged is about to become the current version, and its picture with it.
    func publishPicture(
        _ session: WriteSession, _ position: MemoryIndex.Position, _ status: FileStatus
    ) {
        guard let pictures, isDrawnAtPublish(position) else { return }
        let stamp = ContentStamp(status, writes: session.writes)
        pictures.staged.publish(session.node, stamp, on: pictures.shelf) {
            guard var subject = pictureSubject(position) else { return false }
            subject.node = session.node
            return pictures.queue.isPending(subject.order(staged: stamp))
        }
    }
}
