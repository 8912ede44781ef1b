import DocumentFuzzing
import Testing

/// Documents that tests read from files.
enum Samples {
    /// The project's folder.
    static let project =
        "/" + "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/")

    /// Where small documents of all kinds are, sound and hostile.
    static let corpus = "\(project)/Tests/DocumentsTests/Corpus"

    /// Where somebody may have put documents of the original apps.
    static let originals = "\(project)/../shared/interop"

    /// Whether those are there.
    static let hasOriginals = !FileBytes.names(in: originals).isEmpty

    /// Why tests are skipped where they are not.
    static let withoutOriginals: Comment = "no documents of the original apps beside the project"

    /// A document of the corpus.
    static func read(_ name: String) throws -> [UInt8] {
        try #require(FileBytes.read("\(corpus)/\(name)"), "Corpus/\(name) is missing")
    }

    /// A document of an original app.
    static func original(_ name: String) throws -> [UInt8] {
        try #require(FileBytes.read("\(originals)/\(name)"), "\(name) is missing")
    }

    /// All documents of the corpus.
    static var all: [[UInt8]] {
        FileBytes.names(in: corpus).compactMap { FileBytes.read("\(corpus)/\($0)") }
    }
}
