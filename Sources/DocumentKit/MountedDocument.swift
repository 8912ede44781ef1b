internal import SystemCalls

/// Which document of which container is in a mount of ours, by which it is found wherever it is moved there.
package struct MountedDocument: Hashable, Sendable {
    /// The folder that shows the container; empty for the root.
    package let point: String
    /// By its id and its name: documents of another one have the same ids, and a copy has the container's.
    private let container: [UInt8]
    private let id: [UInt8]

    /// - Parameters:
    ///   - path: where it is now; `nil` comes of a document of another container, whose id is that there, and
    ///     in a mount of another user.
    ///   - point: the folder that shows the container.
    package init?(at path: String, in point: String) {
        guard let id = try? PathAttributes.value("user.shapeedit.id", of: path),
            let container = Self.container(at: point),
            (try? PathAttributes.value(Self.containerName, of: path))
                == (try? PathAttributes.value(Self.containerName, of: Self.folder(point)))
        else { return nil }
        (self.point, self.container, self.id) = (point, container, id)
        if link == nil { return nil }
    }

    /// Whether another container is shown there now.
    package var isAnothers: Bool { Self.container(at: point).map { $0 != container } ?? false }

    /// Where the document is now; `nil` if it is not there, or its container is not.
    package var path: String? {
        guard let path = link?.path,
            (try? PathAttributes.value("user.shapeedit.id", of: path)) == id,
            Self.container(at: point) == container
        else { return nil }
        return path
    }

    private var link: MountLink? {
        MountLink(
            "\(point)/.shapeedit/documents/\(String(decoding: id, as: UTF8.self))", of: point)
    }

    private static let containerName = "user.shapeedit.container"

    private static func folder(_ point: String) -> String { point.isEmpty ? "/" : point }

    private static func container(at point: String) -> [UInt8]? {
        guard let name = try? PathAttributes.value(containerName, of: folder(point)),
            let id = try? PathAttributes.value(containerName + ".id", of: folder(point))
        else { return nil }
        return id + name
    }
}
