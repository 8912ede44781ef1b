internal import Glibc
package import Model
internal import PathText
internal import SystemCalls

extension ContainerFolder {
    /// The shortest file of the journal: without one there is no opening a container.
    private static let leastLength: UInt64 = 1 << 20

    /// Fails if this process may make no files as long as those that opening the container writes to: SQLite
    /// would tell of that by numbers, or call the disk full.
    package func checkLongestFile() throws(Failure) {
        guard let longest = LongestFile.bytes else { return }
        var needed = Self.leastLength
        let records = (try? Directories.names(in: journal)) ?? []
        for file in [catalog, catalog + "-wal"] + records.map({ journal + "/" + $0 }) {
            var status = stat()
            if stat(file.cPath, &status) == 0 { needed = max(needed, UInt64(status.st_size)) }
        }
        if longest >= needed { return }
        throw Failure(
            .inputOutput,
            "\(path): opening a container takes files of \((needed + 1_023) >> 10) KiB, and this process "
                + "may make none above \(longest >> 10) KiB (ulimit -f): allow longer ones")
    }
}
