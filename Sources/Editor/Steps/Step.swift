package import Editing

/// One thing the user did: what undo takes back at once.
package struct Step: Hashable, Sendable {
    /// An edit whose parts are found when it is made.
    struct Action: Hashable, Sendable {
        var before: [String]
        var parts: [PartReference]
        /// What follows the label of each part in its word, such as `.shape=cube`.
        var key: String
        var after: [String]
    }

    private(set) var actions: [Action]
    /// Steps of the same subject that follow at once are one step; nil for none.
    let subject: String?
    /// What it does, for people and the history.
    package let description: String

    /// A step of one edit: words, the parts with a key, and words after them.
    package init(
        _ before: [String], _ parts: [PartReference] = [], key: String = "",
        _ after: [String] = [], subject: String? = nil, description: String
    ) {
        actions = [Action(before: before, parts: parts, key: key, after: after)]
        self.subject = subject
        self.description = description
    }

    /// A step of several edits that were typed.
    package init(_ edits: [Edit], description: String) {
        actions = edits.map { Action(before: $0.words, parts: [], key: "", after: []) }
        subject = nil
        self.description = description
    }

    /// How many edits one step may gather.
    private static let limit = 200

    /// Takes another step in, if both are of one subject.
    mutating func gather(_ step: Step) -> Bool {
        guard let subject, subject == step.subject, actions.count < Step.limit else { return false }
        actions += step.actions
        return true
    }

    /// Makes the edits, all or none.
    package func apply(to document: inout EditableDocument) throws(EditError) -> [Change] {
        var result = document
        var changes: [Change] = []
        for action in actions {
            var words = action.before
            if !action.parts.isEmpty {
                let parts = Editor.parts(of: result)
                for reference in action.parts {
                    guard let index = reference.find(in: parts) else {
                        throw EditError(
                            .notFound, at: description, "what it was about is not there any more")
                    }
                    words.append(parts[index].label + action.key)
                }
            }
            changes += try result.apply([try Edit(words: words + action.after)])
        }
        document = result
        return changes
    }
}
