import Control
import FileSystem
import Glibc
import Model
import PathText

/// Where the control sockets of the user's mounts are.
enum ControlAddress {
    /// The socket of the container's mount; `nil` if there is no place for it.
    static func path(_ container: String) -> String? {
        var folder = Containers.environment("XDG_RUNTIME_DIR")
        if folder?.hasPrefix("/") != true {
            let usual = "/run/user/\(geteuid())"
            folder = access(usual.cPath, W_OK) == 0 ? usual : nil
        }
        return folder.map { "\($0)/shapeedit/\(container).varlink" }
    }

    /// Makes the socket. A mount without one works, but for claims: the reason is said.
    static func listen(for volume: Volume, container: String) -> ControlSocket? {
        guard let path = path(container) else { return nil }
        do throws(Failure) {
            return try ControlSocket(volume, at: path, version: ShapeEdit.version)
        } catch {
            Console.complain("no control socket: \(error)")
            return nil
        }
    }
}
