internal import Model

/// What is told about a node of the kernel to those who watch that, since it came by another node of the item.
struct NodeChange: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// The item has another version, or has lost its last name.
        case content
        /// It has another name.
        case name
        /// It has other attributes.
        case attributes
        /// It has other attributes, by a program that had it open for writing.
        case attributesByWriter
    }

    var node: NodeNumber
    var kind: Kind
}
