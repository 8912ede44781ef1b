import Probing
import Testing

/// What the program does before it does anything.
@Suite struct StartTests {
    private static let sources =
        #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined() + "/Sources"

    /// A function that is not listed brings its library, and all that this needs, into every start.
    @Test func `the functions of libraries that few commands need are listed to be loaded later`()
        throws
    {
        func words(_ pattern: String, _ place: String) throws -> Set<Substring> {
            let found = try Probing.run(["grep", "-rhoE", pattern, "\(Self.sources)/\(place)"])
            return Set(
                found.text.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" }))
        }
        let listed = try words(#"F\(\w+\)"#, "System/COnDemand/functions.h")
        let used = try words(#"\b(cairo|pango|chafa|curl|sqlite3)_\w+\("#, "")
        #expect(used.count > 50)
        #expect(used.subtracting(listed) == [])
    }
}
