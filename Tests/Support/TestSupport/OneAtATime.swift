package import Testing

/// Lets only one test with this trait run at a time, in whatever suite or module it is.
///
/// Tests that measure what processes see of each other have to be alone: a program that another
/// test starts holds copies of all descriptors for a moment.
package struct OneAtATime: SuiteTrait, TestTrait, TestScoping {
    /// Tests of a suite inherit it.
    package var isRecursive: Bool { true }

    /// Waits for its turn and runs the test.
    package func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        await Turn.shared.take()
        do {
            try await function()
            await Turn.shared.give()
        } catch {
            await Turn.shared.give()
            throw error
        }
    }
}

extension Trait where Self == OneAtATime {
    /// Lets only one test with this trait run at a time.
    package static var oneAtATime: Self { OneAtATime() }
}

private actor Turn {
    static let shared = Turn()
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async {
        if isTaken {
            await withCheckedContinuation { waiting.append($0) }
        }
        isTaken = true
    }

    func give() {
        if waiting.isEmpty {
            isTaken = false
        } else {
            waiting.removeFirst().resume()
        }
    }
}
