import DocumentKit
import SystemCalls
import TestSupport

/// A document with what it told.
final class OpenedDocument {
    let document: Document<Text>
    let events: Lock<[String]>

    init(_ path: String, quietTime: Duration? = nil, creating new: Text? = nil) throws {
        let events = Lock([String]())
        self.events = events
        document = Document(path, quietTime: quietTime) { event in
            let word =
                switch event {
                case .contentsChanged: "contents"
                case .stateChanged: "state"
                case .saved: "saved"
                case .moved: "moved"
                case .keptCopy: "copy"
                }
            events.withLock { $0.append(word) }
        }
        try document.open(creating: new)
    }

    var text: String? { document.contents?.text }
    func set(_ text: String) throws { try document.change { $0.text = text } }
    func count(_ word: String) -> Int { events.withLock { $0.count { $0 == word } } }
}
