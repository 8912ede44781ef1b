import ArgumentParser
import DocumentFiles
import Model

/// What undo, redo and history are given.
struct HistoryOptions: ParsableArguments {
    @Argument(help: "The document.", completion: .file())
    var file: String
    @OptionGroup var typing: TypeOption
    @Flag(help: "Print JSON.")
    var json = false

    var document: DocumentFile {
        get throws(Failure) { try DocumentFile(file, type: try typing.documentType) }
    }
}
