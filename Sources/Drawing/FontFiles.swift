internal import CPangoCairo
internal import Glibc
internal import PathText

/// The files of fonts as Fontconfig knows them.
public enum FontFiles {
    /// Where those are, without symlinks, that are in none of the given folders: Fontconfig's settings may
    /// name any other, and a file in one of these may be a symlink to anywhere, as programs that look after
    /// settings make them. For a process that has loaded ``DrawingLibraries``. Any thread.
    public static func paths(outside folders: [String]) -> [String] {
        guard let fonts = FcConfigGetFonts(nil, FcSetSystem)?.pointee, let list = fonts.fonts else {
            return []
        }
        var paths: Set<String> = []
        for index in 0..<Int(fonts.nfont) {
            var named: UnsafeMutablePointer<FcChar8>?
            guard FcPatternGetString(list[index], FC_FILE, 0, &named) == FcResultMatch, let named,
                let found = realpath(
                    UnsafeRawPointer(named).assumingMemoryBound(to: CChar.self), nil)
            else { continue }
            defer { free(found) }
            let path = String(cPath: found)
            if !folders.contains(where: { path.hasPrefix($0 + "/") }) { paths.insert(path) }
        }
        return paths.sorted()
    }
}
