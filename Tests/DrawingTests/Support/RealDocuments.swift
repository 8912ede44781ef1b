import Glibc
import Testing

/// Documents made by the original apps, in a folder beside the project that is not always there.
enum RealDocuments {
    /// The folder, from this file's place in the project.
    private static let folder =
        #filePath.dropLast("/Tests/DrawingTests/Support/RealDocuments.swift".count)
        + "/../shared/interop"

    /// Whether they are there.
    static let areThere = access("\(folder)/Shape Element Drawing Demo.slide", R_OK) == 0

    /// The bytes of a file in it.
    static func read(_ name: String) throws -> [UInt8] {
        try #require(contents("\(folder)/\(name)"), "\(name) is missing")
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
