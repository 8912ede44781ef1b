internal import Glibc
internal import PathText
internal import SystemCalls

/// The earlier versions that a mount of ours shows of a document.
enum MountVersions {
    /// Those of the document at the absolute `path`, oldest first.
    static func steps(of path: String) -> [HistoryStep] {
        guard let folder = folder(of: path),
            let names = try? Directories.names(in: folder)
        else { return [] }
        return names.compactMap { name -> HistoryStep? in
            var status = stat()
            let file = folder + "/" + name
            guard stat(file.cPath, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                return nil
            }
            let time = FileStamp(status).modified
            return HistoryStep(
                source: .version(file), time: time, description: description(of: time))
        }.sorted { $0.time < $1.time }
    }

    /// What is said of a version when nothing is known but its time, in nanoseconds since 1970.
    static func description(of time: Int64) -> String {
        let seconds = Int(time / 1_000_000_000)
        return "the version of " + LocalTime.text(seconds, as: "%Y-%m-%d %H:%M:%S")
    }

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
        while let slash = folder.lastIndex(of: "/") {
            folder = String(folder[..<slash])
            guard stat((folder.isEmpty ? "/" : folder).cPath, &status) == 0, status.st_dev == device
            else {
                break
            }
            root = folder
        }
        return root
    }
}
