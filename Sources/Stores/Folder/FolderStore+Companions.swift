internal import Glibc
internal import PathText
internal import SystemCalls

extension FolderStore {
    package func put(_ companion: Companion, _ bytes: [UInt8], _ call: StoreCall)
        throws(StoreError)
    {
        try call.cancellation.check(at: address)
        let temporary = incoming + "/\(companion.fileName).\(nextSerial())"
        let target = "\(path)/\(companion.path)"
        do throws(StoreError) {
            try here("\(companion.fileName) cannot be written") { () throws(Errno) in
                let file = try OwnedDescriptor.open(
                    temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
                try file.write(bytes, at: 0)
                if rename(temporary.cPath, target.cPath) == 0 { return }
                guard errno == ENOENT else { throw Errno.last }
                try Directories.make(
                    String(target.prefix(upTo: target.lastIndex(of: "/") ?? target.endIndex)))
                try check { rename(temporary.cPath, target.cPath) }
            }
        } catch {
            unlink(temporary.cPath)
            throw error
        }
        call.progress?(Int64(bytes.count))
    }

    package func get(_ companion: Companion, _ call: StoreCall) throws(StoreError) -> [UInt8]? {
        try call.cancellation.check(at: address)
        var found: [UInt8]?
        try here("\(companion.fileName) cannot be read") { () throws(Errno) in
            do throws(Errno) {
                // Not waiting for the other end of a pipe, which somebody may have put there.
                let file = try OwnedDescriptor.open(
                    "\(path)/\(companion.path)", O_RDONLY | O_NONBLOCK)
                // One more, to see that it is too large.
                let size = min(Int(try file.status().st_size), Companion.limit + 1)
                var bytes = [UInt8](repeating: 0, count: size)
                let count = try file.read(into: &bytes, at: 0)
                found = Array(bytes.prefix(count))
            } catch {
                guard error.code == ENOENT else { throw error }
            }
        }
        if found == nil { try requireStore() }
        if let found, found.count > Companion.limit { throw companion.isTooLarge(at: address) }
        return found
    }
}
