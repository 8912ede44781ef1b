/// A number of `.shapeedit/metrics`.
private struct Metric {
    enum Kind: String {
        /// Goes up and down.
        case gauge
        /// Grows from 0 as long as the mount lasts.
        case counter
    }
    /// The field of `status.json` that has it.
    let field: String
    let name: String
    let kind: Kind
    let help: String

    init(_ field: String, _ name: String, _ kind: Kind, _ help: String) {
        (self.field, self.name, self.kind, self.help) = (field, name, kind, help)
    }

    static let all = [
        Metric("items", "items", .gauge, "Documents, folders and other items."),
        Metric("sessions", "sessions", .gauge, "Documents that are being written."),
        Metric("notYetDurable", "not_yet_durable", .gauge, "Versions not yet sure to be on disk."),
        Metric("unlinked", "unlinked", .gauge, "Items without a name that are still open."),
        Metric("lastChange", "changes", .counter, "Changes that the container has recorded."),
        Metric("presenters", "presenters", .gauge, "Programs that present a document."),
        Metric("freeBytes", "free_bytes", .gauge, "Free space of the container's disk."),
        Metric("totalBytes", "capacity_bytes", .gauge, "Size of the container's disk."),
        Metric("uploads", "uploads", .gauge, "Contents that wait for the store."),
        Metric("downloads", "downloads", .gauge, "Contents that are on their way here."),
        Metric("fetchedBytes", "fetched_bytes", .counter, "Bytes of contents fetched."),
        Metric("fetchedPictureBytes", "fetched_picture_bytes", .counter, "Bytes of pictures."),
        Metric("picturesDrawn", "pictures_drawn", .counter, "Pictures drawn."),
        Metric("picturesWaiting", "pictures_waiting", .gauge, "Pictures that wait to be drawn."),
        Metric("picturesFailed", "pictures_failed", .counter, "Pictures that could not be drawn."),
    ]
}

extension Volume {
    /// `.shapeedit/metrics`: the numbers of ``statusText()`` for programs that collect such, in the text
    /// format of OpenMetrics 1.0. What the mount does not have, as a store, is left out.
    func metricsText() -> [UInt8] {
        let fields = Dictionary(statusFields()) { first, _ in first }
        var text = ""
        for metric in Metric.all {
            guard let value = fields[metric.field] else { continue }
            let name = "shapeedit_" + metric.name
            text += "# TYPE \(name) \(metric.kind.rawValue)\n"
            if name.hasSuffix("_bytes") { text += "# UNIT \(name) bytes\n" }
            text += "# HELP \(name) \(metric.help)\n"
            let sample = metric.kind == .counter ? name + "_total" : name
            // A container's name has no character that a label would have to escape.
            text += "\(sample){container=\"\(container.name)\"} \(value)\n"
        }
        return Array((text + "# EOF\n").utf8)
    }
}
