import ArgumentParser
import Control
import Documents
import Model

/// `shapeedit claims`.
struct ClaimsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claims", abstract: "List who holds or waits for which documents.",
        discussion: """
            Claims are how programs that know of each other keep out of each other's way; \
            `shapeedit coordinate` asks for one. As long as there are claims, programs that write \
            without one are listed too.
            """)

    @Argument(
        help: "Something in the mount to ask about; without it all mounts are asked.",
        completion: .file())
    var path: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let points = try path.map { [try MountedPath($0).mountPoint] } ?? MountTable.mountPoints()
        var lines: [String] = []
        var sentences: [String] = []
        for point in points {
            // Of all mounts those are asked that can be.
            if path == nil, !ControlConnection.isThere(point) { continue }
            let connection = try ControlConnection(mountPoint: point)
            for value in try connection.call("Claims")["claims"]?.array ?? [] {
                guard let claim = value.object, let object = claim["claimant"]?.object else {
                    continue
                }
                let claimant = Claimant(object)
                sentences.append("\(point): \(claimant.sentence)")
                lines.append(Self.line(point, claim["claim"]?.integer ?? 0, claimant))
            }
        }
        if json {
            Console.say(JSONText.array(lines))
        } else {
            for sentence in sentences { Console.say(sentence) }
            if sentences.isEmpty { Console.say("Nobody holds or waits for anything.") }
        }
    }

    private static func line(_ point: String, _ claim: Int, _ claimant: Claimant) -> String {
        JSONText.object([
            ("mountPoint", JSONText.string(point)), ("claim", String(claim)),
            ("process", String(claimant.process)),
            ("command", JSONText.string(claimant.command)),
            ("kind", JSONText.string(claimant.kind)), ("state", JSONText.string(claimant.state)),
            ("since", String(claimant.since)),
            (
                "targets",
                JSONText.array(
                    claimant.targets.map {
                        JSONText.object([
                            ("path", JSONText.string($0.path)),
                            ("access", JSONText.string($0.access)),
                        ])
                    })
            ),
        ])
    }
}
