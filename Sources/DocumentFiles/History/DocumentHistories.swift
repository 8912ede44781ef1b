/// The histories of this user, for who does not edit.
package enum DocumentHistories {
    /// Removes what undo and redo know of the documents of a container that is deleted, as far as that can be.
    ///
    /// - Parameter identity: the container's, as its documents tell it (`user.shapeedit.container.id`).
    package static func remove(ofContainer name: String, identity: String) {
        HistoryPlace.removeAll(ofContainer: Array((identity + name).utf8))
    }
}
