internal import Glibc
internal import PathText
internal import SystemCalls

/// The earlier versions that a mount of ours shows of a document.
enum MountVersions {
    /// Those of the document at the absolute `path`, oldest first, with the times at which they became
    /// current.
    static func steps(of path: String) -> [HistoryStep] {
        guard let folder = folder(of: path),
            let names = try? Directories.names(in: folder)
        else { return [] }
        return names.compactMap { name -> HistoryStep? in
            var status = stat()
            let file = folder + "/" + name
            guard stat(file.cPath, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                let time = try? published(file)
            else { return nil }
            return HistoryStep(
                source: .version(file), time: time,
                description: description(of: FileStamp(status).modified))
        }.sorted { $0.time < $1.time }
    }

    /// When the version of that file became the current one, in nanoseconds since 1970.
    static func published(_ file: String) throws(Errno) -> Int64? {
        let text = try PathAttributes.value("user.shapeedit.published", of: file)
        let moment = String(decoding: text, as: UTF8.self).split(separator: ".")
            .compactMap { Int64($0) }
        return moment.count == 2 ? moment[0] &* 1_000_000_000 &+ moment[1] : nil
    }

    /// What is said of a version when nothing is known but its time, in nanoseconds since 1970.
    static func description(of time: Int64) -> String {
        let seconds = Int(time / 1_000_000_000)
        return descriptionBegin + LocalTime.text(seconds, as: "%Y-%m-%d %H:%M:%S")
    }

    static let descriptionBegin = "the version of "

    /// The folder of the earlier versions of the document at the absolute `path`.
    static func folder(of path: String) -> String? {
        mountRoot(of: path).map { $0 + "/.shapeedit/versions" + path.dropFirst($0.count) }
    }

    /// The highest folder above `path` on the same device.
    static func mountRoot(of path: String) -> String? {
        var status = stat()
        guard stat(path.cPath, &status) == 0 else { return nil }
        let device = status.st_dev
        var root: String?
        var folder = path
        while folder != "/" {
            folder = folder.parentPath
            guard stat(folder.cPath, &status) == 0, status.st_dev == device else { break }
            root = folder == "/" ? "" : folder
        }
        return root
    }
}
