import Catalog
import Coordination
import Glibc
import Model
import SystemCalls
import Testing

/// Each system call, and each step of an SQL statement, fails once: what was acknowledged stays,
/// nothing is half, and the container goes on working.
@Suite(.serialized)
struct SingleFaultTests {
    /// What the documents may hold afterwards: the last acknowledged content, or one that was being
    /// written later.
    private struct Expectation {
        var acknowledged: [UInt8]?
        var possible: [[UInt8]] = []
    }

    private static func content(_ version: Int) -> [UInt8] {
        Array(repeating: UInt8(truncatingIfNeeded: version), count: 3_000 + version)
    }

    /// Saves, replaces, renames and removes; says what has to be there.
    private func work(_ container: InsideContainer, _ expected: inout [String: Expectation]) {
        var version = 0
        func save(_ name: String, synchronize: Bool = false) {
            version += 1
            let bytes = Self.content(version)
            expected[name, default: Expectation()].possible.append(bytes)
            do throws(Errno) {
                try container.save(name, bytes, synchronize: synchronize)
                expected[name]?.acknowledged = bytes
                expected[name]?.possible = [bytes]
            } catch {}
        }
        for name in ["a", "b", "c"] { save(name) }
        save("a", synchronize: true)
        save("b")
        save("t")
        if (try? container.rename("t", to: "b")) != nil {
            expected["b"] = expected["t"]
            expected["t"] = nil
        } else {
            let maybe = expected["t"]?.possible ?? []
            expected["b"]?.possible += maybe
            expected["t"]?.acknowledged = nil
        }
        try? container.remove("c")
        expected["c"] = nil
        container.settle()
        save("a")
        save("d", synchronize: true)
        container.settle()
    }

    private func verify(_ path: String, _ expected: [String: Expectation], _ fault: String) throws {
        let container = try InsideContainer(path)
        for (name, expectation) in expected {
            let found = try container.read(name)
            guard let acknowledged = expectation.acknowledged else { continue }
            let bytes = try #require(found, "\(name) is lost after \(fault)")
            #expect(
                bytes == acknowledged || expectation.possible.contains(bytes),
                "\(name) is torn or old after \(fault): \(bytes.count) bytes")
        }
        try container.save("afterwards", Self.content(99))
        #expect(try container.read("afterwards") == Self.content(99))
        container.close()
        let report = try ContainerCheck.run("test", at: path)
        let damage = report.findings.filter { !$0.repaired }.map(\.problem)
        #expect(damage.isEmpty, "\(damage) after \(fault)")
    }

    @Test(arguments: [EIO, ENOSPC])
    func `any one system call may fail`(error: Int32) throws {
        var count = 0
        var consumed = true
        while consumed, count < 600 {
            count += 1
            try InsideContainer.withFolder { path in
                var expected: [String: Expectation] = [:]
                let container = try InsideContainer(path)
                FaultInjection.arm(after: count, error: error)
                work(container, &expected)
                consumed = FaultInjection.left == 0
                FaultInjection.arm(after: 0, error: 0)
                container.close()
                try verify(path, expected, "system call \(count) failed with error \(error)")
            }
        }
        #expect(count > 50, "the work has only \(count) system calls")
    }

    @Test(arguments: StatementFaults.Code.allCases)
    func `any one step of a statement may fail`(code: StatementFaults.Code) throws {
        // Every step fails in one of the ways.
        let codes = StatementFaults.Code.allCases
        var count = (codes.firstIndex(of: code) ?? 0) + 1 - codes.count
        var consumed = true
        while consumed, count < 400 {
            count += codes.count
            try InsideContainer.withFolder { path in
                var expected: [String: Expectation] = [:]
                let container = try InsideContainer(path)
                StatementFaults.arm(after: count, code: code, database: path + "/catalog.sqlite")
                work(container, &expected)
                consumed = StatementFaults.left == 0
                StatementFaults.disarm()
                container.close()
                try verify(path, expected, "statement step \(count) failed with \(code)")
            }
        }
        #expect(count > 20, "the work has only \(count) steps")
    }
}
