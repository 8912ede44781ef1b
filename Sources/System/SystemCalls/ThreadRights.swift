/// What a thread may do with what others own, as far as this process can see it; nothing if it is gone.
package struct ThreadRights {
    /// The numbers of capabilities.
    package enum Capability: Int {
        case changeOwner = 0
        case ownFiles = 3
        case keepSetGroup = 4
    }

    private let thread: Int32

    package init(of thread: Int32) { self.thread = thread }

    /// Whether the group is one of its supplementary groups.
    package func isMember(of group: UInt32) -> Bool {
        guard thread > 0, let groups = Processes.status(of: "\(thread)", "Groups") else {
            return false
        }
        return groups.split(separator: " ").contains { UInt32($0) == group }
    }

    /// Whether it has the capability, and for everybody's files: whoever makes a user namespace has all of
    /// them in it.
    package func has(_ capability: Capability) -> Bool {
        guard thread > 0,
            let own = try? SymbolicLink.target(of: "/proc/self/ns/user"),
            let other = try? SymbolicLink.target(of: "/proc/\(thread)/ns/user"), own == other,
            let effective = Processes.status(of: "\(thread)", "CapEff")
        else { return false }
        return Capabilities.contains(effective, capability.rawValue)
    }
}
