import Glibc
import Probing
import TestSupport

/// A tree of files outside the mount with all that a copy has to keep: modes, times, links,
/// attributes, holes and odd names; with device nodes and owners if root makes it.
final class SampleTree {
    /// Where it is. `path.out` and the like are removed with it.
    let path: String

    private let base: String
    private var changes = 0

    /// Makes one on the temporary directory's file system.
    init() throws {
        base = try TemporaryDirectory.make()
        path = "\(base)/tree"
        let isRoot = geteuid() == 0
        try shell(
            """
            set -e; mkdir -p tree/plain/deep/er tree/empty tree/odd; cd tree
            for file in $(seq 60); do seq $file $((file * 60)) > plain/f$file; done
            head -c 3000000 /dev/urandom > plain/deep/large
            : > plain/deep/er/nothing
            truncate -s 3M holes; printf middle | dd of=holes bs=1 seek=1500000 conv=notrunc status=none
            ln plain/f1 hard; ln plain/f1 plain/deep/hard; ln -s plain/f2 soft; ln -s nowhere dangling
            printf x > "odd/ space  and
            newline"; printf x > "odd/$(printf '\\377\\376')"; printf x > odd/-dash; printf x > odd/ünï
            printf x > "odd/$(printf '%0255d' 7)"
            chmod 600 plain/f3; chmod 4755 plain/f4; chmod 2755 plain/deep; chmod 1777 empty
            touch -d '1999-12-31 23:59:59.123456789' plain/f5 plain/deep; touch -h -d '2001-01-01' soft
            mkfifo fifo
            \(isRoot ? "mknod null c 1 3; chown 1234:2345 plain/f6 odd; chown -h 1234 soft" : "")
            setfattr -n user.note -v 'a note' plain/f7
            setfattr -n user.binary -v 0x00ff00 plain/f7
            setfattr -n user.folder -v yes odd
            """)
    }

    /// Changes some files in some ways, differently each time.
    func change() {
        changes += 1
        let n = changes
        try? shell(
            """
            set -e; cd tree
            seq \(n) 9000 > plain/f\(n + 10); echo more \(n) >> plain/deep/large
            printf change | dd of=plain/deep/large bs=1 seek=\(n * 100_000) conv=notrunc status=none
            rm -f plain/f\(n + 20); mv plain/f\(n + 30) plain/deep/moved-\(n); ln plain/f40 plain/link-\(n)
            chmod 6\(n % 8)0 plain/f41; setfattr -n user.note -v 'changed \(n)' plain/f7
            """)
    }

    /// Removes it.
    func remove() {
        TemporaryDirectory.remove(base)
    }

    private func shell(_ line: String) throws {
        let result = try run(["sh", "-c", line], directory: base)
        guard result.status == 0 else { throw TestSetupFailure("sample tree: \(result)") }
    }
}
