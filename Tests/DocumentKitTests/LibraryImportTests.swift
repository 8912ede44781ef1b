import DocumentKit
import Testing

/// What an app can say that imports the library and nothing else of the package: this file imports no
/// more either.
@Suite struct LibraryImportTests {
    @Test func `queries and paths come with the library`() {
        var query = Query()
        (query.name, query.order) = ("*.txt", .size)
        #expect(query.description == "name=*.txt&sort=size")
        let difference = ListDifference(from: ["a"], to: ["a", "b"], by: \.self)
        #expect(difference.added == [1])
        var rows = ["a"]
        difference.apply(to: &rows, added: ["b"])
        #expect(rows == ["a", "b"])
        #expect(Query(query.description) == query && Query("?") == nil)
        #expect(String(path: [0x61, 0xe9]).pathBytes == [0x61, 0xe9])
    }
}
