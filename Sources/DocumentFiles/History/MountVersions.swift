internal import DocumentKit
internal import Glibc
internal import PathText
internal import SystemCalls

/// The earlier versions that a mount of ours shows of a document.
enum MountVersions {
    /// Those of the document at the absolute `path`, oldest first, with the times at which they became
    /// current.
    static func steps(of path: String) -> [HistoryStep] {
        guard let folder = VersionFiles(of: path)?.folder,
            let names = try? Directories.names(in: folder)
        else { return [] }
        return names.compactMap { name -> HistoryStep? in
            var status = stat()
            let file = folder + "/" + name
            guard stat(file.cPath, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                let time = try? VersionFiles.published(file)
            else { return nil }
            return HistoryStep(
                source: .version(file), time: time,
                description: description(of: FileStamp(status).modified))
        }.sorted { $0.time < $1.time }
    }

    /// What is said of a version when nothing is known but its time, in nanoseconds since 1970.
    static func description(of time: Int64) -> String {
        let seconds = Int(time / 1_000_000_000)
        return descriptionBegin + LocalTime.text(seconds, as: "%Y-%m-%d %H:%M:%S")
    }

    static let descriptionBegin = "the version of "
}
