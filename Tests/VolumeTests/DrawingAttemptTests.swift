import Glibc
import Model
import Pictures
import SystemCalls
import Testing

/// Drawings that took too long: on a machine that has much to do that is not their fault.
@Suite struct DrawingAttemptTests {
    /// Gives one content, and notes what came of it.
    private final class Client: PictureClient {
        private let outcomes = Monitor<[String]>([])

        func take(_ order: PictureOrder) -> PictureInput? { .bytes([1]) }
        func letGo(_ node: NodeNumber) {}
        func keep(_ outcome: PictureOutcome, of order: PictureOrder) {
            let text =
                switch outcome {
                case .failed(let reason): reason
                case .nothing: "nothing"
                default: "another outcome"
                }
            outcomes.signal { $0.append(text) }
        }
        func ended(_ order: PictureOrder) {}

        /// What came of the first `count` orders.
        func outcomes(_ count: Int) -> [String] {
            outcomes.wait(until: MonotonicClock.after(milliseconds: 20_000)) {
                $0.count >= count ? $0 : nil
            } ?? outcomes.withLock { $0 }
        }
    }

    private static let tooLong = "drawing it took more than 300 ms"
    private let order = PictureOrder(
        item: ItemNumber(rawValue: 1), node: NodeNumber(ItemNumber(rawValue: 1), 1),
        type: PictureType(fileName: "a.slide".utf8), fileName: "a.slide")

    /// Runs `body` with a queue whose worker does not answer the first `count` times, and then says "no".
    private func withWorker(
        silent count: Int, respite: UInt64, _ body: (PictureQueue, Client) -> Void
    ) throws {
        var template = Array("/tmp/shapeedit-attempts.XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { try? Directories.removeTree(folder) }
        let program = folder + "/thumbnailer"
        let script = """
            #!/bin/sh
            printf '\\2\\0\\0\\0\\0\\0' >&0
            head -c 8 <&0 > /dev/null
            echo >> "$0.started"
            [ "$(wc -l < "$0.started")" -gt \(count) ] || exec sleep 60
            printf '\\3\\0\\0\\0\\2no' >&0
            exec sleep 60
            """
        let file = try #require(fopen(program, "w"))
        fputs(script, file)
        fclose(file)
        chmod(program, 0o755)
        let client = Client()
        let queue = PictureQueue(
            PictureMaker(program: program, wallLimit: 300), for: client, startsEarly: false,
            respite: respite)
        defer { queue.stop() }
        body(queue, client)
    }

    @Test func `a drawing that took too long is tried again later, when somebody asks`() throws {
        try withWorker(silent: 1, respite: 1_000_000_000) { queue, client in
            #expect(queue.ask(order, isLasting: true))
            #expect(client.outcomes(1) == ["nothing"])
            #expect(queue.pauseReason(order.node) == Self.tooLong)
            #expect(!queue.ask(order, isLasting: true))
            while queue.pauseReason(order.node) != nil { usleep(20_000) }
            #expect(queue.ask(order, isLasting: true))
            #expect(client.outcomes(2) == ["nothing", "no"])
        }
    }

    @Test func `the third time it is a failure of the document`() throws {
        try withWorker(silent: 9, respite: 0) { queue, client in
            for count in 1...3 {
                // It counts as done a moment after its outcome is known.
                while queue.isPending(order) { usleep(1_000) }
                #expect(queue.ask(order, isLasting: true))
                _ = client.outcomes(count)
            }
            #expect(client.outcomes(3) == ["nothing", "nothing", Self.tooLong])
        }
    }
}
