internal import Glibc
internal import Testing

/// What is left of the time that the whole run may take.
package enum TestTime {
    /// Whether the run is late: $SHAPEEDIT_TEST_LATE, in seconds since 1970, has passed.
    package static var isLate: Bool {
        getenv("SHAPEEDIT_TEST_LATE").flatMap { Int(String(cString: $0)) }.map { time(nil) > $0 }
            ?? false
    }

    /// Ends a test here, saying so, where the run is late and the same was tested on the first data
    /// path before: a slow machine then comes to the end of the tests.
    package static func spare(_ dataPath: DataPath) throws {
        let isOther = [DataPath.noPassthrough, .ordinaryUser].contains(dataPath)
        if isLate, isOther, DataPath.mounts.first == .passthrough,
            Test.current?.isParameterized == true
        {
            try Test.cancel("the run is late: \(dataPath) is left out")
        }
    }
}
