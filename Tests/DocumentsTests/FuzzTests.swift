import DocumentFuzzing
import Testing

/// A small part of what `Scripts/fuzz` does.
@Suite struct FuzzTests {
    @Test func `damaged documents do no harm`() {
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        print("fuzzing seed \(seed)")
        let run = FuzzRun(seed: seed, documents: Samples.all)
        // Unoptimised code is many times slower.
        let report = run.run(0..<(_isDebugAssertConfiguration() ? 3_000 : 20_000))
        #expect(report.failures.isEmpty, "seed \(seed)")
        #expect(report.accepted > 300, "seed \(seed): hardly anything was accepted")
    }
}
