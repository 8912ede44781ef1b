import Model
import Stores
import SystemCalls
import Testing

import func Probing.run

/// What a store in a folder has when its disk has lost power.
@Suite(.enabled(if: FragileDisk.canBeMade, "\(FragileDisk.reason)")) struct StorePowerLossTests {
    @Test func `what counts as stored because it was there already survives`() throws {
        let disk = try FragileDisk(mebibytes: 128)
        defer { disk.remove() }
        let path = "\(disk.mountPoint)/store"
        let store = StoreAddress.folder(path: path).connect()
        try store.prepare(StoreCall())
        let bytes = Array("one\n".utf8)
        let hash = try #require(ContentHash(bytes: RunningDigest.of(bytes)))
        let folder = "\(path)/\(hash.description.prefix(2))"
        // As a put leaves it that dies before the name is durable.
        let put = try run([
            "sh", "-c",
            "mkdir \(folder) && printf 'one\\n' > \(path)/incoming/x && sync"
                + " && mv \(path)/incoming/x \(folder)/\(hash)",
        ])
        try #require(put.status == 0, "\(put)")
        try store.put(
            Blob(hash: hash, size: Int64(bytes.count)), from: MemorySource(bytes), StoreCall())
        try disk.losePower()
        try disk.returnPower()
        #expect(try store.stat(hash, StoreCall()) == Int64(bytes.count))
    }
}
