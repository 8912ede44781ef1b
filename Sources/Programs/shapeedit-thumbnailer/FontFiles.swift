import Glibc

/// The files of fonts as Fontconfig knows them. Its settings may name any folder, and a file in one of the
/// usual ones may be a symlink to anywhere, as programs that look after settings make them.
enum FontFiles {
    /// `FC_FILE` and `FcSetSystem` of Fontconfig.
    private static let (fileKey, systemSet): (String, Int32) = ("file", 0)
    /// Of the list that it gives: a number, another one, and the fonts.
    private static let listPlace = 8

    private typealias GetFonts = @convention(c) (OpaquePointer?, Int32) -> UnsafeRawPointer?
    private typealias GetString =
        @convention(c) (
            OpaquePointer?, UnsafePointer<CChar>, Int32,
            UnsafeMutablePointer<UnsafePointer<CChar>?>
        ) -> Int32

    /// Where those are, without symlinks, that are in none of these folders; none without Fontconfig, which
    /// sets texts and is loaded by now.
    static func all(outside folders: [String]) -> [String] {
        guard let library = dlopen("libfontconfig.so.1", RTLD_NOW),
            let getFonts = dlsym(library, "FcConfigGetFonts"),
            let getString = dlsym(library, "FcPatternGetString")
        else { return [] }
        let list = unsafeBitCast(getFonts, to: GetFonts.self)(nil, systemSet)
        guard let list, case let count = list.load(as: Int32.self), count > 0,
            let fonts = list.load(
                fromByteOffset: listPlace, as: UnsafePointer<OpaquePointer?>?.self)
        else { return [] }
        var files: Set<String> = []
        for font in UnsafeBufferPointer(start: fonts, count: Int(count)) {
            var path: UnsafePointer<CChar>?
            let result = unsafeBitCast(getString, to: GetString.self)(font, fileKey, 0, &path)
            guard result == 0, let path, let found = realpath(path, nil) else { continue }
            defer { free(found) }
            let file = String(cString: found)
            if !folders.contains(where: { file.hasPrefix($0 + "/") }) { files.insert(file) }
        }
        return files.sorted()
    }
}
