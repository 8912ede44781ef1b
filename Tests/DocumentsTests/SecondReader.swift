import Glibc

/// Other programs that read what this one writes.
enum SecondReader {
    /// Whether Python has a module, of itself or of a package that can be had of PyPI.
    static func hasPython(_ module: String, of package: String? = nil) -> Bool {
        (try? python("import \(module)", of: package, with: [])) != nil
    }

    struct Failed: Error {
        let status: Int32
        let output: String
    }

    /// What a Python script prints that finds the bytes in the file `sys.argv[1]`.
    ///
    /// - Parameter package: what the script imports beside Python's own modules.
    static func python(
        _ script: String, of package: String? = nil, with bytes: [UInt8]
    ) throws -> String {
        var template = Array("/tmp/documents-test-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw Failed(status: errno, output: "mkstemp") }
        let name = template.dropLast().map { UInt8(bitPattern: $0) }
        let path = String(decoding: name, as: UTF8.self)
        defer { unlink(path) }
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        guard written == bytes.count else { throw Failed(status: errno, output: "write") }
        // The scripts hold no single quotation marks.
        let installer = "\"\(Samples.project)/Scripts/servers/pypi\""
        let python = package.map { "\(installer) \($0)" } ?? "python3"
        guard let pipe = popen("\(python) -c '\(script)' \(path) 2>&1", "r") else {
            throw Failed(status: errno, output: "popen")
        }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 {
            output += buffer[..<count]
        }
        let status = pclose(pipe)
        let text = String(decoding: output, as: UTF8.self)
        guard status == 0 else { throw Failed(status: status, output: text) }
        return text
    }
}
