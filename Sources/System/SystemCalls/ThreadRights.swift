/// What a thread may do with what others own, as far as this process can see it; nothing if it is gone.
///
/// Made by reading what the kernel tells of the thread: not with a lock held that others wait for.
package struct ThreadRights: Sendable {
    /// The numbers of capabilities.
    package enum Capability: Int, Sendable {
        case changeOwner = 0
        case ownFiles = 3
        case keepSetGroup = 4
    }

    private let groups: Set<UInt32>
    /// The set of its capabilities; none where they are not for everybody's files: whoever makes a user
    /// namespace has all of them in it.
    private let effective: String

    package init(of thread: Int32) {
        guard thread > 0 else {
            (groups, effective) = ([], "")
            return
        }
        let list = Processes.status(of: "\(thread)", "Groups") ?? ""
        groups = Set(list.split(separator: " ").compactMap { UInt32($0) })
        if let own = try? SymbolicLink.target(of: "/proc/self/ns/user"),
            let other = try? SymbolicLink.target(of: "/proc/\(thread)/ns/user"), own == other
        {
            effective = Processes.status(of: "\(thread)", "CapEff") ?? ""
        } else {
            effective = ""
        }
    }

    /// Whether the group is one of its supplementary groups.
    package func isMember(of group: UInt32) -> Bool { groups.contains(group) }

    /// Whether it has the capability, and for everybody's files.
    package func has(_ capability: Capability) -> Bool {
        Capabilities.contains(effective, capability.rawValue)
    }
}
