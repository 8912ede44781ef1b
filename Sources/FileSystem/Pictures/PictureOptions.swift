/// How a mount makes and shows pictures.
package struct PictureOptions: Sendable {
    /// The path of `shapeedit-thumbnailer`.
    package var program: String
    /// Where the mount is, as file managers name it, if the user's thumbnail cache is to be kept: more
    /// than one path where a symlink leads there. Empty to leave the cache alone.
    package var desktop: [String]

    /// How long a close waits for the picture of what it publishes, and a look at a picture after a
    /// publish without, in milliseconds.
    package var patience: UInt64 = 100

    package init(program: String, desktop: [String]) {
        self.program = program
        self.desktop = desktop
    }
}
