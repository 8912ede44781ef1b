import Glibc

/// Documents made by the original apps, in a folder beside the project that is not always there.
enum RealDocuments {
    /// The project's root, from this file's place in it.
    private static let root = String(
        #filePath.dropLast("/Tests/DrawingTests/Support/RealDocuments.swift".count))

    /// The bytes of a file; nil, with a word on standard output, where the folder is absent.
    static func read(_ name: String) -> [UInt8]? {
        for parent in [root + "/.."] {
            if let bytes = contents("\(parent)/shared/interop/\(name)") { return bytes }
        }
        print("skipped: \(name) of the original app is not beside the project")
        return nil
    }

    private static func contents(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }
}
