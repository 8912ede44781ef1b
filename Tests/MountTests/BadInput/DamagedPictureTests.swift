import Glibc
import Probing
import TestSupport
import Testing

/// Pictures in a container's folder whose bytes were changed.
@Suite(.oneAtATime, .enabled(if: !DataPath.isPlain, "needs a mount"))
struct DamagedPictureTests {
    @Test func `check finds a picture that was damaged, and it is drawn again`() throws {
        try withPictures { desk in
            desk.agent.store("a.slide", PictureDesk.slide(1))
            desk.settle("a.slide")
            let picture = desk.picture("a.slide", 128)
            try desk.remount {
                let file = try #require(try desk.keptFiles().first)
                _ = try run([
                    "sh", "-c",
                    "size=$(stat -c %s \(file)); printf '\\252\\125' | "
                        + "dd of=\(file) bs=1 seek=$((size / 2)) conv=notrunc status=none",
                ])
                let check = try desk.container.check()
                #expect(check.status == 1 && check.text.contains("a.slide"), "\(check)")
                #expect(try desk.container.check().status == 0)
            }
            _ = desk.picture("a.slide", 128)
            desk.settle("a.slide")
            #expect(desk.picture("a.slide", 128) == picture)
        }
    }
}
