import Glibc
import Model
import PathText
import SystemCalls

/// Runs a command and waits for its end.
enum ChildCommand {
    /// The child that signals are passed on to.
    nonisolated(unsafe) private static var child: pid_t = 0

    /// - Parameter environment: what the command finds besides this program's own.
    /// - Returns: its exit status, 128 and the signal that ended it, 127 if there is no such command, or
    ///   126 if it cannot be run, as with env(1) and in shells; why is said then.
    static func run(_ words: [String], environment: [String: String]) -> Int32 {
        for (name, value) in environment { setenv(name, value.cPath, 1) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var normal = sigset_t()
        sigemptyset(&normal)
        sigaddset(&normal, SIGXFSZ)
        // Once the command has ended there is nobody to pass them on to.
        var handled: [Int32] = []
        defer { for number in handled { signal(number, SIG_DFL) } }
        // A terminal's keys are for the command, which this waits for; other signals are passed on. What is
        // ignored already, as with nohup(1) and in the background of scripts, the command ignores as well.
        for number in [SIGINT, SIGQUIT] where IgnoredSignals.set(number, SIG_IGN) {
            sigaddset(&normal, number)
            handled.append(number)
        }
        posix_spawnattr_setsigdefault(&attributes, &normal)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        var process = pid_t()
        func start(_ words: [String]) -> Int32 {
            words.withProgramWords {
                posix_spawnp(&process, words[0].cPath, nil, &attributes, $0, environ)
            }
        }
        var result = start(words)
        // A script that does not say by what it is run is run by the shell, which finds it, too.
        if result == ENOEXEC { result = start(["/bin/sh", "-c", #"exec "$0" "$@""#] + words) }
        if result != 0 {
            Console.complain("\(Failure.shown(words[0])): \(Errno(result))")
            return result == ENOENT ? 127 : 126
        }
        child = process
        for number in [SIGTERM, SIGHUP]
        where IgnoredSignals.set(number, { number in _ = kill(ChildCommand.child, number) }) {
            handled.append(number)
        }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let ending = status & 0x7f
        return ending == 0 ? status >> 8 & 0xff : 128 + ending
    }
}
