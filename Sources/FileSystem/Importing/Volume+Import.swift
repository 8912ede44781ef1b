internal import Catalog
internal import Glibc
internal import Model
internal import PathText
internal import Promises
internal import SystemCalls

/// Taking over what a listing of a foreign tree tells (``ImportMessage``).
extension Volume {
    static let importAttribute = ownPrefix + Array("import".utf8)

    /// Carries out what the command says to the folder `node`. Only for its owner or root, and only if
    /// this daemon is theirs: it reads the source with its own rights.
    ///
    /// Throws EINVAL for what is no message, EEXIST if another tree was imported to the folder, ENODATA
    /// if none was and its changes are to be followed, ESTALE for a run that is over, ENOMEDIUM if
    /// nothing at all was shown and all would be removed. What was done before something failed is done:
    /// `stale` tells of it then too.
    func takeImport(
        _ node: NodeNumber, _ bytes: [UInt8], _ caller: Caller, _ stale: inout Stale
    ) throws(Errno) {
        guard let sources else { throw Errno(ENOTSUP) }
        guard let message = ImportMessage(bytes) else { throw Errno(EINVAL) }
        try read { (state) throws(Errno) in
            let record = state.index[item: try state.directory(node)]
            guard caller.user == 0 || caller.user == record.pointee.user && caller.user == geteuid()
            else { throw Errno(EPERM) }
        }
        switch message {
        case .begin(let token, let follows, let address):
            let pass = try begin(node.item, token, follows: follows, address, sources.downloads)
            sources.begin(pass)
        case .entries(let token, let entries):
            let pass = try pass(node, token)
            try pass.state.withLock { (state) throws(Errno) in
                try state.beginMessage()
                try sources.origins.withLock { (_) throws(Errno) in
                    try take(entries, pass, &state, caller, &stale)
                }
                state.endMessage()
            }
        case .hidden(let token, let paths, let isClosed):
            let pass = try pass(node, token)
            try pass.state.withLock { (state) throws(Errno) in
                try state.beginMessage()
                state.noteHidden(paths, withAllBelow: isClosed)
                state.endMessage()
            }
        case .end(let token):
            let pass = try pass(node, token)
            try pass.state.withLock { (state) throws(Errno) in
                // What was seen is forgotten: nothing would be kept for it.
                if state.isComplete { return }
                try state.beginMessage()
                if pass.follows {
                    if state.counts.shown == 0, try wouldRemove(pass, state) {
                        throw Errno(ENOMEDIUM)
                    }
                    try sources.origins.withLock { (_) throws(Errno) in
                        try takeLate(pass, &state, caller, &stale)
                    }
                    try removeUnseen(pass, &state, caller, &stale)
                }
                state.end()
                notePins(ofImported: node.item)
            }
        }
    }

    /// What the last import to the folder has done so far; `nil` if there was none in this mount.
    func importReport(_ node: NodeNumber) -> String? {
        guard let sources, let pass = sources.pass(node.item) else { return nil }
        return pass.report + """
            told \(sources.isTold(node.item))
            tellings \(tellings.load(ordering: .relaxed))

            """
    }

    /// The address of the tree an item was imported from, with the item's path in it on a second
    /// line; `nil` if it was not.
    func sourceAddress(_ item: ItemNumber) throws(Errno) -> String? {
        guard sources?.isInUse == true else { return nil }
        return try ask { (database) throws(Failure) in
            guard let origin = try database.origin(item),
                let address = try database.source(origin.source)
            else { return nil }
            return origin.path.isEmpty
                ? address : address + "\n" + String(path: origin.path)
        }
    }

    private func pass(_ node: NodeNumber, _ token: [UInt8]) throws(Errno) -> ImportPass {
        guard let pass = sources?.pass(node.item), pass.token == token else { throw Errno(ESTALE) }
        return pass
    }

    private func begin(
        _ root: ItemNumber, _ token: [UInt8], follows: Bool, _ address: String,
        _ downloads: Downloads
    ) throws(Errno) -> ImportPass {
        let known = try ask { (database) throws(Failure) in
            (try database.origin(root), try database.source(root))
        }
        let isNew = known.1 != address
        if isNew {
            if known.1 == nil {
                // A folder of another import stays that.
                if known.0 != nil { throw Errno(EEXIST) }
                if follows { throw Errno(ENODATA) }
            } else {
                let showsOther = try showsAnything(root)
                if follows || showsOther { throw Errno(EEXIST) }
            }
            _ = try change { (state) throws(Errno) in
                let position = state.index.find(root)
                if position == 0 { throw Errno(ENOENT) }
                let origin = OriginRow(
                    item: root, source: root, path: [], identity: [], tag: [], content: nil)
                return (
                    (),
                    state.record(
                        .imported, position, at: VolumeState.now(),
                        [
                            .putSource(SourceRow(root: root, address: address)),
                            .putOrigin(origin),
                        ])
                )
            }
        }
        return ImportPass(
            root: root, address, token: token, follows: follows, isFirst: isNew, downloads)
    }

    /// Whether anything was ever imported to the folder: a first run may have failed before it listed
    /// anything, as with a wrong address.
    private func showsAnything(_ root: ItemNumber) throws(Errno) -> Bool {
        try ask { (database) throws(Failure) in
            var found = false
            try database.forEachOrigin(of: root) { row in
                if row.item != root { found = true }
            }
            return found
        }
    }

    /// Runs a query whose failure is the container's.
    func ask<Result>(_ body: (CatalogDatabase) throws(Failure) -> Result) throws(Errno)
        -> Result
    {
        do throws(Failure) { return try container.query(body) } catch { throw Errno(EIO) }
    }

    // MARK: What is there

    /// Makes, moves and changes items as the entries tell. With ``SourceLink/origins`` held.
    private func take(
        _ entries: [ImportMessage.Entry], _ pass: ImportPass, _ state: inout ImportPass.State,
        _ caller: Caller, _ stale: inout Stale, isLast: Bool = false
    ) throws(Errno) {
        var step = ImportStep(pass: pass, caller: caller, state: state, isLast: isLast)
        defer {
            state = step.state
            stale.add(step.stale)
        }
        if !pass.isFirst { try prepare(&step, entries[...]) }
        try admitGrowth()
        var next = 0
        while next < entries.count, !step.isFull {
            step.coming = pass.coming
            let question = self.state.withLock { volume -> ImportStep.Question? in
                do throws(ImportStep.Question) {
                    while next < entries.count, !step.isFull {
                        try step.take(entries[next], volume)
                        next += 1
                    }
                    return nil
                } catch {
                    return error
                }
            }
            if let question { try prepare(&step, entries[next...], question) }
        }
        try log.flush(upTo: log.head)
        for name in step.forgotten { content.forgetIncoming(name) }
        if step.isFull { throw Errno(ENOSPC) }
    }

    /// Asks the catalog what the step wants to know of entries, and what it asked.
    private func prepare(
        _ step: inout ImportStep, _ entries: ArraySlice<ImportMessage.Entry>,
        _ question: ImportStep.Question? = nil
    ) throws(Errno) {
        var wanted = Set<ImportStep.Question>()
        // Of a folder that moved alone: all that is below asks that again, for each of its folders.
        let isOfFolder = if case .contents = question { true } else { false }
        if !isOfFolder { wanted.formUnion(entries.flatMap { step.questions($0) }) }
        if let question { wanted.insert(question) }
        let questions = wanted.filter { step.answers.index(forKey: $0) == nil }
        let root = step.pass.root
        let found = try ask { (database) throws(Failure) in
            var found: [(ImportStep.Question, OriginRow?)] = []
            for question in questions {
                switch question {
                case .contents(let folder):
                    step.contents[folder] = try database.origins(in: folder)
                case .item(let item), .anySource(let item):
                    try found.append((question, database.origin(item)))
                case .path(let path):
                    try found.append((question, database.origin(root, path: path)))
                case .identity(let identity):
                    try found.append((question, database.origin(root, identity: identity)))
                }
            }
            return found
        }
        for (question, row) in found {
            if case .anySource = question {
                step.answers.updateValue(row, forKey: question)
                continue
            }
            let row = row?.source == root ? row : nil
            step.answers.updateValue(row, forKey: question)
            if let row { step.answers.updateValue(row, forKey: .item(row.item)) }
        }
    }

    /// Takes over what was put off until all had been shown.
    private func takeLate(
        _ pass: ImportPass, _ state: inout ImportPass.State, _ caller: Caller, _ stale: inout Stale
    ) throws(Errno) {
        let late = state.late
        state.late = []
        for start in stride(from: 0, to: late.count, by: 500) {
            let part = Array(late[start..<min(start + 500, late.count)])
            try take(part, pass, &state, caller, &stale, isLast: true)
        }
    }
}
