internal import Glibc
internal import SystemCalls

/// A document that a program has open: loaded, changed, saved when it is quiet, and following what others
/// do with its file.
///
/// Works in a mounted container and on any other file system. The file is read and written under a
/// claim of ``FileCoordinator``, and written whole: in a container it becomes a version, elsewhere a new
/// file takes its name. The article <doc:DocumentKit> has the rules. Any thread; what reads or writes
/// waits. An open document has to be closed: until then it is kept.
public final class Document<Contents: DocumentContents>: Sendable {
    /// The steps back; register with ``change(named:_:)``, not here.
    public let undoManager: UndoManager<Contents>
    /// Changes are saved when there was none for so long; `nil`: only on demand and on closing.
    public let quietTime: Duration?
    let core: Monitor<Core>
    /// One at a time reads or writes the file.
    let turn = Monitor(false)
    /// What this document does with its file is of one purpose.
    let purpose = "document-\(UInt64.random(in: .min ... .max))"
    let notify: @Sendable (DocumentEvent) -> Void

    /// A document that is not open yet.
    ///
    /// - Parameters:
    ///   - path: absolute, or relative to the working directory.
    ///   - quietTime: see ``quietTime``.
    ///   - undoLimit: how many steps back are kept.
    ///   - notify: told of what happens, one after the other, on a thread of the document's.
    public init(
        _ path: String, quietTime: Duration? = .seconds(1), undoLimit: Int = 100,
        _ notify: @escaping @Sendable (DocumentEvent) -> Void = { _ in }
    ) {
        self.quietTime = quietTime
        self.notify = notify
        undoManager = UndoManager(limit: undoLimit)
        core = Monitor(Core(path: path))
    }

    // MARK: What there is

    /// What the document holds; `nil` before it was opened. After closing it is what was there last.
    public var contents: Contents? { core.withLock { $0.contents } }
    /// How it is.
    public var state: DocumentState { core.withLock { $0.state } }
    /// Where its file is.
    public var path: String { core.withLock { $0.path } }
    /// What is not saved; nothing once it is closed.
    public var hasUnsavedChanges: Bool { core.withLock { $0.isUnsaved } }
    /// How many changes were made, undone or redone since it was opened.
    public var changeCount: Int { core.withLock { $0.changeCount } }
    /// Why saving or loading failed last; `nil` since it went well.
    public var error: (any Error)? { core.withLock { $0.error } }
    /// The conflict, while there is one.
    public var conflict: DocumentConflict<Contents>? { core.withLock { $0.conflict } }

    /// How much of the content is here, in percent, while ``DocumentState/progressAvailable``.
    public var progress: Int? {
        guard state.contains(.progressAvailable),
            let value = try? PathAttributes.value("user.shapeedit.progress", of: path)
        else { return nil }
        return Int(String(decoding: value, as: UTF8.self))
    }

    // MARK: Changing

    /// Changes the contents, as a step of ``undoManager``.
    ///
    /// - Parameters:
    ///   - name: of the step, for people.
    ///   - body: has no other effects: it is run again if another thread was faster, or what others
    ///     wrote was loaded meanwhile.
    /// - Throws: what `body` throws, `closed` or `editingDisabled`.
    public func change(
        named name: String = "", _ body: (inout Contents) throws -> Void
    ) throws {
        while true {
            let (before, revision) = try core.withLock { core throws(DocumentProblem) in
                (try core.editable(), core.revision)
            }
            var contents = before
            try body(&contents)
            let isDone = try core.signal { core throws(DocumentProblem) in
                _ = try core.editable()
                guard core.revision == revision else { return false }
                undoManager.register(before, named: name)
                core.put(contents)
                return true
            }
            if isDone { return }
        }
    }

    /// The changes that `body` makes are one step of ``undoManager``.
    public func group<Result>(named name: String, _ body: () throws -> Result) rethrows -> Result {
        undoManager.beginGroup()
        defer { undoManager.endGroup(named: name) }
        return try body()
    }

    /// Goes one step back; says whether there was one.
    @discardableResult
    public func undo() throws(DocumentProblem) -> Bool { try step { $0.undo(from: $1) } }

    /// Takes back what was undone last; says whether there was anything.
    @discardableResult
    public func redo() throws(DocumentProblem) -> Bool { try step { $0.redo(from: $1) } }

    private func step(
        _ body: (UndoManager<Contents>, Contents) -> Contents?
    ) throws(DocumentProblem) -> Bool {
        try core.signal { core throws(DocumentProblem) in
            guard let contents = body(undoManager, try core.editable()) else { return false }
            core.put(contents)
            return true
        }
    }

    /// Nothing changes until the matching ``enableEditing()``: neither by ``change(named:_:)`` nor by
    /// others, whose changes are loaded then. Calls nest.
    public func disableEditing() {
        core.signal { core in
            core.disabled += 1
            core.setState(.editingDisabled, true)
        }
    }

    /// Ends what ``disableEditing()`` began.
    public func enableEditing() {
        core.signal { core in
            core.disabled = max(0, core.disabled - 1)
            if core.disabled == 0, !core.state.contains(.closed) {
                core.setState(.editingDisabled, false)
                core.lookTime = MonotonicClock.now
            }
        }
    }
}
