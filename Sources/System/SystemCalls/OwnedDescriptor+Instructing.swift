internal import Glibc

extension OwnedDescriptor {
    /// Has the mount of a document do something by setting an attribute that it takes for an instruction, not
    /// for an attribute of the document: those who watch the document are told of none. The kernel tells
    /// them if the call succeeds, so the mount says that it has done it by an error (EINPROGRESS).
    package func instruct(_ attribute: String, _ word: String) throws(Errno) {
        do throws(Errno) {
            try setAttribute(attribute, Array((word + " quietly").utf8))
        } catch {
            switch error.code {
            case EINPROGRESS: return
            // A mount of an earlier release.
            case EINVAL: try setAttribute(attribute, Array(word.utf8))
            default: throw error
            }
        }
    }
}
