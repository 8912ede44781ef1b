import Glibc
import Testing

/// Fonts that are the same on every machine with fonts-liberation: Fontconfig is given a file of
/// our own, which must happen before the first text of the process is set. Besides there is a font of
/// U+1F980 to U+1F9FF, whose glyphs are pictures as high and wide as the font: red, blue, green and yellow.
enum PinnedFonts {
    /// Whether the fonts are there. Using it pins them.
    static let arePinned: Bool = {
        let folder = "/usr/share/fonts/truetype/liberation"
        guard access(folder, R_OK) == 0 else { return false }
        var template = Array("/tmp/shapeedit-fonts.XXXXXX".utf8CString)
        if let temporary = getenv("TMPDIR") {
            template = Array((String(cString: temporary) + "/fonts.XXXXXX").utf8CString)
        }
        guard mkdtemp(&template) != nil else { return false }
        let made = template.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { String(cString: $0) } ?? ""
        }
        // How fonts of pictures get the size that is asked for; part of Fontconfig.
        let scaling = "/usr/share/fontconfig/conf.avail/10-scale-bitmap-fonts.conf"
        let settings = """
            <?xml version="1.0"?>
            <!DOCTYPE fontconfig SYSTEM "fonts.dtd">
            <fontconfig>
              <dir>\(folder)</dir>
              <dir>\(#filePath.dropLast("/PinnedFonts.swift".count))</dir>
              <cachedir>\(made)/cache</cachedir>
              <match>
                <edit name="family" mode="assign" binding="strong">
                  <string>Liberation Sans</string>
                </edit>
              </match>
              <include ignore_missing="yes">\(scaling)</include>
            </fontconfig>
            """
        let path = "\(made)/fonts.conf"
        guard let file = fopen(path, "w") else { return false }
        fputs(settings, file)
        fclose(file)
        setenv("FONTCONFIG_FILE", path, 1)
        atexit {
            guard let path = getenv("FONTCONFIG_FILE").map({ String(cString: $0) }) else { return }
            remove(path)
            let folder = path.dropLast("/fonts.conf".count)
            removeFolder("\(folder)/cache")
            removeFolder(String(folder))
        }
        return true
    }()
}

extension Trait where Self == ConditionTrait {
    /// Where the fonts are there, with which texts are as wide as is expected.
    static var pinnedFonts: Self {
        .enabled(if: PinnedFonts.arePinned, "needs fonts-liberation")
    }
}

/// Removes a folder and the files in it.
private func removeFolder(_ path: String) {
    if let folder = opendir(path) {
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { remove("\(path)/\(name)") }
        }
        closedir(folder)
    }
    rmdir(path)
}
