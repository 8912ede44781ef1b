import Testing

@testable import Thumbnailing

/// Addresses of files, as other programs write them.
struct FileURITests {
    @Test(arguments: ["/a", "/a b", "/%25+%", "/\u{e4}"])
    func `an address leads back to its path`(_ path: String) {
        #expect(FileURI.path(ofAddress: FileURI.address(ofPath: path.utf8)) == Array(path.utf8))
    }

    @Test(arguments: ["", "a", "http:///a", "file://host/a", "file:///a%", "file:///a%4"])
    func `what is no address of a file here leads nowhere`(_ address: String) {
        #expect(FileURI.path(ofAddress: address) == nil)
    }

    @Test(arguments: ["%+f", "%-1", "%00", "%g0"])
    func `what is no byte is not taken for one`(_ text: String) {
        #expect(FileURI.path(ofAddress: "file:///a\(text)") == nil)
    }
}
