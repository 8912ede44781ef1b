import Glibc
import Probing
import TestSupport
import Testing

/// mount(8) with `-o remount`.
@Suite(.oneAtATime) struct RemountTests {
    /// By the helper, and as mount.fuse3 calls the program where there is none.
    @Test(.enabled(if: DataPath.isPrivileged, "only root remounts"), arguments: [true, false])
    func `mount(8) makes a mount read-only, and writable again`(_ isHelped: Bool) throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try container.mount()
            let helped = container.environment.merging(
                ["SHAPEEDIT_BINARY": try BuiltPrograms.shapeedit()]) { $1 }
            func remount(_ options: String) throws {
                let words = ["shapeedit", container.mountPoint, "-o", options]
                let result =
                    isHelped
                    ? try run([MountFormTests.helper] + words, environment: helped)
                    : try container.command(words)
                #expect(result.status == 0 && result.errorText.isEmpty, "\(options): \(result)")
            }
            let agent = try Agent(in: container.mountPoint)
            defer { agent.end() }
            try remount("ro,nosuid,nodev,remount,user_id=0,group_id=0,default_permissions")
            agent.open("a", O_WRONLY, fails: EROFS)
            #expect(agent.content("a") == "a's only content")
            try remount("rw,remount")
            agent.store("a", "changed")
            #expect(agent.content("a") == "changed")
            // What is taken back is only missing in what mount(8) asks for.
            let rest = "nosuid,nodev,relatime,remount,user_id=0,group_id=0,default_permissions"
            for (options, isForbidden) in [("rw,noexec,", true), ("rw,", false)] {
                try remount(options + rest)
                var status = statvfs()
                #expect(statvfs(container.mountPoint, &status) == 0)
                #expect((status.f_flag & UInt(MS_NOEXEC) != 0) == isForbidden, "\(options)")
                #expect(status.f_flag & UInt(MS_NOSUID) != 0, "\(options)")
            }
            agent.end()
            try container.unmount()
        }
    }

    /// By the helper, whose codes are those of mount(8).
    @Test(.enabled(if: DataPath.isPrivileged, "only root remounts"))
    func `a remount with a word that nobody knows is refused, and changes nothing`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            try container.mount(options: ["quota=5G"])
            let helped = container.environment.merging(
                ["SHAPEEDIT_BINARY": try BuiltPrograms.shapeedit()]) { $1 }
            // What mount(8) finds at the mount and in fstab comes beside the word.
            let rest =
                "nosuid,nodev,remount,user_id=0,group_id=0,default_permissions,noauto,"
                + "x-systemd.automount,container=test,quota=5G"
            for word in ["nonsense", "nosuid=3", "store_timeout=nonsense", ""] {
                let words = ["shapeedit", container.mountPoint, "-o", "ro,\(rest),\(word)"]
                let result = try run([MountFormTests.helper] + words, environment: helped)
                #expect(result.status == (word.isEmpty ? 0 : 32), "\(word): \(result)")
                let isSaid = word.isEmpty == result.errorText.isEmpty
                #expect(isSaid && (word.isEmpty || result.errorText.contains(word)), "\(result)")
                var status = statvfs()
                #expect(statvfs(container.mountPoint, &status) == 0)
                #expect((status.f_flag & UInt(ST_RDONLY) != 0) == word.isEmpty, "\(word)")
            }
            try container.unmount()
        }
    }

    /// A daemon of theirs could serve a program that is root's and set-user-id.
    @Test(
        .enabled(
            if: DataPath.isPrivileged && DataPath.ordinaryUsersCanMount, "only root remounts"),
        arguments: ["remount", "rw,remount", "remount,suid,dev", "rw,remount,user_id=1"])
    func `a remount gives an ordinary user's mount no set-user-id programs and no devices`(
        _ options: String
    ) throws {
        let container = try Container(user: nobody)
        defer { container.remove() }
        try container.mount()
        let helped = container.environment.merging(
            ["SHAPEEDIT_BINARY": try BuiltPrograms.shapeedit()]) { $1 }
        let words = [MountFormTests.helper, "shapeedit", container.mountPoint, "-o", options]
        let result = try run(words, environment: helped)
        #expect(result.status == 0, "\(result)")
        var status = statvfs()
        #expect(statvfs(container.mountPoint, &status) == 0)
        let forbidden = UInt(MS_NOSUID | MS_NODEV)
        #expect(status.f_flag & forbidden == forbidden)
        try container.unmount()
    }

    @Test(.enabled(if: DataPath.isPrivileged, "only root remounts"))
    func `a mount that the kernel passes through cannot be made synchronous`() throws {
        try withBrokenContainer { broken in
            let container = broken.container
            func isSynchronous() -> Bool {
                var status = statvfs()
                return statvfs(container.mountPoint, &status) == 0
                    && status.f_flag & UInt(MS_SYNCHRONOUS) != 0
            }
            let words = ["shapeedit", container.mountPoint, "-o", "remount,sync"]
            for options in [[], ["no_passthrough"], ["sync"]] {
                try container.mount(options: options)
                let passes = try container.status().passthrough == true
                let result = try container.command(words)
                #expect((result.status == Int(EX_USAGE)) == passes, "\(options): \(result)")
                #expect(result.errorText.contains("sync") == passes, "\(options): \(result)")
                #expect(isSynchronous() != passes, "\(options)")
                try container.unmount()
            }
        }
    }
}
