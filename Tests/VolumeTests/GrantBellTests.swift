import Model
import PathText
import SystemCalls
import Testing

@testable import FileSystem

/// What an owner tells the mounts of applications that follow what is granted to them.
@Suite struct GrantBellTests {
    @Test func `a bell rings once for who looked for it, and for nobody else`() {
        let rung = Lock<[String]>([])
        var bells = GrantBells()
        bells.ringer = { application, number in
            rung.withLock { $0.append("\(application) \(number)") }
        }
        #expect(bells.isSilent)
        bells.ring(for: "notes")
        #expect(rung.withLock { $0 } == [])
        let first = bells.hang(for: "notes")
        #expect(!bells.isSilent && bells.hangs("notes", first) && !bells.hangs("mail", first))
        bells.ring(for: "mail")
        for _ in 0..<3 { bells.ring(for: "notes") }
        #expect(rung.withLock { $0 } == ["notes \(first)"])
        #expect(bells.isSilent && !bells.hangs("notes", first))
        let second = bells.hang(for: "notes")
        let again = bells.hang(for: "notes")
        #expect(second != first && again == second)
        #expect(bells.hangs("notes", second) && !bells.hangs("notes", first))
        _ = bells.hang(for: "mail")
        bells.ringAll()
        #expect(rung.withLock { Set($0) } == ["notes \(first)", "notes \(second)", "mail 0"])
    }

    @Test func `an answer is read as it was written, whatever documents are called`() throws {
        var answer = GrantedAnswer()
        answer.granted = 7
        answer.until = Timestamp(seconds: 1_795_348_800, nanoseconds: 0)
        answer.problem = "no words of documents are kept"
        // Spaces, a mark that joins the space before it, and what is not UTF-8.
        let bytes: [UInt8] = [0x61, 0xe9, 0x62]
        let names = ["a.txt", " two  spaces ", "\u{301}x", String(path: bytes)]
        for (number, name) in names.enumerated() {
            answer.rows.append(
                GrantedAnswer.Row(
                    document: DocumentID(rawValue: UInt64(number)),
                    version: NodeNumber(ItemNumber(rawValue: 9), UInt32(number)), name: name,
                    size: Int64(number),
                    modified: Timestamp(seconds: Int64(number), nanoseconds: 5),
                    isPromise: number == 1, title: number == 0 ? nil : "\u{301}a title"))
        }
        let read = try #require(GrantedAnswer(answer.text))
        #expect(read.granted == 7 && read.until == answer.until && read.problem == answer.problem)
        for (row, wanted) in zip(read.rows, answer.rows) {
            #expect(row.document == wanted.document && row.size == wanted.size)
            #expect(row.version == wanted.version)
            #expect(row.name.pathBytes == wanted.name.pathBytes && row.title == wanted.title)
            #expect(row.modified == wanted.modified && row.isPromise == wanted.isPromise)
        }
        #expect(read.rows.count == names.count)
        let empty = try #require(GrantedAnswer(GrantedAnswer().text))
        #expect(empty.rows.isEmpty && empty.granted == 0 && empty.problem == nil)
        for wrong in ["", "x", "1 0\0", "1 0 \0x\0", "1 0 \0x\0y\0"] {
            #expect(GrantedAnswer(Array(wrong.utf8))?.granted == nil, "\(wrong)")
        }
    }
}
