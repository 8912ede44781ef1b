internal import Catalog
internal import Model
internal import PathText
internal import Promises
internal import Stores
internal import SystemCalls

extension Volume {
    /// `.shapeedit/status.json`: what `shapeedit status` shows of this mount.
    ///
    /// - Parameter namesDocuments: whether those are named that are on their way, which is nobody's business
    ///   but the owner's of the mount: they may be in folders that others cannot look into.
    package func statusText(namesDocuments: Bool = true) -> [UInt8] {
        let body = statusFields(namesDocuments: namesDocuments).map { "  \"\($0.0)\": \($0.1)" }
            .joined(separator: ",\n")
        return Array("{\n\(body)\n}\n".utf8)
    }

    /// What the status says: names and finished JSON values.
    func statusFields(namesDocuments: Bool = true) -> [(String, String)] {
        let facts = state.withLock { state in
            (
                items: state.index.count, sessions: state.sessions.count,
                // Counted until the queue for the store has them, which is looked at later.
                unsealed: state.unsealed.count + state.sealing, dying: state.dying.count,
                excess: state.quota.problem
            )
        }
        let space = try? content.space()
        var fields: [(String, String)] = [
            ("container", PathText.quoted(container.name))
        ]
        fields += PathText.members("folder", container.folder.path)
        fields += [
            ("process", String(processIdentifier())),
            ("passthrough", channel?.passesThrough == true ? "true" : "false"),
            ("items", String(facts.items)),
            ("sessions", String(facts.sessions)),
            ("notYetDurable", String(facts.unsealed)),
            ("unlinked", String(facts.dying)),
            ("lastChange", String(log.head)),
            ("presenters", String(coordinator.presenterCount)),
        ]
        if let pictures { fields += pictures.statusFields }
        if let problem = texts?.problem { fields.append(("textProblem", PathText.quoted(problem))) }
        if let space {
            fields += [("freeBytes", String(space.free)), ("totalBytes", String(space.total))]
        }
        if !downloads.isEmpty {
            let active = downloads.flatMap(\.active)
            fields += [
                ("fetchedBytes", String(downloads.reduce(0) { $0 + $1.fetchedBytes })),
                ("downloads", String(active.count)),
                ("downloadingBytes", String(active.reduce(0) { $0 + $1.blob.size })),
                ("downloadedBytes", String(active.reduce(0) { $0 + $1.received })),
                ("transfers", transfers(namesDocuments ? active : [])),
            ]
        }
        if let link {
            fields += [
                ("store", PathText.quoted(link.address)),
                ("uploads", String(link.uploads.count)),
                ("fetchedPictureBytes", String(link.pictures.fetchedBytes)),
                ("pictureUploads", String(link.pictures.uploads)),
            ]
            if let problem = link.uploads.problem ?? link.downloads.problem {
                fields.append(("storeProblem", PathText.quoted(problem)))
            }
            if let problem = facts.excess {
                fields.append(("quotaProblem", PathText.quoted(problem)))
            }
        }
        if let control = state.withLock({ $0.control }) {
            fields += PathText.members("control", control)
        }
        if let logFile { fields += PathText.members("log", logFile) }
        if let report = container.recovered {
            fields.append(("recovery", PathText.quoted(report.description)))
        }
        if let problem = log.problem {
            fields.append(("problem", PathText.quoted(problem.message)))
        }
        return fields
    }
}

extension Volume {
    /// Documents that are told of one by one.
    private static let mostTransfers = 100

    /// The documents that are on their way, as JSON in one line.
    func transfers(_ active: [(blob: Blob, received: Int64, nodes: Set<NodeNumber>)])
        -> String
    {
        var list: [String] = []
        for (blob, received, nodes) in active.prefix(Self.mostTransfers) {
            let path = state.withLock { state -> [UInt8]? in
                for node in nodes {
                    let position = state.index.find(node.item)
                    if position != 0 { return state.index.path(of: position) }
                }
                return nil
            }
            guard let path else { continue }
            var members = PathText.members("path", String(path: path))
            members += [("size", String(blob.size)), ("received", String(received))]
            list.append(PathText.object(members))
        }
        return "[" + list.joined(separator: ", ") + "]"
    }
}
