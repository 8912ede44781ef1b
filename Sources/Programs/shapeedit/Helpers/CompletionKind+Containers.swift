import ArgumentParser

extension CompletionKind {
    /// The names of the containers that there are.
    static var containers: CompletionKind { .shellCommand("shapeedit container list 2>/dev/null") }
}
