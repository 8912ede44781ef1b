internal import Glibc
package import Model
internal import PathText
internal import SystemCalls
internal import Thumbnailing

/// The picture that a mount keeps of a document.
package enum KeptPicture {
    /// How long a picture that is being drawn is waited for, in milliseconds.
    private static let patience: UInt64 = 60_000
    /// The first and the longest pause between two looks, in microseconds.
    private static let pauses: (UInt32, UInt32) = (2_000, 50_000)

    /// The picture of the current version, at most so many pixels wide and high (128, 256, 512 or
    /// 1024); nil if the file is not in a mount of ours, if no picture is kept for this name of it, or
    /// nobody waits any more. The content is not fetched for it, and a placeholder is none.
    ///
    /// - Parameter waits: for a picture that is being drawn; else that is a failure.
    package static func read(
        _ file: String, pixels: Int, waits: Bool = true, while isWanted: () -> Bool = { true }
    ) throws(Failure) -> [UInt8]? {
        let deadline = MonotonicClock.after(milliseconds: patience)
        // A size that is missing for longer than a drawing takes could not be drawn.
        let lastDrawing = MonotonicClock.after(milliseconds: 20_000)
        var pause = pauses.0
        while isWanted(), let state = attribute(file, "thumbnail.state") {
            if state == "ready" {
                let version = attribute(file, "version")
                switch shown(file, pixels) {
                case .picture(let bytes):
                    // Another version may have come meanwhile.
                    if attribute(file, "thumbnail.state") == "ready",
                        attribute(file, "version") == version
                    {
                        return bytes
                    }
                case .placeholder(let hasOtherNames):
                    // This size follows the others; but not of what is not here, and what is kept may
                    // be the picture of another name, which says another type.
                    try requireContent(of: file)
                    if hasOtherNames || MonotonicClock.now > lastDrawing { return nil }
                case .other: return nil
                case .nothing: break
                }
            } else if let reason = state.after("failed: ") {
                throw Failure(.badData, "\(file): \(reason)")
            } else if let reason = state.after("unavailable: ") {
                throw Failure(.unavailable, "\(file): \(reason)")
            } else if state == "none" {
                try requireContent(of: file)
                throw Failure(.unavailable, "\(file): nothing here draws such a file")
            }
            if !waits || MonotonicClock.now > deadline {
                throw Failure(.temporary, "\(file): its picture is still being drawn")
            }
            usleep(pause)
            pause = min(pause * 2, pauses.1)
        }
        return nil
    }

    /// Throws if a file has no content that could be drawn, or none here: it is not fetched for a
    /// picture.
    package static func requireContent(of file: String) throws(Failure) {
        var status = stat()
        guard stat(file.cPath, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        if attribute(file, "state") == "promise" {
            throw Failure(
                .unavailable,
                "\(file): its content is not here; `shapeedit materialize` fetches it")
        }
        if status.st_size == 0, attribute(file, "container") != nil {
            throw Failure(.badData, "\(file): it is empty")
        }
    }

    /// What is shown in the place of a document's picture.
    private enum Shown {
        case picture([UInt8])
        case placeholder(hasOtherNames: Bool)
        /// A folder of that name, or nothing that could be there: its path is too long.
        case other
        case nothing
    }

    private static func shown(_ document: String, _ pixels: Int) -> Shown {
        guard let path = MountTable.resolved(document) else { return missing(Errno.last) }
        guard let point = MountTable.mountPoint(of: path) else { return .nothing }
        let picture =
            "\(point)/.shapeedit/thumbnails/\(pixels)\(path.dropFirst(point.count)).png"
        let file: OwnedDescriptor
        do throws(Errno) {
            file = try OwnedDescriptor.open(picture, O_RDONLY)
        } catch { return missing(error) }
        guard let status = try? file.status() else { return .nothing }
        guard status.st_mode & S_IFMT == S_IFREG else { return .other }
        guard let bytes = try? WholeFile.read(file) else { return .nothing }
        guard PNGFile.isPlaceholder(bytes) else { return .picture(bytes) }
        var found = stat()
        return .placeholder(hasOtherNames: stat(path.cPath, &found) == 0 && found.st_nlink > 1)
    }

    private static func missing(_ error: Errno) -> Shown {
        error.code == ENAMETOOLONG ? .other : .nothing
    }

    /// Of the version that is current now. Without opening the file: that would bring the content, and
    /// make the document one that was used.
    private static func attribute(_ file: String, _ name: String) -> String? {
        (try? PathAttributes.value("user.shapeedit." + name, of: file)).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}

extension String {
    fileprivate func after(_ beginning: String) -> Substring? {
        hasPrefix(beginning) ? dropFirst(beginning.count) : nil
    }
}
