/// What one picture may take.
public enum PictureLimits {
    /// The longest side, in pixels.
    public static let side = 8192
    /// Working memory for pixels, in bytes: a larger picture is drawn in strips of whole rows.
    public static let stripBytes = 8 << 20
    /// Working memory for what is painted into a PDF, in bytes, about: more is painted in layers.
    static let layerBytes = 4 << 20
    /// The largest picture, in pixels, that is handed out whole as a ``Bitmap`` (48 MiB).
    public static let bitmapPixels = 12 << 20
    /// The most solids drawn of one scene.
    public static let solids = 10_000
    /// The most marks (shapes and texts) drawn of one slide.
    public static let marks = 100_000
    /// How often on average a pixel may be painted over by the parts of one document. A document
    /// of few bytes can ask for hours of painting.
    public static let overdraw = 2_000
    /// The farthest that paths, strokes and lines of text go from the picture, in pixels.
    static let reach = 65_536.0
    /// The most characters (Unicode scalars) set of one text.
    public static let characters = 10_000
}
