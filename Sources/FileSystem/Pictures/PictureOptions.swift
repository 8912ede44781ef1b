/// How a mount makes and shows pictures.
package struct PictureOptions: Sendable {
    /// The path of `shapeedit-thumbnailer`.
    package var program: String
    /// Where the mount is, as file managers name it, if the user's thumbnail cache is to be kept;
    /// nil to leave the cache alone.
    package var desktop: String?

    package init(program: String, desktop: String?) {
        self.program = program
        self.desktop = desktop
    }
}
