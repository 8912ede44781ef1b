package import Model

/// Which versions of documents processes have seen lately: that tells who replaces a version that it
/// has never seen. See the page Presentation.
///
/// Pure: no clock, no threads. Noting costs three stores, asking a walk over all that is noted.
package struct SeenVersions: Sendable {
    /// Looks that are remembered; the oldest go first.
    package static let capacity = 8_192

    // Side by side, so that looking for a document reads nothing else.
    private var documents: [UInt64] = []
    private var nodes: [NodeNumber] = []
    private var processes: [Int32] = []
    /// Whether the process read the version, rather than made it.
    private var readings: [Bool] = []
    /// Where the next one goes when all places are taken: the oldest is there.
    private var next = 0
    /// When those processes began, and others.
    private var starts: [Int32: UInt64] = [:]

    package init() {}

    /// A process is there that began at a moment: what one has seen that had the number before is forgotten.
    package mutating func meet(_ process: Int32, startedAt start: UInt64) {
        if let known = starts.updateValue(start, forKey: process), known != start {
            for place in processes.indices where processes[place] == process {
                (processes[place], readings[place]) = (0, false)
            }
        }
        if starts.count > 2 * Self.capacity {
            let noted = Set(processes)
            starts = starts.filter { noted.contains($0.key) || $0.key == process }
        }
    }

    /// A process has seen a version, or made it.
    package mutating func note(
        _ document: DocumentID, _ node: NodeNumber, by process: Int32, isReading: Bool = false
    ) {
        // Who that is cannot be told from others of whom it cannot be told either.
        if process == 0 { return }
        if documents.count < Self.capacity {
            documents.append(document.rawValue)
            nodes.append(node)
            processes.append(process)
            readings.append(isReading)
            return
        }
        (documents[next], nodes[next], processes[next]) = (document.rawValue, node, process)
        readings[next] = isReading
        next = (next + 1) % Self.capacity
    }

    /// The version of a document that a process has seen last; `nil` if it has seen none.
    package func last(of document: DocumentID, by process: Int32) -> NodeNumber? {
        if let place = place(of: document, by: process, in: 0..<next) { return nodes[place] }
        return place(of: document, by: process, in: next..<documents.count).map { nodes[$0] }
    }

    /// Whether a process has read a document, any version of it.
    package func hasRead(_ document: DocumentID, _ process: Int32) -> Bool {
        documents.indices.contains {
            documents[$0] == document.rawValue && processes[$0] == process && readings[$0]
        }
    }

    /// Who has seen a version or made it.
    package func processes(of document: DocumentID, _ node: NodeNumber) -> [Int32] {
        documents.indices.filter {
            documents[$0] == document.rawValue && nodes[$0] == node
        }.map { processes[$0] }
    }

    /// The last place in a range.
    private func place(of document: DocumentID, by process: Int32, in range: Range<Int>) -> Int? {
        documents.withUnsafeBufferPointer { documents in
            for place in range.reversed()
            where documents[place] == document.rawValue && processes[place] == process {
                return place
            }
            return nil
        }
    }
}
