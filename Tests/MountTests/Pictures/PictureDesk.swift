import Glibc
import Probing
import TestSupport
import Testing

/// A mount whose documents have pictures, and what to compare those with.
final class PictureDesk {
    static let sizes = [128, 256, 512, 1_024]

    let container: Container
    private(set) var agent: Agent
    private let isFirst: Bool

    /// Mounts a fresh container.
    ///
    /// - Parameters:
    ///   - thumbnailer: a line of shell that is run in place of the worker.
    ///   - patience: how long a close waits for its picture, in milliseconds, if not as usual.
    ///   - store: the container's, as ``Container`` has it.
    init(
        _ dataPath: DataPath = .noPassthrough, thumbnailer: String? = nil, patience: Int? = nil,
        store: String? = nil
    ) throws {
        let container = try Container(
            user: dataPath == .ordinaryUser && geteuid() == 0 ? nobody : nil, store: store)
        let isFirst = dataPath == .passthrough
        do {
            try Self.replaceThumbnailer(of: container, by: thumbnailer)
            container.additionalEnvironment["SHAPEEDIT_PICTURE_PATIENCE"] = patience.map {
                String($0)
            }
            try Self.mount(container, passesThrough: isFirst)
            agent = try Agent(in: container.mountPoint, user: container.user)
        } catch {
            container.remove()
            throw error
        }
        (self.container, self.isFirst) = (container, isFirst)
    }

    func mount() throws { try Self.mount(container, passesThrough: isFirst) }

    /// Unmounts, and mounts again after `body`; the agent is another one then.
    func remount(after body: () throws -> Void = {}) throws {
        agent.end()
        try container.unmount()
        try body()
        try mount()
        agent = try Agent(in: container.mountPoint, user: container.user)
    }

    private static func mount(_ container: Container, passesThrough: Bool) throws {
        var options: [String] = container.user == nil ? ["allow_other"] : []
        if !passesThrough { options.append("no_passthrough") }
        try container.mount(options: options)
    }

    /// From the next mount on, a line of shell is run in place of the worker; nil for the worker.
    func replaceThumbnailer(by line: String?) throws {
        try Self.replaceThumbnailer(of: container, by: line)
    }

    private static func replaceThumbnailer(of container: Container, by line: String?) throws {
        guard let line else {
            container.additionalEnvironment["SHAPEEDIT_THUMBNAILER"] = nil
            return
        }
        let path = container.base + "/thumbnailer"
        try write(Array("#!/bin/sh\n\(line)\n".utf8), to: path)
        chmod(path, 0o755)
        container.additionalEnvironment["SHAPEEDIT_THUMBNAILER"] = path
    }

    /// Unmounts, checks the container and removes it; what is wrong is recorded.
    func remove(at location: SourceLocation = #_sourceLocation) {
        agent.end()
        do {
            if MountTable.isMounted(container.mountPoint) { try container.unmount() }
            if let daemon = container.daemon { container.waitForEnd(of: daemon) }
            let check = try container.check()
            if check.status != 0 {
                Issue.record("container check: \(check)", sourceLocation: location)
            }
        } catch { Issue.record("\(error)", sourceLocation: location) }
        container.remove()
    }

    // MARK: Pictures

    func path(_ document: String, _ size: Int = 256) -> ByteString {
        ByteString(".shapeedit/thumbnails/\(size)/\(document).png")
    }

    func state(_ document: String) -> String {
        agent.attribute(ByteString(document), "user.shapeedit.thumbnail.state").text
    }

    func version(_ document: String) -> String {
        agent.attribute(ByteString(document), "user.shapeedit.version").text
    }

    /// Waits until the document's picture is there, or is known to have failed; the state.
    @discardableResult
    func settle(_ document: String, seconds: Double = 60) -> String {
        for _ in 0..<Int(seconds * 100) {
            let state = state(document)
            if state == "ready" || state.hasPrefix("failed") { return state }
            usleep(10_000)
        }
        return state(document)
    }

    func picture(_ document: String, _ size: Int = 256) -> ByteString {
        agent.content(path(document, size))
    }

    /// Files of pictures in the container's folder.
    func keptFiles() throws -> [String] {
        let folder = "\(container.dataHome)/shapeedit/containers/\(container.name)/pictures"
        let found = try run(["find", folder, "-type", "f"])
        return found.text.split(separator: "\n").map(String.init)
    }

    /// How large they are.
    func keptBytes() throws -> [Int] {
        try keptFiles().compactMap { path in
            var status = stat()
            return stat(path, &status) == 0 ? Int(status.st_size) : nil
        }
    }

    /// The thumbnail cache of the desktop.
    var cache: String { "\(container.base)/home/cache/thumbnails" }

    /// Paths of the entries in it, without those that are being written: an entry has its name when it is whole.
    /// A listing may show one under both names.
    func entries() throws -> Set<String> {
        let found = try run(["find", cache, "-type", "f", "-name", "*.png"])
        return Set(found.text.split(separator: "\n").map(String.init))
    }

    /// A number of `status.json`.
    func count(_ field: String) -> Int {
        let text = agent.content(".shapeedit/status.json").text
        guard let place = text.firstRange(of: "\"\(field)\": ") else { return -1 }
        return Int(text[place.upperBound...].prefix { $0.isNumber }) ?? -1
    }

    // MARK: Documents

    /// A slide with a rectangle of its own colour: different numbers, different pictures.
    static func slide(_ number: Int) -> ByteString {
        let digits = String(0x10_0000 + number &* 7_919 % 0xEF_FFFF, radix: 16)
        return ByteString(
            #"{"canvasWidth": 400, "canvasHeight": 300, "elements": [{"shapeType": "rectangle", "#
                + #""originx": 20, "originy": 20, "width": 300, "height": 200, "#
                + ##""fillColor": "#\##(digits)"}]}"##)
    }

    /// What the worker draws of a document, outside any mount.
    func reference(_ content: ByteString, _ end: String, _ size: Int = 256) throws -> ByteString {
        let folder = try TemporaryDirectory.make()
        defer { TemporaryDirectory.remove(folder) }
        let (input, output) = ("\(folder)/document.\(end)", "\(folder)/picture.png")
        try Self.write(content.bytes, to: input)
        let result = try run(
            [
                try BuiltPrograms.shapeedit(), "thumbnail", input, "-o", output, "--size",
                "\(size)",
            ],
            // With the fonts that the mount has: other tests have this process use some of their own.
            environment: container.environment)
        try #require(result.status == 0, "\(result)")
        return ByteString(try Self.read(output))
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = try #require(fopen(path, "w"), "\(path)")
        defer { fclose(file) }
        try #require(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    }

    static func read(_ path: String) throws -> [UInt8] {
        try #require(readIfThere(path), "\(path)")
    }

    static func readIfThere(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            bytes += buffer[..<count]
        }
        return bytes
    }
}

/// Gives a test a mount with pictures and takes it away whatever happens.
func withPictures(
    _ dataPath: DataPath = .noPassthrough, thumbnailer: String? = nil, patience: Int? = nil,
    store: String? = nil, at location: SourceLocation = #_sourceLocation,
    _ body: (PictureDesk) throws -> Void
) throws {
    let desk = try PictureDesk(
        dataPath, thumbnailer: thumbnailer, patience: patience, store: store)
    defer { desk.remove(at: location) }
    try body(desk)
}

/// Looks until something is so, at most for a minute; says whether it is.
@discardableResult
func waitUntil(_ isSo: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<6_000 {
        if try isSo() { return true }
        usleep(10_000)
    }
    return false
}
