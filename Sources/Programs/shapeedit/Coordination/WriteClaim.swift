import DocumentKit
import Model

/// The sole right to write a document in a mount while a command puts another content in its place:
/// what others have written and not closed yet would be in no version.
enum WriteClaim {
    /// How long others are waited for, in seconds.
    private static let patience = 10

    /// Throws if others go on writing, naming them. Where no daemon listens to this user it works without: by
    /// the document's lock, which `body` takes.
    static func run<Result>(
        on file: String, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard FileCoordinator.isServed(file) else { return try body() }
        let coordinator = FileCoordinator(purpose: FileCoordinator.inheritedPurpose)
        var done: Result?
        do {
            return try coordinator.coordinate(
                [FileIntent(file, .write)], waiting: .seconds(patience)
            ) { _ in
                let result = try body()
                done = result
                return result
            }
        } catch let failure as Failure {
            throw failure
        } catch let error as CoordinationError {
            // It was done, and is published: to be told of a claim that was lost then would have it done again.
            if let done { return done }
            switch error {
            case .unavailable, .notPermitted: return try body()
            default: throw Failure(error)
            }
        } catch {
            throw Failure(.software, "\(file): \(error)")
        }
    }
}
