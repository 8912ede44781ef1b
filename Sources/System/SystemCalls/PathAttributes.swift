internal import CSystemShim
internal import Glibc
internal import PathText

/// Extended attributes by path, for files that are not to be opened. Symlinks are followed.
public enum PathAttributes {
    /// The value; throws ENODATA if there is none.
    public static func value(_ name: String, of path: String) throws(Errno) -> [UInt8] {
        while true {
            let size = try check { shim_get_path_attribute(path.cPath, name.cPath, nil, 0) }
            var value = [UInt8](repeating: 0, count: size + 1)
            let count = shim_get_path_attribute(path.cPath, name.cPath, &value, value.count)
            if count >= 0 { return Array(value[..<count]) }
            // It has grown meanwhile.
            if Errno.last.code != ERANGE { throw Errno.last }
        }
    }

    /// The names of all of them.
    public static func names(of path: String) throws(Errno) -> [String] {
        while true {
            let size = try check { shim_list_path_attributes(path.cPath, nil, 0) }
            var names = [CChar](repeating: 0, count: size + 1)
            let count = shim_list_path_attributes(path.cPath, &names, names.count)
            if count >= 0 {
                return names[..<count].split(separator: 0).map {
                    String(path: $0.map { UInt8(bitPattern: $0) })
                }
            }
            // There are more meanwhile.
            if Errno.last.code != ERANGE { throw Errno.last }
        }
    }

    /// Sets the value.
    public static func set(_ name: String, _ value: [UInt8], of path: String) throws(Errno) {
        try check { shim_set_path_attribute(path.cPath, name.cPath, value, value.count) }
    }

    /// Removes the attribute; throws ENODATA if there is none.
    public static func remove(_ name: String, of path: String) throws(Errno) {
        try check { shim_remove_path_attribute(path.cPath, name.cPath) }
    }
}
