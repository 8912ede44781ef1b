import DocumentKit
import FileSystem
import Glibc
import Model
import SystemCalls

/// The program that draws pictures of documents.
enum PictureProgram {
    /// `$SHAPEEDIT_THUMBNAILER`, or `shapeedit-thumbnailer` beside this program.
    static var path: String {
        if let path = Containers.environment("SHAPEEDIT_THUMBNAILER") {
            return MountTable.resolved(path) ?? path
        }
        let target = try? SymbolicLink.target(of: "/proc/self/exe")
        let own = String(decoding: target ?? [], as: UTF8.self)
        let folder = own.lastIndex(of: "/").map { String(own[..<$0]) } ?? "/usr/bin"
        return folder + "/shapeedit-thumbnailer"
    }

    /// How a mount makes pictures, as the environment has it.
    ///
    /// - Parameter desktop: see ``PictureOptions``.
    static func options(desktop: [String]) throws(Failure) -> PictureOptions {
        var options = PictureOptions(program: path, desktop: desktop)
        if let text = Containers.environment("SHAPEEDIT_PICTURE_PATIENCE") {
            guard let patience = UInt64(text), patience <= 60_000 else {
                throw Failure(
                    .usage,
                    "SHAPEEDIT_PICTURE_PATIENCE is '\(text)', not 0 to 60000 milliseconds")
            }
            options.patience = patience
        }
        return options
    }
}
