import DocumentKit
import Glibc
import Model
import SystemCalls

/// `mount -o remount,ro DIR`: mount(8) leaves it to the program that made the mount, and what is to be
/// changed is the kernel's.
enum Remount {
    /// What the kernel can change of a mount. The rest of what mount(8) gives us is of the mount as it is.
    private static let changeable: Set<String> = [
        "remount", "ro", "rw", "nosuid", "suid", "nodev", "dev", "noexec", "exec", "noatime",
        "atime", "relatime", "norelatime", "strictatime", "nostrictatime", "nodiratime",
        "diratime", "symfollow", "nosymfollow", "sync", "async", "dirsync", "lazytime",
        "nolazytime", "silent", "loud",
    ]
    /// What mount(8) finds at a mount that there is, or reads in fstab for our helper.
    private static let found = [
        "user_id=", "group_id=", "blksize=", "seclabel", "container=", "uid=", "setuid=",
    ]

    /// Becomes mount(8), which is told to ask nobody, if `lists` of options say so; returns otherwise. Fails if
    /// one is known to nobody, as it does where a mount is made, and if what is written were to be on the disk
    /// at once, and the kernel passes it through: then it would say so of the mount, and ask for no fsync.
    static func runIfAsked(_ lists: [String], _ directory: String) throws(Failure) {
        let options = lists.flatMap { $0.split(separator: ",") }.map(String.init)
        guard options.contains("remount") else { return }
        _ = try MountOptions(
            options.filter { option in
                !changeable.contains(option) && !found.contains(where: option.hasPrefix)
            })
        if options.last(where: { ["sync", "async"].contains($0) }) == "sync",
            MountStatus(of: directory)["passthrough"] == "true"
        {
            throw Failure(
                .usage,
                "\(directory) is mounted with passthrough, which a remount cannot change: unmount it, "
                    + "and mount it with sync")
        }
        var changes = options.filter(changeable.contains)
        // Who serves a mount says which set-user-id programs of whom, and which devices, are in it; mount(8)
        // asks for them wherever fstab does not forbid them.
        let place = MountTable.resolved(directory) ?? directory
        let mount = KernelMount.topmost(at: place)
        if mount?.user != 0 { changes += ["nosuid", "nodev"] }
        var words = ["mount", "-i", "-o", changes.joined(separator: ",")]
        // From mount(8) we have all that the mount is to have, beside what is FUSE's own: what was taken
        // back by `exec` is not there. It must not come back from how the mount is now.
        if options.contains(where: { $0.hasPrefix("user_id=") }) {
            words.append("--options-mode=ignore")
        }
        words += ["--", directory]
        _ = words.withProgramWords { execvp("mount", $0) }
        throw Failure(.system, "mount(8) could not be run: \(Errno.last)")
    }
}
