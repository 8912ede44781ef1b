/// The ways in which a mount can be asked for.
///
/// Besides `shapeedit mount [NAME] DIR`, mount(8) and fstab call the program as
/// `shapeedit NAME DIR -o options`: that becomes the same command.
enum MountArguments {
    static func normalized(_ arguments: [String]) -> [String] {
        guard arguments.count >= 2, !Containers.reserved.contains(arguments[0]),
            !arguments[0].hasPrefix("-")
        else { return arguments }
        let isMount =
            arguments[1].hasPrefix("/")
            || !arguments[1].hasPrefix("-") && arguments.count > 2 && arguments[2].hasPrefix("-o")
        return isMount ? ["mount"] + arguments : arguments
    }

    /// The same command for the daemon, which stays in the foreground of its own session.
    static func ofDaemon(_ arguments: [String]) -> [String] {
        // Right after the command: behind `--` it would be a place.
        ["mount", "--daemon"] + normalized(arguments).dropFirst()
    }
}
