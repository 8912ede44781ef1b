import ArgumentParser
import DocumentKit
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
        var lines: [String] = []
        var sentences: [String] = []
        if let path { try MountedFolder.check(path) }
        // Who takes no more clients may well have claims: the others are told first.
        var crowded: CoordinationError?
        let points =
            path.map { [$0] } ?? MountTable.mountPoints().filter { MountTable.answers($0) }
        for point in points {
            let found: (mountPoint: String, list: [(claim: Int, claimant: Claimant)])
            do throws(CoordinationError) {
                found = try FileCoordinator.claims(around: point)
            } catch {
                if path != nil { throw Failure(error) }
                // Of all mounts those are asked that can be.
                if case .tooMany = error { crowded = error }
                continue
            }
            for (claim, claimant) in found.list {
                sentences.append("\(found.mountPoint): \(claimant.sentence)")
                lines.append(Self.line(found.mountPoint, claim, claimant))
            }
        }
        if json {
            Console.say(JSONText.array(lines))
        } else {
            for sentence in sentences { Console.say(line: sentence) }
            if sentences.isEmpty, crowded == nil {
                Console.say("Nobody holds or waits for anything.")
            }
        }
        if let crowded { throw Failure(crowded) }
    }

    private static func line(_ point: String, _ claim: Int, _ claimant: Claimant) -> String {
        JSONText.object(
            "mountPoint", at: point,
            [
                ("claim", String(claim)),
                ("process", String(claimant.process)),
                ("command", JSONText.string(claimant.command)),
                ("kind", JSONText.string(claimant.kind.rawValue)),
                ("state", JSONText.string(claimant.state.rawValue)),
                ("since", String(claimant.since)),
                (
                    "targets",
                    JSONText.array(
                        claimant.targets.map {
                            JSONText.object(
                                "path", at: $0.path,
                                [("access", JSONText.string($0.access.rawValue))])
                        })
                ),
            ])
    }
}
