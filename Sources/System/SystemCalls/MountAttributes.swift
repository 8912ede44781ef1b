internal import Glibc
internal import PathText

/// ShapeEdit's own attributes (`user.shapeedit.*`), which are orders to a mount's daemon. On any other
/// file system they would only be litter on a file, so each call looks first where the file is.
/// Symlinks are followed.
public enum MountAttributes {
    /// Sets the value; throws ENODEV, and writes nothing, if the file is in no mount of ShapeEdit.
    public static func set(_ name: String, _ value: [UInt8], of path: String) throws(Errno) {
        _ = try mount(of: path)
        try PathAttributes.set(name, value, of: path)
    }

    /// Removes the attribute; throws ENODATA if there is none, and ENODEV if the file is in no mount of
    /// ShapeEdit.
    public static func remove(_ name: String, of path: String) throws(Errno) {
        _ = try mount(of: path)
        try PathAttributes.remove(name, of: path)
    }

    /// Whether the file is in a mount of ShapeEdit.
    public static func isMounted(_ path: String) -> Bool {
        (try? mount(of: path)) != nil
    }

    /// The mount of ShapeEdit that the file is in; throws ENODEV if it is in none.
    public static func mount(of path: String) throws(Errno) -> KernelMount {
        var status = stat()
        _ = try check { stat(path.cPath, &status) }
        let number = DeviceNumber(UInt64(status.st_dev))
        // As the kernel names it in its list of mounts.
        let device = "\(number.major):\(number.minor)"
        let mount = KernelMount.all().first { $0.isShapeEdit && $0.device == device }
        guard let mount else { throw Errno(ENODEV) }
        return mount
    }
}
