internal import CKernel
internal import Probing
package import Testing

extension Agent {
    /// setxattr(2) or lsetxattr(2); flags are XATTR_CREATE and XATTR_REPLACE.
    package func setAttribute(
        _ path: ByteString, _ name: ByteString, _ value: ByteString, flags: Int = 0,
        following: Bool = true, fails: Int32..., at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "setxattr \(path) \(name) of \(value.count) bytes",
            following ? SYS_setxattr : SYS_lsetxattr,
            [
                .input(path.bytes), .input(name.bytes), .input(value.bytes),
                .integer(value.count), .integer(flags),
            ], fails: fails, at: location)
    }

    /// fsetxattr(2).
    package func setAttribute(
        _ descriptor: Descriptor, _ name: ByteString, _ value: ByteString, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "fsetxattr \(name)", SYS_fsetxattr,
            [
                .integer(descriptor.number), .input(name.bytes), .input(value.bytes),
                .integer(value.count), .integer(0),
            ], fails: fails, at: location)
    }

    /// getxattr(2) or lgetxattr(2) with room for `count` bytes; 0 asks for the size.
    @discardableResult
    package func attribute(
        _ path: ByteString, _ name: ByteString, count: Int = 65_536, following: Bool = true,
        fails: Int32..., at location: SourceLocation = #_sourceLocation
    ) -> ByteString {
        let reply = call(
            "getxattr \(path) \(name)", following ? SYS_getxattr : SYS_lgetxattr,
            [.input(path.bytes), .input(name.bytes), .output(count), .integer(count)],
            fails: fails, at: location)
        return ByteString(Array((reply.buffers.first ?? []).prefix(max(0, reply.result))))
    }

    /// fgetxattr(2).
    @discardableResult
    package func attribute(
        _ descriptor: Descriptor, _ name: ByteString, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) -> ByteString {
        let count = 65_536
        let reply = call(
            "fgetxattr \(name)", SYS_fgetxattr,
            [
                .integer(descriptor.number), .input(name.bytes), .output(count), .integer(count),
            ], fails: fails, at: location)
        return ByteString(Array((reply.buffers.first ?? []).prefix(max(0, reply.result))))
    }

    /// The size of an attribute, as getxattr(2) without room tells it.
    package func attributeSize(
        _ path: ByteString, _ name: ByteString, at location: SourceLocation = #_sourceLocation
    ) -> Int {
        call(
            "getxattr \(path) \(name) size", SYS_getxattr,
            [.input(path.bytes), .input(name.bytes), .integer(0), .integer(0)], fails: [],
            at: location
        ).result
    }

    /// The names of the attributes, sorted; a short `count` fails with ERANGE.
    @discardableResult
    package func attributeNames(
        _ path: ByteString, count: Int = 65_536, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) -> [String] {
        let reply = call(
            "listxattr \(path)", SYS_listxattr,
            [.input(path.bytes), .output(count), .integer(count)], fails: fails, at: location)
        let bytes = (reply.buffers.first ?? []).prefix(max(0, reply.result))
        return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.sorted()
    }

    /// The names of the attributes that are the user's own, sorted.
    package func ownAttributeNames(
        _ path: ByteString, at location: SourceLocation = #_sourceLocation
    ) -> [String] {
        attributeNames(path, at: location).filter {
            $0.hasPrefix("user.") && !$0.hasPrefix("user.shapeedit.")
        }
    }

    /// removexattr(2).
    package func removeAttribute(
        _ path: ByteString, _ name: ByteString, fails: Int32...,
        at location: SourceLocation = #_sourceLocation
    ) {
        _ = call(
            "removexattr \(path) \(name)", SYS_removexattr,
            [.input(path.bytes), .input(name.bytes)], fails: fails, at: location)
    }
}
