internal import Documents
internal import SystemCalls

/// The claim of a program that changes one document on the basis of what is there, for as long as this
/// lives: programs that show the document save first what they have not saved. A program that runs the
/// command while it claims the document itself is not waited for.
///
/// Any thread.
package final class EditClaim: Sendable {
    private let connection: ControlConnection

    /// How long others are waited for, in milliseconds: somewhat longer than presenters may take.
    private static let patience = 6_000

    /// Waits until the document can be had, or others go on having it.
    ///
    /// - Returns: `nil` if nobody shows a document of its container, or there is no claim to be had on
    ///   it: then its lock is all that is needed.
    package static func ask(for path: String) -> EditClaim? {
        guard let place = try? ItemPlace(path), let point = place.mountPoint,
            let status = ControlConnection.status(point),
            (status["presenters"]?.integer ?? 0) > 0,
            let connection = try? ControlConnection(status, of: point)
        else { return nil }
        let claim = try? connection.claim(
            [(place.relative, .writeMerging)],
            purpose: FileCoordinator.inheritedPurpose
                ?? "edit \(UInt64.random(in: .min ... .max))",
            isNested: true, presenter: nil, milliseconds: patience)
        guard claim != nil else { return nil }
        return EditClaim(connection)
    }

    private init(_ connection: ControlConnection) { self.connection = connection }

    deinit { connection.close() }
}
