import Documents
import Glibc

/// Feeds damaged and generated documents to every reader.
///
/// What a reader accepts must be written so that it reads back as the same; anything else is a
/// failure, and so is an input that takes longer than `slowest`.
public struct FuzzRun {
    /// The longest a single input may take of the processor. Unoptimised code is many times slower.
    public static let slowest = Duration.seconds(_isDebugAssertConfiguration() ? 10 : 1)
    /// The most memory the process may ever have had, in bytes.
    public static let memory = 256 << 20

    /// What happened.
    public struct Report: Sendable {
        /// How many inputs there were.
        public var inputs = 0
        /// How many of them a reader accepted.
        public var accepted = 0
        /// The longest that one took of the processor.
        public var longest = Duration.zero
        /// What went wrong, each with the number of the input.
        public var failures: [String] = []
    }

    private let seed: UInt64
    private let mutator: Mutator

    /// A run over documents from files and generated ones. The same seed gives the same inputs.
    public init(seed: UInt64, documents: [[UInt8]]) {
        self.seed = seed
        var generator = DocumentGenerator(SeededGenerator(seed: seed))
        var seeds = documents
        for _ in 0..<30 { seeds += FuzzRun.generated(&generator) }
        mutator = Mutator(seeds: seeds)
    }

    /// Feeds the inputs of a range of numbers; `before` is told each number before its input.
    public func run(_ numbers: Range<Int>, before: (Int) -> Void = { _ in }) -> Report {
        var report = Report()
        for number in numbers {
            before(number)
            let input = input(number)
            let start = FuzzRun.processorTime
            let failure: String?
            do throws(Mismatch) {
                if try FuzzRun.feed(input, number: number) { report.accepted += 1 }
                failure = nil
            } catch {
                failure = error.reason
            }
            let time = FuzzRun.processorTime - start
            report.inputs += 1
            report.longest = max(report.longest, time)
            if time > FuzzRun.slowest { report.failures.append("input \(number): took \(time)") }
            if let failure { report.failures.append("input \(number): \(failure)") }
        }
        return report
    }

    /// The input of a number.
    public func input(_ number: Int) -> [UInt8] {
        var random = SeededGenerator(seed: seed &+ UInt64(number) &* 0x1000_0001)
        return mutator.mutated(using: &random)
    }

    /// What this thread has had of the processor: what others do meanwhile does not count.
    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Duration.seconds(time.tv_sec) + Duration.nanoseconds(time.tv_nsec)
    }

    /// The most memory this process has had so far, in bytes.
    public static var peakMemory: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss << 10
    }

    private static func generated(_ generator: inout DocumentGenerator) -> [[UInt8]] {
        let documents: [[UInt8]?] = [
            try? generator.scene().text(), try? generator.slide().text(),
            try? generator.list().archived(), try? generator.shapeFile().binary(),
            try? generator.propertyList().binary(), generator.json().text(),
        ]
        return documents.compactMap(\.self)
    }
}
