import Glibc

/// Programs in Python that read what was written.
enum Python {
    /// What a script of these tests prints about a file of these bytes; nil if it fails.
    static func run(_ script: String, on bytes: [UInt8], named suffix: String) throws -> String? {
        let folder = String(#filePath.dropLast("Support/Python.swift".count))
        let temporary = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let number = UInt32.random(in: 0...UInt32.max)
        let path = "\(temporary)/shapeedit-\(getpid())-\(number).\(suffix)"
        defer { remove(path) }
        guard let file = fopen(path, "w") else { return nil }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
        guard let output = popen("python3 '\(folder)\(script)' '\(path)'", "r")
        else { return nil }
        var text: [UInt8] = []
        while case let byte = fgetc(output), byte != EOF { text.append(UInt8(byte)) }
        return pclose(output) == 0 ? String(decoding: text, as: UTF8.self) : nil
    }
}
