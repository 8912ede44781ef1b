internal import Thumbnailing

/// What a mount has the user's list of recently used files say. Paths are absolute.
package struct RecentFilesOrder: Equatable, Sendable {
    package struct Document: Equatable, Sendable {
        package var path: [UInt8]
        /// In seconds since 1970.
        package var opened: Int64

        package init(path: [UInt8], opened: Int64) {
            self.path = path
            self.opened = opened
        }
    }
    package struct Move: Equatable, Sendable {
        package var from: [UInt8]
        package var to: [UInt8]

        package init(from: [UInt8], to: [UInt8]) {
            self.from = from
            self.to = to
        }
    }

    /// The list.
    package var file: String
    /// Where the mount is: what the list has below it is answered.
    package var folder: String
    package var documents: [Document] = []
    package var moved: [Move] = []
    /// Entries that go, unless they are later than the moment: somebody has opened the file since.
    package var removed: [Document] = []
    /// Entries that go as well, but those that only other programs registered.
    package var strays: [Document] = []

    package init(file: String, folder: String) {
        self.file = file
        self.folder = folder
    }

    /// Whether nothing of the list is to become another.
    package var isEmpty: Bool {
        documents.isEmpty && moved.isEmpty && removed.isEmpty && strays.isEmpty
    }

    /// Fields with a NUL behind each, which no path has.
    package var message: [UInt8] {
        var fields = [Array(file.utf8), Array(folder.utf8)]
        for document in documents {
            fields += [[UInt8(ascii: "D")], document.path, Array(String(document.opened).utf8)]
        }
        for move in moved { fields += [[UInt8(ascii: "M")], move.from, move.to] }
        for entry in removed {
            fields += [[UInt8(ascii: "R")], entry.path, Array(String(entry.opened).utf8)]
        }
        for entry in strays {
            fields += [[UInt8(ascii: "S")], entry.path, Array(String(entry.opened).utf8)]
        }
        return MessageFields.message(fields)
    }

    init?(message: [UInt8]) {
        var fields = MessageFields.of(message)[...]
        guard let file = fields.popFirst(), let folder = fields.popFirst() else { return nil }
        self.init(
            file: String(decoding: file, as: UTF8.self),
            folder: String(decoding: folder, as: UTF8.self))
        while let kind = fields.popFirst() {
            guard let path = fields.popFirst(), let second = fields.popFirst() else { return nil }
            let moment = Int64(String(decoding: second, as: UTF8.self))
            switch (kind, moment) {
            case ([UInt8(ascii: "M")], _): moved.append(Move(from: path, to: second))
            case ([UInt8(ascii: "R")], let moment?):
                removed.append(Document(path: path, opened: moment))
            case ([UInt8(ascii: "S")], let moment?):
                strays.append(Document(path: path, opened: moment))
            case ([UInt8(ascii: "D")], let moment?):
                documents.append(Document(path: path, opened: moment))
            default: return nil
            }
        }
    }
}

/// What the list says afterwards.
package struct RecentFilesAnswer: Equatable, Sendable {
    /// So many at most, the last ones.
    static let limit = 1_000

    /// The list as it was left.
    package var stamp: ListStamp
    /// What it has below the mount, by whomever it was registered.
    package var documents: [RecentFilesOrder.Document]

    init(stamp: ListStamp, documents: [RecentFilesOrder.Document]) {
        self.stamp = stamp
        self.documents = documents
    }

    var message: [UInt8] {
        var fields = stamp.numbers.map { Array(String($0).utf8) }
        for document in documents {
            fields += [document.path, Array(String(document.opened).utf8)]
        }
        return MessageFields.message(fields)
    }

    package init?(message: [UInt8]) {
        var fields = MessageFields.of(message)[...]
        let numbers = fields.prefix(4).compactMap { Int64(String(decoding: $0, as: UTF8.self)) }
        guard let stamp = ListStamp(numbers: numbers) else { return nil }
        fields = fields.dropFirst(4)
        self.init(stamp: stamp, documents: [])
        while let path = fields.popFirst() {
            guard let text = fields.popFirst(),
                let opened = Int64(String(decoding: text, as: UTF8.self))
            else { return nil }
            documents.append(RecentFilesOrder.Document(path: path, opened: opened))
        }
    }
}
