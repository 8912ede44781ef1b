import Model
import Testing

/// Names of programs and names of people.
@Suite struct TemporaryNameTests {
    @Test(arguments: [
        ".goutputstream-A1B2C3", ".goutputstream-backup", ".shape.swp", ".a.b.swo", ".x.swx",
        "4913",
        "notes.txt~", "~~", ".~lock.report.odt#", ".xdp-drawing.shape-qW3rT9", "#notes.txt#",
        ".#notes.txt", ".photo.jpg.k9XbQ2", ".photo.jpg.aBcDeF", "photo.jpg.k9XbQ2",
        "photo.jpg.aBCdEf", "..bashrc.k9XbQ2",
    ])
    func `a temporary name`(name: String) {
        #expect(isTemporaryName(Array(name.utf8)))
    }

    @Test(arguments: [
        "", "a", ".", "..", "~", "#", "##", ".#", "notes.txt", "49130", "14913", "notes.swp",
        ".swp", ".goutputstream-", ".goutputstream-A1B2C", ".goutputstream-A1B2C34", ".~lock.#",
        ".~lock.report.odt", ".xdp-", ".xdp-A1B2C3", ".xdp-a-A1B2", "#channel", "notes.backup",
        ".app.backup", ".app.config", ".data.202401", ".notes.Backup", "notes.Draft1",
        "notes.SQLite", "notes.iPhone", "notes.202401", "notes.tar.gz", ".k9XbQ2", "k9XbQ2",
        "Würfel.shape", "photo.jpg.k9XbQ", "photo.jpg.k9X-Q2",
    ])
    func `a name like any other`(name: String) {
        #expect(!isTemporaryName(Array(name.utf8)))
    }

    @Test func `names need not be text`() {
        #expect(isTemporaryName([0xff, 0xfe, UInt8(ascii: "~")]))
        #expect(!isTemporaryName([0xff, 0xfe, UInt8(ascii: "."), 0xff]))
    }
}
