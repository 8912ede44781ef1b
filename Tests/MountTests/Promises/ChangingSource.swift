import Glibc
import Probing
import TestSupport
import Testing

/// A tree that an import shows, and that commands in a folder change.
struct ChangingSource {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        /// Its objects have identities.
        case folder
        /// WebDAV of two kinds: their objects are known by their paths alone.
        case apache, rclone
        /// S3 of two kinds: they have no folders, and the times of their objects are their own.
        case s3, ceph
        var testDescription: String { rawValue }
    }

    let kind: Kind
    /// What to import.
    let address: String
    /// Where the commands change it.
    let folder: String
    /// Takes over to the server what has changed in the folder.
    private var mirror: [String] = []

    /// An empty one of this name, below `base`. Skips the test where there is no such server.
    init(_ kind: Kind, name: String, base: String) throws {
        self.kind = kind
        let credentials = "\(base)/credentials"
        switch kind {
        case .folder:
            folder = "\(base)/\(name)"
            address = folder
        case .apache, .rclone:
            let isApache = kind == .apache
            let server = isApache ? ServerProcess.webDAV : ServerProcess.rclone
            let words = try ServerProcess.words(server)
            let place = isApache ? "basic/\(name)" : name
            folder = "\(try server.get().folder)/files/\(place)"
            address = "dav://127.0.0.1:\(words[0])/\(place)?netrc=\(credentials)"
            let login = "login \(words[words.count - (isApache ? 3 : 2)]) password"
            let password = words[words.count - (isApache ? 2 : 1)]
            try Self.store("machine 127.0.0.1 \(login) \(password)\n", credentials)
        case .s3, .ceph:
            let words = try ServerProcess.words(kind == .s3 ? ServerProcess.s3 : ServerProcess.rgw)
            folder = "\(base)/\(name)"
            address =
                "s3://\(name)/tree?endpoint=\(words[0])&style=path&region=us-east-1"
                + "&credentials=\(credentials)"
            try Self.store(
                "[default]\naws_access_key_id=\(words[1])\naws_secret_access_key=\(words[2])\n",
                credentials)
            let scripts = #filePath.replacing("ChangingSource.swift", with: "")
            let url = "\(words[0])/\(name)"
            let made = try run([
                "python3", scripts + "s3_request.py", words[1], words[2], "PUT", url,
            ])
            #expect(made.status == 0, "\(made)")
            mirror = [
                "python3", scripts + "s3_mirror.py", words[1], words[2], url + "/tree", folder,
            ]
        }
        let made = try run(["mkdir", "-p", folder])
        #expect(made.status == 0, "\(made)")
    }

    /// Lists what is in the current folder, as far as an import shows it; folders have no times, since
    /// what stays in them changes theirs.
    var listing: String {
        let time =
            switch kind {
            case .folder: " %T@"
            case .apache, .rclone: " %Ts"
            case .s3, .ceph: ""
            }
        return "find . -type d -printf '%p\\n' -o -printf '%p %y %s\(time)\\n' | sort"
    }

    /// Runs commands in the folder; what fails is left out.
    func change(_ commands: String) throws {
        let result = try run([
            "sh", "-c", "cd '\(folder)' || exit; { \(commands)\n} 2> /dev/null; :",
        ])
        #expect(result.status == 0, "\(result)")
        if mirror.isEmpty { return }
        let mirrored = try run(mirror)
        #expect(mirrored.status == 0, "\(mirrored)")
    }

    private static func store(_ text: String, _ path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        try #require(file >= 0)
        let bytes = Array(text.utf8)
        #expect(write(file, bytes, bytes.count) == bytes.count)
        close(file)
    }
}
