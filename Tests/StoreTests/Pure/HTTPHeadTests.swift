import Testing

@testable import Stores

/// What the head of an answer tells.
@Suite struct HTTPHeadTests {
    private func head(_ lines: [String]) -> HTTPHead {
        var head = HTTPHead()
        for line in lines { head.add(line.utf8) }
        return head
    }

    @Test func `a field is found whatever the case of its name, without the blanks around it`() {
        let head = head([
            "ETag: \"a:b\"\r\n", "content-LENGTH:\t 4096\r\n", "Empty:\n", "Server: a  b \t\r\n",
            "content-range: bytes 0-4/10 \r\n", "Blank:  \r\n",
        ])
        #expect(head.field("etag") == "\"a:b\"")
        #expect(head.contentLength == 4096)
        #expect(head.field("empty") == "")
        #expect(head.field("blank") == "")
        #expect(head.field("server") == "a  b")
        #expect(head.contentRange?.size == 10)
        #expect(head.field("tag") == nil)
        #expect(head.field("etag2") == nil)
        #expect(HTTPHead().field("etag") == nil)
    }

    @Test func `of several fields of one name the last counts, and lines without a colon do not`() {
        let head = head(["Location: /a\r\n", "etag\r\n", "location: /b\r\n", "Last: x"])
        #expect(head.field("location") == "/b")
        #expect(head.field("etag") == nil)
        #expect(head.field("last") == "x")
    }

    @Test func `the unit of a range may be written in capitals`() {
        for unit in ["bytes", "Bytes", "BYTES"] {
            let range = head(["Content-Range: \(unit) 5-9/10\r\n"]).contentRange
            #expect(range?.range == 5..<10 && range?.size == 10, "\(unit)")
        }
        #expect(head(["Content-Range: octets 5-9/10\r\n"]).contentRange == nil)
    }
}
