import Drawing

extension Picture {
    /// The whole of the SVG file.
    func svg(fitting size: PixelSize) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try SVGFile(self, fitting: size).write { bytes += $0 }
        return bytes
    }
}
