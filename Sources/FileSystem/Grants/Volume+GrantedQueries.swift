internal import Catalog
internal import Coordination
internal import Model
internal import PathText
internal import SystemCalls

/// Queries of applications among the documents that are granted to them.
extension Volume {
    /// What the query finds among the documents granted to an application, as a ``GrantedAnswer``. Of
    /// other documents nothing is in it, nor where these lie.
    func grantedFindings(_ query: Query, to application: String) throws(Errno) -> [UInt8] {
        let (knowledge, problem) = try knowledge(query)
        let documents = grantedDocuments(to: application)
        let selection = Selection(query)
        var answer = GrantedAnswer()
        answer.problem = problem
        answer.granted = documents.count
        answer.until = documents.compactMap { $0.row.terms.until }.min()
        answer.rows = state.withLock { state in
            documents.compactMap { name, row in
                state.found(row.document, called: name, query, selection, knowledge)
            }
        }
        // What was told is there after a crash.
        try log.flush(upTo: log.head)
        return answer.text
    }
}

extension VolumeState {
    /// A document under this name, if the query finds it.
    fileprivate func found(
        _ document: DocumentID, called name: String, _ query: Query, _ selection: Selection,
        _ knowledge: Knowledge
    ) -> GrantedAnswer.Row? {
        let position = index.holder(of: document)
        let bytes = name.pathBytes
        guard position != 0, query.hidden || bytes.first != UInt8(ascii: "."),
            knowledge.items?.contains(number(position)) ?? true,
            knowledge.documents?.contains(document) ?? true
        else { return nil }
        let record = index[item: position]
        let facts = Selection.Facts(record, arrived)
        guard bytes.withUnsafeBytes({ selection.accepts($0, facts) }) else { return nil }
        return GrantedAnswer.Row(
            document: document, version: NodeNumber(number(position), record.pointee.ordinal),
            name: name, size: facts.size, modified: facts.modified,
            isPromise: facts.isPromise, title: knowledge.title(of: document))
    }
}
