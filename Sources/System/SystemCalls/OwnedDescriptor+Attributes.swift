internal import CSystemShim
internal import PathText

/// Extended attributes.
extension OwnedDescriptor {
    /// The value of an extended attribute; `nil` if there is none or it cannot be read.
    public func attribute(_ name: String) -> [UInt8]? { try? value(ofAttribute: name) }

    /// The value of an extended attribute; throws ENODATA if there is none.
    public func value(ofAttribute name: String) throws(Errno) -> [UInt8] {
        while true {
            let size = try check { shim_get_attribute(number, name.cPath, nil, 0) }
            var value = [UInt8](repeating: 0, count: size + 1)
            let count = shim_get_attribute(number, name.cPath, &value, value.count)
            if count >= 0 { return Array(value[..<count]) }
            // It has grown meanwhile.
            if Errno.last.code != 34 { throw Errno.last }
        }
    }

    /// The names of the extended attributes; none where the file system has none.
    public var attributeNames: [String] {
        let size = shim_list_attributes(number, nil, 0)
        guard size > 0 else { return [] }
        var names = [CChar](repeating: 0, count: size)
        let count = shim_list_attributes(number, &names, size)
        guard count > 0 else { return [] }
        return names[..<count].split(separator: 0).map {
            String(path: $0.map { UInt8(bitPattern: $0) })
        }
    }

    /// Sets an extended attribute.
    public func setAttribute(_ name: String, _ value: [UInt8]) throws(Errno) {
        try check { shim_set_attribute(number, name.cPath, value, value.count) }
    }

    /// Removes an extended attribute; throws ENODATA if there is none.
    public func removeAttribute(_ name: String) throws(Errno) {
        try check { shim_remove_attribute(number, name.cPath) }
    }
}
