package import Model
package import Pictures
package import Stores

extension Companion {
    /// The pictures of a content that is drawn as a type.
    package init?(picturesOf hash: ContentHash, _ type: PictureType) {
        self.init(hash, kind: "\(type.end).\(PictureFile.revision)")
    }
}
