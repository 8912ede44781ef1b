import DocumentFiles
import DocumentKit
import Documents
import Glibc
import Model
import PathText
import SystemCalls
import Varlink

/// What is watched: a document or folder of a mount.
struct WatchedPlace {
    let mountPoint: String
    /// Below the mount's root; empty for the root itself.
    let path: String
    /// Whether it is a document.
    let isFile: Bool
    /// Of a document: it is followed wherever it goes.
    private let document: String?

    /// Finds it; a failure of kind usage if it is in no mount.
    init(_ name: String) throws(Failure) {
        let (point, resolved) = try MountPoint.containing(name)
        mountPoint = point.path
        path = resolved.relative(to: point.path)
        var status = stat()
        isFile = stat(resolved.cPath, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let id = isFile ? try? PathAttributes.value("user.shapeedit.id", of: resolved) : nil
        document = id.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the event is about what is watched.
    func covers(_ event: WatchedEvent) -> Bool {
        if event.kind == "lost" || path.isEmpty { return true }
        if let document, event.document == document { return true }
        return [event.path, event.former].contains { place in
            guard let place else { return false }
            return MountTable.isBelow(place, path)
        }
    }
}

/// A line of `.shapeedit/events`.
struct WatchedEvent {
    let kind: String
    let path: String?
    let former: String?
    let document: String?
    private let time: String?
    private let percent: Int?
    private let lost: (Int, Int)?

    /// `nil` if the line is none.
    init?(_ line: String) {
        guard let object = (try? JSONValue.readTolerantly(Array(line.utf8)))?.value.object,
            let kind = object["kind"]?.string
        else { return nil }
        self.kind = kind
        path = object.path("path")
        former = object.path("from")
        document = object["document"]?.string
        time = object["time"]?.string
        percent = object["percent"]?.integer
        lost = object["first"]?.integer.flatMap { first in
            object["last"]?.integer.map { (first, $0) }
        }
    }

    /// For people.
    var text: String {
        if let lost {
            return "changes \(lost.0) to \(lost.1) are not known any more: look at everything again"
        }
        // To the second: the rest is for programs.
        let moment = time.map(HistoryReport.time(told:)) ?? ""
        let place = path.map { $0.isEmpty ? "." : $0 } ?? "(gone)"
        let from = former.map { "\($0) -> " } ?? ""
        return "\(moment)  \(kind)  \(from)\(place)" + (percent.map { "  \($0)%" } ?? "")
    }
}
