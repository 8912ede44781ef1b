extension CommandLine {
    /// The program's name and its arguments as ``PathText`` makes them. `arguments` has U+FFFD for what
    /// is not UTF-8 in them: no file of that name would be found.
    public static var words: [String] {
        (0..<Int(argc)).compactMap { index in unsafeArgv[index].map { String(cPath: $0) } }
    }
}
