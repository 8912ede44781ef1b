import Documents
import Thumbnailing

/// Takes the words out of documents, for searching.
enum Reading {
    static func text(_ request: TextRequest, _ descriptor: Int32?) throws(Rendering.Problem)
        -> WorkerText
    {
        let facts = try facts(request, descriptor)
        // A zero ends the title in the reply.
        let title = (facts.title ?? "").filter { $0 != "\0" }
        return WorkerText(title: title, body: facts.text)
    }

    private static func facts(_ request: TextRequest, _ descriptor: Int32?)
        throws(Rendering.Problem) -> DocumentFacts
    {
        let document: DocumentType
        switch request.type {
        case .shape: document = .shape
        case .shapeFile: document = .shapeFile
        case .slide: document = .slide
        case .list: document = .list
        case .text, .markdown:
            let part = Limits.searchTextBytes
            let bytes = try bytes(request, descriptor, part: part)
            guard let text = PlainText.read(bytes, isPart: bytes.count == part) else {
                throw Rendering.Problem(description: "not a text")
            }
            return PlainText.facts(of: text, isMarkdown: request.type == .markdown)
        }
        let bytes = try bytes(request, descriptor, part: .max)
        do throws(DocumentError) { return try document.facts(of: bytes) } catch {
            throw Rendering.Problem(description: error.description)
        }
    }

    private static func bytes(_ request: TextRequest, _ descriptor: Int32?, part: Int)
        throws(Rendering.Problem) -> [UInt8]
    {
        if let sent = request.bytes { return Array(sent.prefix(part)) }
        return try DocumentInput.bytes(of: descriptor, part: part)
    }
}
