/// Whose picture of a slide is drawn: the two programs of Geometry Stash differ in texts.
public enum SlideMode: Sendable, Hashable {
    /// As the app: all text above all shapes, clipped to its box on its `bgcolor`, lines 1.2 font
    /// heights apart.
    case app
    /// As the web editor: everything in the order of the document, texts without clipping and
    /// `bgcolor`, lines one font height apart, and the outline of each text's box in half clear red,
    /// as thick as the stroke painted before it. For comparison with it.
    case web
}
