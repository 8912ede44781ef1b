import Glibc
import Probing
import TestSupport
import Testing

/// A container on btrfs, which writes nothing over in its place: what was allocated ahead is of no use there,
/// but in files that are written in place all the same.
@Suite(
    .oneAtATime,
    .enabled(
        if: SmallDisk.canCopy, "needs root, mkfs.btrfs, a free loop device and a kernel with btrfs")
)
struct CopyingDiskTests {
    @Test(arguments: DataPath.mounts)
    func `a full disk costs nothing that was there, and removing makes room`(_ dataPath: DataPath)
        throws
    {
        try SmallDisk(mebibytes: 192, isCopying: true).withDocuments(dataPath) { documents in
            documents.storeOldOnes()
            documents.fillDisk()
            // Each writes a record to the journal, which goes round, and rows to SQLite.
            for turn in 0..<100 {
                let failure = documents.failureOfStoring(
                    "more", Documents.content(name: "more \(turn)", size: 2_000))
                #expect(failure == nil || failure == ENOSPC, "\(errorName(failure ?? 0))")
            }
            documents.verify("on the full disk")
            _ = documents.removeFillings(keeping: 3)
            let seconds = documents.secondsUntilStored("again", size: 2 << 20)
            #expect(seconds < 30, "room only after \(seconds) s")
            documents.verify("with room again")
        }
    }
}
