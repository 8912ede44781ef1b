internal import CSystemShim
internal import Glibc
internal import PathText

/// How a program is started that is not for the terminal: what its standard streams are, and what it is a
/// part of.
///
/// Its signals are as new processes have them, whatever the starting thread blocks or ignores.
package struct ProgramStart: ~Copyable {
    /// What the process begins.
    package enum Group {
        /// A session of its own: what a terminal sends to this program is not meant for it, and it can type
        /// nothing there.
        case session
        /// A group of its own, to be ended with all that it has started.
        case group
    }

    private var actions = posix_spawn_file_actions_t()
    private var attributes = posix_spawnattr_t()

    package init(in group: Group) {
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        let begun =
            switch group {
            case .session: shim_spawn_session()
            case .group: Int32(POSIX_SPAWN_SETPGROUP)
            }
        let flags = begun | Int32(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
    }

    deinit {
        var (actions, attributes) = (actions, attributes)
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
    }

    /// Its descriptor `number` is the given one of this process; nothing to read or write if that is `nil`.
    package mutating func give(_ descriptor: Int32?, as number: Int32) {
        if let descriptor {
            posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        } else {
            posix_spawn_file_actions_addopen(
                &actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
        }
    }

    /// It has no descriptors from that number up, also none that this process was started with. After
    /// those that it is given.
    package mutating func closeFrom(_ number: Int32) {
        shim_spawn_close_from(&actions, number)
    }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - file: its path, or its name in PATH.
    ///   - words: its arguments, the first of which is what it is called.
    ///   - environment: as `NAME=VALUE`; that of this process if `nil`.
    /// - Returns: the process, to be waited for.
    package mutating func run(
        _ file: String, _ words: [String], environment: [String]? = nil
    ) throws(Errno) -> Int32 {
        var process = pid_t()
        let code = words.withProgramWords { words in
            guard let environment else {
                return posix_spawnp(&process, file.cPath, &actions, &attributes, words, environ)
            }
            return environment.withProgramWords {
                posix_spawnp(&process, file.cPath, &actions, &attributes, words, $0)
            }
        }
        guard code == 0 else { throw Errno(code) }
        return process
    }
}
