import Glibc
import TestSupport

/// The workers of a desk, which can be made to stand still, those too that are started meanwhile.
struct HaltedWorkers {
    /// While this file is there they do not begin.
    private let halt: String
    /// Their numbers, a line each.
    private let started: String

    init(_ desk: PictureDesk) {
        halt = desk.container.base + "/thumbnailer.halt"
        started = desk.container.base + "/thumbnailer.started"
    }

    /// What a desk has to run in place of the worker.
    static func thumbnailer() throws -> String {
        let program = try BuiltPrograms.shapeedit() + "-thumbnailer"
        return "while [ -e \"$0.halt\" ]; do sleep 0.05; done; echo $$ >> \"$0.started\"; "
            + "exec '\(program)' \"$@\""
    }

    func stop() throws {
        try PictureDesk.write([], to: halt)
        try signal(SIGSTOP)
    }

    func goOn() throws {
        unlink(halt)
        try signal(SIGCONT)
    }

    /// Whether none of them runs or stands still any more. Of those that nobody has collected yet nothing is left
    /// but the number.
    var haveEnded: Bool {
        get throws {
            try numbers.allSatisfy { worker in
                var path = [CChar](repeating: 0, count: 1)
                return readlink("/proc/\(worker)/exe", &path, 1) < 0
            }
        }
    }

    private func signal(_ signal: Int32) throws {
        for worker in try numbers { kill(worker, signal) }
    }

    private var numbers: [pid_t] {
        get throws {
            let text = String(decoding: try PictureDesk.read(started), as: UTF8.self)
            return text.split(separator: "\n").compactMap { pid_t($0) }
        }
    }
}
