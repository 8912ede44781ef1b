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

    private func signal(_ signal: Int32) throws {
        let text = String(decoding: try PictureDesk.read(started), as: UTF8.self)
        for worker in text.split(separator: "\n").compactMap({ pid_t($0) }) {
            kill(worker, signal)
        }
    }
}
