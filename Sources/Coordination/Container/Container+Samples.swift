internal import Catalog
package import Model
internal import SystemCalls

/// The documents that a container begins with: made at its first mount, whole even if that is cut off.
extension Container {
    /// Under which the catalog keeps that they are not all there yet.
    static let samplesKey = "samples"

    /// Whether it is to begin with samples that are not all there. Waits for the disk.
    package func awaitsSamples() throws(Failure) -> Bool {
        try query { (catalog) throws(Failure) in try catalog.meta(Self.samplesKey) != nil }
    }

    /// Notes that all samples are there, once they are on the disk.
    package func noteSamples() throws(Failure) {
        do throws(Errno) { try log.synchronize() } catch {
            throw Failure(.inputOutput, "\(folder.journal): \(error)", isDiskFull: error.isNoRoom)
        }
        try query { (catalog) throws(Failure) in try catalog.setMeta(Self.samplesKey, nil) }
    }
}
