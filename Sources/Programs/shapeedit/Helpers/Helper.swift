import FileSystem
import Glibc
import RecentFiles

/// What this program does in processes that a daemon starts: `shapeedit --helper NAME`, with a socket
/// to the daemon as standard input. Not for people, so no commands.
enum Helper: String {
    case recentFiles = "recent-files"
    case replay

    /// This program, as it starts itself.
    static let program = "/proc/self/exe"

    /// The helper that the command line asks for.
    init?(_ arguments: [String]) {
        guard arguments.count == 2, arguments[0] == "--helper" else { return nil }
        self.init(rawValue: arguments[1])
    }

    /// Works until the daemon wants no more.
    func run() {
        switch self {
        case .recentFiles: RecentFilesWorker.serve(STDIN_FILENO)
        case .replay: ReplayHelper.serve(STDIN_FILENO)
        }
    }
}
