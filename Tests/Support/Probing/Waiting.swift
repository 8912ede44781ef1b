internal import Glibc

/// Looks every 20 ms until something holds, at most `seconds` long. Whether it did, the test has to
/// find out itself.
package func waitUntil(seconds: Double = 60, _ holds: () throws -> Bool) rethrows {
    for _ in 0..<Int(seconds * 50) {
        if try holds() { return }
        usleep(20_000)
    }
}
