import Drawing

extension Picture {
    /// The whole of the SVG file.
    func svg(fitting size: PixelSize) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try writeSVG(fitting: size) { part in
            bytes += part
            return true
        }
        return bytes
    }
}
