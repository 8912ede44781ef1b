import CKernel
import Glibc
import Probing
import TestSupport
import Testing

/// Who waits for what a store does not give hears signals, and waits in no state in which none is heard.
@Suite(.oneAtATime)
struct SignalledWaitTests {
    @Test func `who waits for a frozen server can be interrupted and killed`() throws {
        try withFrozenServer(options: ["store_timeout=90"]) { volume, server in
            let agent = try volume.agent()
            agent.store("small", "content")
            agent.shell("head -c 9000000 /dev/urandom > large; sha256sum large > sum")
            try volume.evictAll()
            try volume.remount()
            let after = try volume.agent()
            try server.signal("STOP")
            // A failure of the open would be another exit code.
            let waiter = """
                import os, signal, sys
                def wake(*_): raise InterruptedError
                signal.signal(signal.SIGALRM, wake)
                signal.alarm(1)
                try:
                    file = os.open(sys.argv[1], int(sys.argv[2]))
                    os.pread(file, 10, 5000000) if sys.argv[1] == "large" else os.write(file, b"x")
                except InterruptedError: sys.exit(7)
                except OSError: sys.exit(8)
                """
            after.store("waiter.py", ByteString(waiter))
            for words in ["small 0", "small 2", "large 0", "large 2"] {
                after.shell("timeout 30 python3 waiter.py \(words); test $? = 7")
            }
            after.shell("timeout -s KILL 1 cat small; test $? = 137")
            after.shell("timeout -s KILL 1 cat large; test $? = 137")
            // All else goes on.
            after.store("new", "made meanwhile")
            #expect(after.content("new") == "made meanwhile")
            after.shell("ls -l; mv small moved")
            try server.signal("CONT")
            #expect(after.content("moved") == "content")
            after.shell("sha256sum -c sum")
        }
    }

    @Test func `a direct read of what a frozen server has is interrupted and killed at once`()
        throws
    {
        try withFrozenServer(options: ["store_timeout=90"]) { volume, server in
            try volume.agent().shell("head -c 9000000 /dev/urandom > large")
            try volume.evictAll()
            let waiter = """
                import mmap, os, signal, sys
                def wake(*_): raise InterruptedError
                signal.signal(signal.SIGALRM, wake)
                signal.alarm(int(sys.argv[1]))
                file = os.open("large", os.O_RDONLY | os.O_DIRECT)
                try: os.preadv(file, [mmap.mmap(-1, 4096)], 0)
                except InterruptedError: sys.exit(7)
                """
            let agent = try volume.agent()
            agent.store("waiter.py", ByteString(waiter))
            try server.signal("STOP")
            agent.shell("timeout 30 python3 waiter.py 1; test $? = 7")
            // It is gone, and not only its parent.
            agent.shell(
                "python3 waiter.py 80 & sleep 1; kill -KILL $!; timeout 30 tail --pid=$! -f /dev/null"
            )
            try server.signal("CONT")
        }
    }

    @Test func `a program that reads what does not come waits in no state that hears no signal`()
        throws
    {
        try withFrozenServer(options: ["store_timeout=90"]) { volume, server in
            let agent = try volume.agent()
            agent.shell("head -c 9000000 /dev/urandom > large; sha256sum large > sum")
            try volume.evictAll()
            try server.signal("STOP")
            for words in ["cat large", "dd if=large bs=3M skip=1", "cp large ../copy"] {
                // Who comes later waits for a page that is asked for by another.
                agent.shell(
                    """
                    \(words) > /dev/null & program=$!; sleep 1
                    for try in $(seq 40); do
                        state=$(ps -o stat= -p $program); case $state in S*) break; esac; sleep 0.5
                    done
                    kill $program; wait $program
                    case $state in S*) ;; *) echo "\(words): $state"; exit 1;; esac
                    """)
            }
            try server.signal("CONT")
            agent.shell("sha256sum -c sum")
        }
    }

    @Test(.enabled(if: KernelVersion.isAtLeast(6, 6), "needs FUSE_DIRECT_IO_ALLOW_MMAP"))
    func `of many who read one page that does not come every one hears signals`() throws {
        try withFrozenServer(options: ["store_timeout=90"]) { volume, server in
            let agent = try volume.agent()
            agent.shell("head -c 9000000 /dev/urandom > large; sha256sum large > sum")
            try volume.evictAll()
            try volume.remount()
            let after = try volume.agent()
            try server.signal("STOP")
            after.shell(
                """
                for number in 1 2 3 4; do
                    cat large > /dev/null & programs="$programs $!"
                    dd if=large bs=100 skip=20 count=1 > /dev/null 2>&1 & programs="$programs $!"
                done
                for try in $(seq 40); do
                    sleep 0.5; states=$(ps -o stat= $programs | cut -c1 | sort | uniq -c | xargs)
                    case $states in "8 S") break; esac
                done
                kill $programs; wait
                case $states in "8 S") ;; *) echo "$states"; exit 1;; esac
                """)
            try server.signal("CONT")
            after.shell("sha256sum -c sum")
        }
    }
}
